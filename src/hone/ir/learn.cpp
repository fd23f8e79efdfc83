#include "hone/ir/binary.h"
#include "hone/ir/fold.h"
#include "hone/ir/order.h"
#include "hone/ir/simplifier.h"

namespace hone::ir {

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

bool Simplifier::proves_at_most(const Linear& sum, std::int64_t limit) const {
  if (bounds_of(sum, *bounds_).max <= limit) return true;
  for (const Linear& fact : inequalities_) {
    // A fact is at most zero, so the sum is at most its difference to the fact.
    Linear difference = sum;
    difference.add(fact, -1);
    if (bounds_of(difference, *bounds_).max <= limit) return true;
  }
  return false;
}

}  // namespace hone::ir
