/// The mapping space: few candidates, whose tile sizes come from the target and fit every shape.
#pragma once

#include <memory>

#include "hone/space/space.h"

namespace hone::space {

/// The candidates of hone's own schedules (default_program.h): for each algorithm of the task a sketch, whose knobs are
/// the register tile, the order in which operands are walked, and how much of the reduction is kept in the cache or
/// written out. Fewer than 200 for each sketch. In every knob the first option, zeros, is what the rules would do, so a
/// candidate found for one shape means something for all others.
std::unique_ptr<Space> make_mapping_space(Task task, codegen::Target target);

}  // namespace hone::space
