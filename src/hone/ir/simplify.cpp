#include "hone/ir/simplify.h"

#include <utility>

#include "hone/ir/binary.h"
#include "hone/ir/fold.h"
#include "hone/ir/order.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplifier.h"

namespace hone::ir {

namespace {

/// The factors of a product, without constants.
void collect_factors(const Expr& e, std::vector<Expr>& factors) {
  if (const Mul* node = e.as<Mul>(); node && is_index(e)) {
    collect_factors(node->a, factors);
    collect_factors(node->b, factors);
  } else {
    factors.push_back(e);
  }
}

/// Splits `e` into coefficient · rest where it is a multiple of one atom.
std::pair<Expr, std::int64_t> split_coefficient(const Expr& e) {
  if (const Mul* node = e.as<Mul>())
    if (const IntImm* number = node->b.as<IntImm>()) return {node->a, number->value};
  return {e, 1};
}

}  // namespace

Expr Simplifier::visit(const Expr& e) {
  Expr result = visit_kind(e);
  if (e.type() == kBool) result = recall(result);
  return !result.is(e) && same(result, e) ? e : result;
}

Expr Simplifier::visit_kind(const Expr& e) {
  switch (e.kind()) {
    case Kind::IntImm:
    case Kind::FloatImm:
    case Kind::Var:
    case Kind::Buffer:
      return e;
    case Kind::Add:
    case Kind::Sub:
    case Kind::Mul:
      if (is_index(e)) {
        Linear sum;
        collect(e, 1, sum);
        return finish(std::move(sum));
      }
      return visit_binary(e);
    case Kind::Not:
      return negation(visit(e.get<Not>().a));
    case Kind::Select:
      return visit_select(e);
    case Kind::Cast:
      return visit_cast(e);
    case Kind::Load:
      return visit_load(e);
    case Kind::Ramp: {
      const Expr base = visit(e.get<Ramp>().base), stride = visit(e.get<Ramp>().stride);
      if (is_int(stride, 0)) return make(Broadcast{base}, e.type().lanes);
      return make(Ramp{base, stride}, e.type().lanes);
    }
    case Kind::Call:
    case Kind::Broadcast:
      return map_children(e, [&](const Expr& child) { return visit(child); });
    default:
      return visit_binary(e);
  }
}

Expr Simplifier::visit_binary(const Expr& e) {
  const Operands operands = operands_of(e);
  const Expr a = visit(*operands.a);
  const bool learns = e.kind() == Kind::And || e.kind() == Kind::Or;
  Expr b;
  if (learns && !a.type().is_vector() && evaluation_ == Evaluation::Lazy) {
    const Mark before = mark();
    learn(a, /*holds=*/e.kind() == Kind::And);
    b = visit(*operands.b);
    forget(before);
  } else {
    b = visit(*operands.b);
    const Broadcast *x = a.as<Broadcast>(), *y = b.as<Broadcast>();
    if (learns && x && y) return make(Broadcast{visit(make_binary(e.kind(), x->value, y->value))}, e.type().lanes);
  }
  Expr better = improve(e.kind(), a, b);
  if (better) return better;
  return a.is(*operands.a) && b.is(*operands.b) ? e : make_binary(e.kind(), a, b);
}

Expr Simplifier::visit_select(const Expr& e) {
  const Select& node = e.get<Select>();
  Expr condition = visit(node.condition);
  if (const Broadcast* uniform = condition.as<Broadcast>()) condition = Expr(uniform->value);
  if (const auto known = int_constant(condition)) return visit(*known ? node.a : node.b);
  if (condition.type().is_vector() || evaluation_ == Evaluation::Eager)
    return choice(condition, visit(node.a), visit(node.b));
  const Mark before = mark();
  learn(condition, /*holds=*/true);
  const Expr a = visit(node.a);
  forget(before);
  learn(condition, /*holds=*/false);
  const Expr b = visit(node.b);
  forget(before);
  return choice(condition, a, b);
}

Expr Simplifier::visit_cast(const Expr& e) {
  const Expr value = visit(e.get<Cast>().value);
  if (value.type() == e.type()) return value;
  if (const Broadcast* lanes = value.as<Broadcast>())
    return make(Broadcast{visit_cast(make(Cast{lanes->value}, e.type().element()))}, e.type().lanes);
  const Expr converted = make(Cast{value}, e.type());
  if (Expr folded = fold_constants(converted)) return folded;
  // There and back again: the narrower type in the middle changes nothing if the value fits.
  const Cast* inner = value.as<Cast>();
  if (inner && inner->value.type() == e.type() && value.type().is_integer() && e.type().is_integer() &&
      value.type().bits() < 64) {
    const Interval values = bounds_of(inner->value, *bounds_);
    if (values.min >= min_value(value.type()) && values.max <= max_value(value.type())) return inner->value;
  }
  return converted;
}

Expr Simplifier::visit_load(const Expr& e) {
  const Expr visited = map_children(e, [&](const Expr& child) { return visit(child); });
  const Load& node = visited.get<Load>();
  if (node.mask && int_constant(node.mask) == 1) {
    Load unmasked{node.buffer, node.indices};
    const bool keeps_lanes = make(unmasked).type() == e.type();
    if (keeps_lanes) return make(std::move(unmasked));
  }
  return visited;
}

void Simplifier::collect(const Expr& e, std::int64_t scale, Linear& sum) {
  switch (e.kind()) {
    case Kind::IntImm:
      sum.add_constant(wrapping_mul(e.get<IntImm>().value, scale));
      return;
    case Kind::Var:
      sum.add(e, scale);
      return;
    case Kind::Add:
      collect(e.get<Add>().a, scale, sum);
      collect(e.get<Add>().b, scale, sum);
      return;
    case Kind::Sub:
      collect(e.get<Sub>().a, scale, sum);
      collect(e.get<Sub>().b, wrapping_mul(scale, -1), sum);
      return;
    case Kind::Mul: {
      const Mul& node = e.get<Mul>();
      if (const IntImm* number = node.b.as<IntImm>()) return collect(node.a, wrapping_mul(scale, number->value), sum);
      if (const IntImm* number = node.a.as<IntImm>()) return collect(node.b, wrapping_mul(scale, number->value), sum);
      return sum.add_sum(product(visit(node.a), visit(node.b)), scale);
    }
    default:
      return sum.add_sum(visit(e), scale);
  }
}

Expr Simplifier::product(const Expr& a, const Expr& b) {
  if (a.as<IntImm>() || b.as<IntImm>()) {
    Linear sum;
    sum.add_sum(a.as<IntImm>() ? b : a, constant_value(a.as<IntImm>() ? a : b));
    return to_expr(std::move(sum));
  }
  const auto [left, left_scale] = split_coefficient(a);
  const auto [right, right_scale] = split_coefficient(b);
  std::vector<Expr> factors;
  collect_factors(left, factors);
  collect_factors(right, factors);
  for (std::size_t i = 1; i < factors.size(); ++i)  // few, and sorted stably
    for (std::size_t j = i; j > 0 && compare(factors[j], factors[j - 1]) == Order::Before; --j)
      std::swap(factors[j], factors[j - 1]);
  Expr result = factors[0];
  for (std::size_t i = 1; i < factors.size(); ++i) result = make(Mul{result, factors[i]});
  const std::int64_t scale = wrapping_mul(left_scale, right_scale);
  if (scale == 0) return imm(0);
  return scale == 1 ? result : make(Mul{result, imm(scale)});
}

Expr Simplifier::finish(Linear sum) {
  while (join_digits(sum)) {}
  return to_expr(std::move(sum));
}

/// Joins neighbouring digits of one number: (x // c) * c + x % c is x, and (x // c) % m * c + x % c is x % (c * m).
bool Simplifier::join_digits(Linear& sum) {
  for (std::size_t low = 0; low < sum.terms.size(); ++low) {
    const FloorMod* rest = sum.terms[low].atom.as<FloorMod>();
    const auto c = rest ? as_int(rest->b) : std::nullopt;
    const std::int64_t scale = sum.terms[low].coefficient;
    std::int64_t high_scale = 0;
    if (!c || *c <= 1 || scale == 0 || __builtin_mul_overflow(scale, *c, &high_scale)) continue;
    for (std::size_t high = 0; high < sum.terms.size(); ++high) {
      if (high == low || sum.terms[high].coefficient != high_scale) continue;
      const Expr& atom = sum.terms[high].atom;
      const FloorMod* digit = atom.as<FloorMod>();
      const auto m = digit ? as_int(digit->b) : std::nullopt;
      std::int64_t modulus = 0;
      if (digit && (!m || *m <= 1 || __builtin_mul_overflow(*c, *m, &modulus))) continue;
      const Expr quotient = binary(Kind::FloorDiv, rest->a, rest->b);
      if (!same(digit ? digit->a : atom, quotient)) continue;
      const Expr joined = digit ? binary(Kind::FloorMod, rest->a, imm(modulus)) : rest->a;
      sum.terms[low].coefficient = sum.terms[high].coefficient = 0;
      sum.drop_zeros();
      sum.add_sum(joined, scale);
      return true;
    }
  }
  return false;
}

Expr Simplifier::binary(Kind kind, const Expr& a, const Expr& b) {
  Expr better = improve(kind, a, b);
  return better ? better : make_binary(kind, a, b);
}

Expr Simplifier::improve(Kind kind, const Expr& a, const Expr& b) {
  if (scalar_constant(a) && scalar_constant(b))
    if (Expr folded = fold_constants(make_binary(kind, a, b))) return folded;
  if (a.type().is_vector())
    if (Expr better = improve_lanes(kind, a, b)) return better;
  if (is_index(a)) {
    if (kind == Kind::Add || kind == Kind::Sub || kind == Kind::Mul) {
      if (kind == Kind::Mul) return product(a, b);
      Linear sum = linear_of(a);
      sum.add_sum(b, kind == Kind::Add ? 1 : -1);
      return finish(std::move(sum));
    }
    if (is_comparison(kind)) return improve_comparison(kind, a, b);
    if (kind == Kind::FloorDiv || kind == Kind::FloorMod)
      if (Expr better = improve_division(kind, a, b)) return better;
    if (is_commutative(kind) && (a.as<IntImm>() || (!b.as<IntImm>() && compare(b, a) == Order::Before)))
      return binary(kind, b, a);
  } else if (is_comparison(kind) && a.type().is_integer()) {
    const Interval truth = bounds_of(make_binary(kind, a, b), *bounds_);
    if (truth.is_single()) return constant(kBool.with_lanes(a.type().lanes), truth.min);
  }
  return apply_rules(kind, a, b);
}

Expr Simplifier::improve_division(Kind kind, const Expr& a, const Expr& b) {
  const Interval quotient = floor_div(bounds_of(a, *bounds_), bounds_of(b, *bounds_));
  if (!quotient.is_single() || !quotient.is_bounded()) return {};
  if (kind == Kind::FloorDiv) return imm(quotient.min);
  Linear rest = linear_of(a);
  if (quotient.min != 0) rest.add_sum(b, wrapping_mul(quotient.min, -1));
  return finish(std::move(rest));
}

Expr Simplifier::negation(const Expr& a) {
  if (const auto value = int_constant(a)) return constant(a.type(), std::int64_t{*value == 0});
  if (const Broadcast* lanes = a.as<Broadcast>()) return make(Broadcast{negation(lanes->value)}, a.type().lanes);
  const Expr e = make(Not{a});
  const Expr better = apply_rules(e);
  return better ? better : e;
}

Expr Simplifier::choice(const Expr& condition, const Expr& a, const Expr& b) {
  const Expr e = make(Select{condition, a, b});
  if (Expr better = apply_rules(e)) return better;
  const Broadcast *x = a.as<Broadcast>(), *y = b.as<Broadcast>();
  if (x && y && !condition.type().is_vector())
    return make(Broadcast{choice(condition, x->value, y->value)}, a.type().lanes);
  return e;
}

Expr simplify(const Expr& e, const Bounds& bounds) { return Simplifier(bounds).visit(e); }

bool can_prove(const Expr& condition, const Bounds& bounds) { return int_constant(simplify(condition, bounds)) == 1; }

}  // namespace hone::ir
