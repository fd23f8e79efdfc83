/// Replaces loops by copies of their bodies.
#pragma once

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// How many statements the copies of one loop nest may amount to.
inline constexpr std::int64_t kMaxUnrolledStatements = 1 << 14;

/// Replaces each loop marked Unrolled by copies of its body, and, inside a loop that carries the annotation `unroll`
/// with a number N, each innermost serial loop of constant extent as long as its copies count at most N statements.
/// Before: extents of loops marked Unrolled are constants (else an error). After: no loop is marked Unrolled.
Result<ir::Function> unroll_loops(const ir::Function& function);

}  // namespace hone::codegen
