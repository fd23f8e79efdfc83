/// Moves the initialisation of reductions out of their loops.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// Gives each reduction block whose result nothing else touches inside its reduction loops a block of its own for the
/// initialisation, directly before the outermost of those loops; so no iteration asks whether it is the first.
/// Before: any program. After: the same, with fewer blocks that carry `init`.
ir::Function hoist_inits(const ir::Function& function);

}  // namespace hone::codegen
