/// Keeps what a loop accumulates in registers.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// At most this many elements or vectors of one buffer are kept in registers around a loop.
inline constexpr std::size_t kMaxAccumulators = 64;

/// Where a serial loop loads and stores the same elements of a buffer in every iteration, and no other access to the
/// buffer may overlap them: loads them before the loop into a buffer of scope Register with constant indices, uses that
/// inside, and stores them after the loop. Stores directly before the loop (an initialisation) go to the registers.
/// Before: no blocks, flat buffers, explicit vectors, unrolled. After: the same.
ir::Function promote_accumulators(const ir::Function& function);

}  // namespace hone::codegen
