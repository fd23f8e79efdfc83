/// Arithmetic on index vectors that keeps ramps ramps, so that contiguous accesses stay visible.
#pragma once

#include "hone/ir/expr.h"

namespace hone::codegen {

/// The value in every lane, or the value itself if it has that many lanes.
ir::Expr with_lanes(const ir::Expr& value, int lanes);

/// Sum, difference and product of index expressions, each a scalar or a vector; scalars count for all lanes. Ramps and
/// scalars combine to ramps wherever the result is one.
ir::Expr add(const ir::Expr& a, const ir::Expr& b);
ir::Expr subtract(const ir::Expr& a, const ir::Expr& b);
ir::Expr multiply(const ir::Expr& a, const ir::Expr& b);

/// The value of one lane of an index expression; scalars have the same value in all lanes.
ir::Expr lane_of(const ir::Expr& value, int lane);

}  // namespace hone::codegen
