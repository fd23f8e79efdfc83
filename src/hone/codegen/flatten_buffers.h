/// Gives every buffer one axis.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// Replaces each buffer, parameters included, by one of a single axis, and each list of indices by the element's
/// offset. Strides of allocated buffers are padded as their storage alignments say; parameters are dense.
/// Before: no blocks. After: every buffer has rank 1.
ir::Function flatten_buffers(const ir::Function& function);

}  // namespace hone::codegen
