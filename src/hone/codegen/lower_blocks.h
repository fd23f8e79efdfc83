/// Turns blocks into plain statements.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// Replaces each block by its body: iteration variables by their bindings, the predicate by a guard, and the
/// initialisation by a statement guarded by "all reduction variables are 0". Guards that always hold are left out.
/// Before: any program. After: no blocks.
ir::Function lower_blocks(const ir::Function& function);

}  // namespace hone::codegen
