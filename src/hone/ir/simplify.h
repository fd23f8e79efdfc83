/// Simplification of index arithmetic and conditions.
#pragma once

#include <span>
#include <string_view>

#include "hone/ir/interval.h"
#include "hone/ir/stmt.h"

namespace hone::ir {

/// An expression of the same value for all variables within `bounds`. Index arithmetic comes out as a sum of products
/// in a canonical order, so equal affine expressions print alike. Arithmetic of other types is touched only where the
/// result keeps every bit: constants fold, and identities hold for wrapping integers and for signed zeros and NaN.
Expr simplify(const Expr& e, const Bounds& bounds = {});

/// Which operands code may evaluate.
enum class Evaluation {
  Lazy,   ///< those that expr.h says: a Select evaluates the side chosen, And and Or what decides
  Eager,  ///< all: nothing that is safe to evaluate at any time becomes safe only under the condition beside it
};

/// Simplifies every expression below, using the extents of loops and blocks and the conditions around; drops branches
/// and loops that never run. Loops that run once stay, because schedule steps name them; blocks stay with all their
/// iteration variables.
Stmt simplify(const Stmt& s, const Bounds& bounds = {}, Evaluation evaluation = Evaluation::Lazy);

/// Replaces the variable of each loop that runs exactly once by 0 and drops the loop, unless it is bound to a GPU
/// index.
Stmt remove_trivial_loops(const Stmt& s);

/// Whether the condition holds for all variables within `bounds` (in every lane); false means "not known".
bool can_prove(const Expr& condition, const Bounds& bounds);

/// One rewrite: wherever `before` matches and `when` (if not null) is proven, `after` has the same value. The variables
/// are those of pattern.h: `x`, `y`, `z` match index expressions, `v`, `w` expressions of any type, `n` integers of any
/// type, `p`, `q` bools, and `c0`…`c3` constants.
struct Rule {
  std::string_view name;
  Expr before, after;
  Expr when = {};
};

/// The rules that simplify applies, for the test that checks each of them at random.
std::span<const Rule> simplify_rules();

}  // namespace hone::ir
