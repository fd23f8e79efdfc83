/// Simplification of index arithmetic and conditions.
#pragma once

#include <span>
#include <string_view>

#include "hone/ir/interval.h"
#include "hone/ir/stmt.h"

namespace hone::ir {

/// An expression of the same value, smaller or equal in size, for all variables within `bounds`. Index arithmetic comes
/// out as a sum of products in a canonical order, so equal affine expressions print alike.
Expr simplify(const Expr& e, const Bounds& bounds = {});

/// Simplifies every expression below, using the extents of the loops around; drops branches and loops that never run
/// and loops that run once.
Stmt simplify(const Stmt& s);

/// Whether the condition holds (or fails) for all variables within `bounds`; false means "not known".
bool can_prove(const Expr& condition, const Bounds& bounds);

/// One rewrite: wherever `before` matches, `after` has the same value. `x`, `y`, `z` match any expression, `c0`…`c3`
/// any constant; `when` (if not null) is a condition on the constants.
struct Rule {
  std::string_view name;
  Expr before, after;
  Expr when;
};

/// The rules that simplify applies, for the test that checks each of them at random.
std::span<const Rule> simplify_rules();

}  // namespace hone::ir
