/// Shrinks allocated buffers to what is alive at a time.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// Moves each allocation inwards to the innermost statement that contains all accesses to the buffer and in which every
/// element is written before it is read, and shrinks the buffer to the box of elements touched there. Buffers that are
/// never accessed vanish. Allocations are not moved into vectorized loops.
/// Before: any program. After: the same, with smaller buffers.
ir::Function compact_buffers(const ir::Function& function);

}  // namespace hone::codegen
