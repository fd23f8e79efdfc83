#include <array>

#include "hone/ir/binary.h"
#include "hone/ir/fold.h"
#include "hone/ir/order.h"
#include "hone/ir/simplifier.h"

namespace hone::ir {

namespace {

/// A rule, with what is asked of its pattern again and again.
struct PreparedRule {
  const Rule* rule;
  Operands pattern;               ///< none for Not and Select
  std::optional<SumPattern> sum;  ///< if one operand of the pattern is a sum
  bool sum_is_left = false;
};

PreparedRule prepare(const Rule& rule) {
  PreparedRule prepared{&rule, operands_of(rule.before), {}};
  if (!prepared.pattern) return prepared;
  prepared.sum = to_sum_pattern(*prepared.pattern.a);
  prepared.sum_is_left = prepared.sum.has_value();
  if (!prepared.sum) prepared.sum = to_sum_pattern(*prepared.pattern.b);
  return prepared;
}

/// The rules whose `before` is of a kind, in the order of the table.
const std::vector<PreparedRule>& rules_of(Kind kind) {
  static const auto by_kind = [] {
    std::array<std::vector<PreparedRule>, static_cast<std::size_t>(Kind::Barrier) + 1> lists;
    for (const Rule& rule : simplify_rules())
      lists[static_cast<std::size_t>(rule.before.kind())].push_back(prepare(rule));
    return lists;
  }();
  return by_kind[static_cast<std::size_t>(kind)];
}

}  // namespace

Expr Simplifier::apply_rules(Kind kind, const Expr& a, const Expr& b) {
  const DType type = is_comparison(kind) ? kBool.with_lanes(a.type().lanes) : a.type();
  std::optional<Linear> sum;  // the operand beside a constant, made when the first rule asks for it
  for (const PreparedRule& prepared : rules_of(kind)) {
    const Rule& rule = *prepared.rule;
    if (prepared.sum) {
      const IntImm* modulus = (prepared.sum_is_left ? b : a).as<IntImm>();
      if (!modulus || !is_index(a)) continue;
      if (!sum) sum = linear_of(prepared.sum_is_left ? a : b);
      if (Expr result = apply_sum_rule(rule, *prepared.sum, *sum, modulus->value)) return result;
      continue;
    }
    if (Expr result = apply_rule(rule, prepared.pattern, a, b, type)) return result;
    if (!is_commutative(kind)) continue;
    if (Expr result = apply_rule(rule, prepared.pattern, b, a, type)) return result;
  }
  return {};
}

Expr Simplifier::apply_rule(const Rule& rule, const Operands& pattern, const Expr& a, const Expr& b, DType type) {
  if (!may_match(*pattern.a, a) || !may_match(*pattern.b, b)) return {};
  Match found;
  if (!match(*pattern.a, a, found) || !match(*pattern.b, b, found)) return {};
  return finish_rule(rule, found, type);
}

Expr Simplifier::apply_rules(const Expr& e) {
  for (const PreparedRule& prepared : rules_of(e.kind())) {
    Match found;
    if (!match(prepared.rule->before, e, found)) continue;
    if (Expr result = finish_rule(*prepared.rule, found, e.type())) return result;
  }
  return {};
}

Expr Simplifier::finish_rule(const Rule& rule, Match& found, DType type) {
  if (rule.when && !proves(rule.when, found)) return {};
  if (const IntImm* number = rule.after.as<IntImm>()) return constant(type, number->value);
  Expr result = build(rule.after, found);
  return result.type() == type ? result : Expr{};
}

Expr Simplifier::apply_sum_rule(const Rule& rule, const SumPattern& pattern, const Linear& sum, std::int64_t modulus) {
  Match found;
  found.bind(*slot_of(pattern_vars().c1), imm(modulus));
  Expr result;
  match_sum(pattern, sum, modulus, found, [&](Match& grouped) {
    if (rule.when && !proves(rule.when, grouped)) return false;
    result = build(rule.after, grouped);
    return true;
  });
  return result;
}

bool Simplifier::proves(const Expr& when, const Match& found) const {
  if (const And* node = when.as<And>()) return proves(node->a, found) && proves(node->b, found);
  if (const Or* node = when.as<Or>()) return proves(node->a, found) || proves(node->b, found);
  if (const auto value = constant_in(when, found)) return *value != 0;

  const Operands operands = operands_of(when);
  Linear difference;
  for (const auto& [side, sign] : {std::pair{operands.a, 1}, std::pair{operands.b, -1}}) {
    if (const auto value = constant_in(*side, found)) {
      difference.add_constant(wrapping_mul(*value, sign));
    } else {
      found.add_to(difference, *slot_of(*side), sign);
    }
  }
  return values_of(difference).max <= (when.kind() == Kind::Lt ? -1 : 0);
}

Expr Simplifier::build(const Expr& pattern, Match& found) {
  if (const auto slot = slot_of(pattern)) return found.expr(*slot);
  if (pattern.as<IntImm>()) return pattern;
  if (const Not* node = pattern.as<Not>()) return negation(build(node->a, found));
  if (const Select* node = pattern.as<Select>())
    return choice(build(node->condition, found), build(node->a, found), build(node->b, found));
  if (const auto value = constant_in(pattern, found)) return imm(*value);
  const Kind kind = pattern.kind();
  if (kind == Kind::Add || kind == Kind::Sub || kind == Kind::Mul) {
    Linear sum;
    build_sum(pattern, 1, found, sum);
    return finish(std::move(sum));
  }
  const Operands operands = operands_of(pattern);
  return binary(kind, build(*operands.a, found), build(*operands.b, found));
}

void Simplifier::build_sum(const Expr& pattern, std::int64_t scale, Match& found, Linear& sum) {
  if (const auto slot = slot_of(pattern)) {
    found.add_to(sum, *slot, scale);
  } else if (const Add* node = pattern.as<Add>()) {
    build_sum(node->a, scale, found, sum);
    build_sum(node->b, scale, found, sum);
  } else if (const Mul* product = pattern.as<Mul>()) {
    build_sum(product->a, wrapping_mul(scale, *constant_in(product->b, found)), found, sum);
  } else {
    sum.add_sum(build(pattern, found), scale);
  }
}

}  // namespace hone::ir
