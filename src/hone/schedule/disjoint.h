/// Whether the iterations of a loop touch different elements.
#pragma once

#include <span>

#include "hone/ir/interval.h"
#include "hone/ir/stmt.h"

namespace hone::schedule {

/// Whether the value of `var` follows from the values of `indices` while the variables `inner` take any value and all
/// others are fixed: then different iterations of the loop over `var` touch different elements. Sees through sums with
/// coefficients and through quotients and remainders that together give back what they divide, as split and fuse leave
/// them. "false" means "not known". `bounds` knows all variables.
bool determines(std::span<const ir::Expr> indices, const ir::Expr& var, std::span<const ir::Expr> inner,
                const ir::Bounds& bounds);

}  // namespace hone::schedule
