/// Makes both sides of a Select safe to evaluate.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// Inside the sides of a Select, and to the right of And and Or, masks each load by the condition under which it is
/// evaluated, unless its index is known to lie inside the buffer, and divides integers by 1 where the condition does
/// not hold; so code may evaluate both sides and choose afterwards.
/// Before: buffers are flat. After: evaluating any operand of any expression touches no memory out of bounds.
ir::Function mask_loads(const ir::Function& function);

}  // namespace hone::codegen
