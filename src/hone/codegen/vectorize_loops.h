/// Turns vectorized loops into code on explicit vectors.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// Replaces each loop marked Vectorized by vector statements. The loop variable becomes a ramp; guards that differ
/// between lanes become masks of the loads and stores below; loops inside stay loops around vector code. Extents wider
/// than a register of `vector_bits` bits become several vectors, and a rest becomes one masked
/// vector (512 bits) or several of 2^n lanes. What cannot
/// be vectors (an extent that is no constant, stores of all lanes to one element, inner loops whose extent depends on
/// the lane) becomes a serial loop.
/// Before: no blocks, buffers are flat, loads inside Selects are masked. After: no loop is marked Vectorized.
ir::Function vectorize_loops(const ir::Function& function, int vector_bits);

}  // namespace hone::codegen
