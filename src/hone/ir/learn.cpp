#include <algorithm>

#include "hone/ir/binary.h"
#include "hone/ir/fold.h"
#include "hone/ir/order.h"
#include "hone/ir/simplifier.h"

namespace hone::ir {

namespace {

bool have_common_atom(const Linear& a, const Linear& b) {
  return std::any_of(a.terms.begin(), a.terms.end(), [&](const Term& x) {
    return std::any_of(b.terms.begin(), b.terms.end(), [&](const Term& y) { return same(x.atom, y.atom); });
  });
}

}  // namespace

void Simplifier::learn(const Expr& var, Interval values) {
  learnt_bounds_.push_back(std::make_unique<Bounds>(*bounds_));
  learnt_bounds_.back()->add(var, values);
  bounds_ = learnt_bounds_.back().get();
}

void Simplifier::learn(const Expr& condition, bool holds) {
  if (const Not* node = condition.as<Not>()) return learn(node->a, !holds);
  const Operands operands = operands_of(condition);
  const Kind kind = condition.kind();
  if (kind == (holds ? Kind::And : Kind::Or)) {
    learn(*operands.a, holds);
    learn(*operands.b, holds);
    return;
  }
  const bool is_order = kind == Kind::Lt || kind == Kind::Le;
  const bool is_equality = kind == (holds ? Kind::Eq : Kind::Ne);
  if (!(is_order || is_equality) || !is_index(*operands.a)) {
    truths_.push_back(holds ? condition : negation(condition));
    return;
  }
  Linear below = linear_of(*operands.a), above;
  below.add_sum(*operands.b, -1);
  above.add(below, -1);
  // a < b is a - b + 1 <= 0, its opposite b - a <= 0; a <= b is a - b <= 0, its opposite b - a + 1 <= 0.
  if (is_order && holds == (kind == Kind::Lt)) (holds ? below : above).add_constant(1);
  if (is_equality || holds) learn_inequality(std::move(below));
  if (is_equality || !holds) learn_inequality(std::move(above));
}

void Simplifier::learn_inequality(Linear at_most_zero) {
  at_most_zero.drop_zeros();
  if (at_most_zero.terms.size() == 1) {
    const auto& [atom, coefficient] = at_most_zero.terms[0];
    if (atom.as<Var>() && (coefficient == 1 || coefficient == -1)) {
      const std::int64_t limit = wrapping_mul(at_most_zero.constant, -coefficient);
      const Interval known = coefficient > 0 ? Interval{Interval::kNoMin, limit} : Interval{limit, Interval::kNoMax};
      return learn(atom, intersect(known, bounds_->of(atom)));
    }
  }
  inequalities_.push_back(std::move(at_most_zero));
}

void Simplifier::forget(const Mark& mark) {
  inequalities_.resize(mark.inequalities);
  truths_.resize(mark.truths);
  learnt_bounds_.resize(mark.learnt_bounds);
  bounds_ = mark.bounds;
}

Expr Simplifier::recall(const Expr& condition) {
  if (truths_.empty() || int_constant(condition)) return condition;
  const Expr opposite = negation(condition);
  for (const Expr& truth : truths_) {
    if (same(truth, condition)) return constant(condition.type(), std::int64_t{1});
    if (same(truth, opposite)) return constant(condition.type(), std::int64_t{0});
  }
  return condition;
}

Interval Simplifier::values_of(const Linear& sum) const {
  Interval values = bounds_of(sum, *bounds_);
  for (const Linear& fact : inequalities_) {
    if (!have_common_atom(sum, fact)) continue;
    // A fact is at most zero: the sum is at most sum - fact, and at least sum + fact.
    Linear more = sum, less = sum;
    more.add(fact, -1);
    less.add(fact, 1);
    values.max = std::min(values.max, bounds_of(more, *bounds_).max);
    values.min = std::max(values.min, bounds_of(less, *bounds_).min);
  }
  return values;
}

}  // namespace hone::ir
