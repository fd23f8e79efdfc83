/// Moves the initialisation of reductions out of their loops.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// Gives each reduction block whose result nothing else touches inside its reduction loops a block of its own for the
/// initialisation, before the innermost of those loops that have no loop over space between them; so no iteration of
/// them asks whether it is the first. Reduction loops further out are asked once per run of the inner ones.
/// Before: any program. After: the same, with fewer blocks that carry `init`.
ir::Function hoist_inits(const ir::Function& function);

}  // namespace hone::codegen
