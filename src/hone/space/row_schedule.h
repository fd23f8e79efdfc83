/// The schedule of programs that work row by row: softmax, layer normalisation and their like.
#pragma once

#include "hone/codegen/target.h"
#include "hone/schedule/trace.h"

namespace hone::space {

/// Schedules a program that makes each row of its result from reductions of that row: all of a row is computed while it
/// is in the cache, in vectors along the row, and rows in parallel. An error if the program is of another kind.
Result<schedule::Schedule> schedule_rows(const schedule::Program& naive, const codegen::Target& target);

}  // namespace hone::space
