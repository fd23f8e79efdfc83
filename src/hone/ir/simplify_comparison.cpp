#include <numeric>

#include "hone/ir/binary.h"
#include "hone/ir/fold.h"
#include "hone/ir/order.h"
#include "hone/ir/simplifier.h"

namespace hone::ir {

namespace {

/// The largest number that divides all coefficients; 1 if there is no safe one.
std::int64_t common_divisor(const Linear& sum) {
  std::int64_t divisor = 0;
  for (const Term& term : sum.terms) {
    if (term.coefficient == Interval::kNoMin) return 1;
    divisor = std::gcd(divisor, term.coefficient);
  }
  return divisor == 0 ? 1 : divisor;
}

/// The terms with positive coefficients on the left, the others, negated, on the right.
struct Sides {
  Linear left, right;
};
Sides to_sides(const Linear& difference) {
  Sides sides;
  for (const Term& term : difference.terms) {
    const bool is_left = term.coefficient > 0;
    (is_left ? sides.left : sides.right)
        .add(term.atom, is_left ? term.coefficient : wrapping_mul(term.coefficient, -1));
  }
  return sides;
}

}  // namespace

Expr Simplifier::improve_comparison(Kind kind, const Expr& a, const Expr& b) {
  Linear difference = linear_of(a);
  difference.add_sum(b, -1);
  difference.drop_zeros();
  if (kind == Kind::Eq || kind == Kind::Ne) return improve_equality(kind, std::move(difference));
  if (kind == Kind::Le) difference.add_constant(-1);
  return improve_order(std::move(difference));
}

/// difference < 0
Expr Simplifier::improve_order(Linear difference) {
  // s * d + k < 0 holds if and only if s + floor(k / d) < 0
  const std::int64_t divisor = common_divisor(difference);
  for (Term& term : difference.terms) term.coefficient /= divisor;
  difference.constant = *fold_ints(Kind::FloorDiv, kIndex, difference.constant, divisor);
  const Interval values = values_of(difference);
  if (values.max < 0) return boolean(true);
  if (values.min >= 0) return boolean(false);

  auto [left, right] = to_sides(difference);
  Kind kind = Kind::Lt;
  if (left.terms.empty()) {
    kind = Kind::Le;
    left.constant = wrapping_add(difference.constant, 1);
  } else if (difference.constant == -1 && !right.terms.empty()) {
    kind = Kind::Le;
  } else {
    right.constant = wrapping_mul(difference.constant, -1);
  }
  const Expr low = to_expr(std::move(left)), high = to_expr(std::move(right));
  Expr better = apply_rules(kind, low, high);
  return better ? better : make_binary(kind, low, high);
}

/// difference == 0, or != 0
Expr Simplifier::improve_equality(Kind kind, Linear difference) {
  const std::int64_t divisor = common_divisor(difference);
  if (difference.constant % divisor != 0) return boolean(kind == Kind::Ne);
  for (Term& term : difference.terms) term.coefficient /= divisor;
  difference.constant /= divisor;
  const Interval values = values_of(difference);
  if (values.max < 0 || values.min > 0) return boolean(kind == Kind::Ne);
  if (values == Interval{0, 0}) return boolean(kind == Kind::Eq);

  auto [left, right] = to_sides(difference);
  std::int64_t constant = difference.constant;
  const bool is_ordered = right.terms.empty() || compare(to_expr(left), to_expr(right)) != Order::After;
  if (left.terms.empty() || !is_ordered) {
    std::swap(left, right);
    constant = wrapping_mul(constant, -1);
  }
  right.constant = wrapping_mul(constant, -1);
  return make_binary(kind, to_expr(std::move(left)), to_expr(std::move(right)));
}

}  // namespace hone::ir
