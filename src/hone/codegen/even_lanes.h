/// Finding out that the lanes of an index vector are evenly spaced, so that one contiguous access serves them all.
#pragma once

#include "hone/ir/expr.h"
#include "hone/ir/interval.h"

namespace hone::codegen {

/// The index vector as a ramp or broadcast if its lanes are evenly spaced for all variables within `bounds`, as those
/// of `ramp(0, 1, 8) // 4 * 4 + ramp(0, 1, 8) % 4` are; otherwise, and for scalars, the expression itself.
ir::Expr even_lanes(const ir::Expr& index, const ir::Bounds& bounds);

}  // namespace hone::codegen
