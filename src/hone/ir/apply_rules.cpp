#include <array>

#include "hone/ir/binary.h"
#include "hone/ir/fold.h"
#include "hone/ir/order.h"
#include "hone/ir/simplifier.h"

namespace hone::ir {

namespace {

/// The rules whose `before` is of a kind, in the order of the table.
std::span<const Rule* const> rules_of(Kind kind) {
  static const auto by_kind = [] {
    std::array<std::vector<const Rule*>, static_cast<std::size_t>(Kind::Barrier) + 1> lists;
    for (const Rule& rule : simplify_rules()) lists[static_cast<std::size_t>(rule.before.kind())].push_back(&rule);
    return lists;
  }();
  return by_kind[static_cast<std::size_t>(kind)];
}

}  // namespace

Expr Simplifier::apply_rules(Kind kind, const Expr& a, const Expr& b) {
  const DType type = is_comparison(kind) ? kBool.with_lanes(a.type().lanes) : a.type();
  const auto finished = [&](const Rule& rule, Match& found) -> Expr {
    if (rule.when && !proves(rule.when, found)) return {};
    if (rule.after.as<IntImm>()) return constant(type, rule.after.get<IntImm>().value);
    return build(rule.after, found);
  };
  for (const Rule* rule : rules_of(kind)) {
    const Operands pattern = operands_of(rule->before);
    if (is_sum_pattern(*pattern.a) || is_sum_pattern(*pattern.b)) {
      if (!is_index(a)) continue;
      const bool is_left = is_sum_pattern(*pattern.a);
      Expr result = is_left ? apply_sum_rule(*rule, *pattern.a, a, *pattern.b, b)
                            : apply_sum_rule(*rule, *pattern.b, b, *pattern.a, a);
      if (result) return result;
      continue;
    }
    const bool tries_both = is_commutative(kind);
    for (const bool swapped : {false, true}) {
      if (swapped && !tries_both) break;
      Match found;
      if (!match(*pattern.a, swapped ? b : a, found) || !match(*pattern.b, swapped ? a : b, found)) continue;
      if (Expr result = finished(*rule, found); result && result.type() == type) return result;
    }
  }
  return {};
}

Expr Simplifier::apply_rules(const Expr& e) {
  for (const Rule* rule : rules_of(e.kind())) {
    Match found;
    if (!match(rule->before, e, found) || (rule->when && !proves(rule->when, found))) continue;
    Expr result =
        rule->after.as<IntImm>() ? constant(e.type(), rule->after.get<IntImm>().value) : build(rule->after, found);
    if (result.type() == e.type()) return result;
  }
  return {};
}

Expr Simplifier::apply_sum_rule(const Rule& rule, const Expr& sum_pattern, const Expr& sum, const Expr& other_pattern,
                                const Expr& other) {
  const IntImm* modulus = other.as<IntImm>();
  Match found;
  if (!modulus || !match(other_pattern, other, found)) return {};
  Expr result;
  match_sum(sum_pattern, linear_of(sum), modulus->value, found, [&](Match& grouped) {
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
  return proves_at_most(difference, when.kind() == Kind::Lt ? -1 : 0);
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
