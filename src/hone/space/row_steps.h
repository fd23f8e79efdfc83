/// Steps that the schedules of rows and of attention share.
#pragma once

#include <string>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/schedule/trace.h"

namespace hone::space {

/// The names of the innermost loops around a block, one for each of its variables.
std::vector<std::string> own_loops(const schedule::Program& program, const std::string& block);

/// Lets a reduction over rows, whose loops are the naive ones, make partial results for the lanes of a few vectors, in
/// a block of its own that ends in ".rf". Short rows stay as they are.
Result<void> factor_lanes(schedule::Schedule& schedule, const std::string& block, const codegen::Target& target);

/// Vectorizes the partial results of a reduction that factor_lanes left, and combines lanes in what reduces those.
Result<void> reduce_in_vectors(schedule::Schedule& schedule, const std::string& block);

/// Vectorizes the innermost loop around a block that does not reduce.
Result<void> compute_in_vectors(schedule::Schedule& schedule, const std::string& block, const codegen::Target& target);

}  // namespace hone::space
