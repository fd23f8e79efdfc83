/// Moves guards out of loops that do not change them.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// Moves each conjunct of a guard around the whole body of a loop to the outside of the loop if it does not depend on
/// it, and joins neighbouring statements under equal guards.
/// Before: no blocks. After: the same.
ir::Function hoist_guards(const ir::Function& function);

}  // namespace hone::codegen
