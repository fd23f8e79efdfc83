#include "hone/ir/pattern.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "hone/ir/binary.h"
#include "hone/ir/fold.h"
#include "hone/ir/order.h"

namespace hone::ir {

namespace {

/// Whether a value may stand for the variable in a slot.
bool is_allowed(std::size_t slot, const Expr& value) {
  if (slot < 3) return value.type() == kIndex;
  if (slot < 5) return true;
  if (slot == 5) return value.type().is_integer();
  if (slot < kFirstConstant) return value.type().is_bool();
  return value.as<IntImm>() && value.type() == kIndex;
}

/// A number in a pattern stands for itself in any type; a float must have the same bits, so 0 is not -0.
bool is_number(const Expr& e, std::int64_t number) {
  if (const Broadcast* lanes = e.as<Broadcast>()) return is_number(lanes->value, number);
  if (const FloatImm* node = e.as<FloatImm>())
    return std::bit_cast<std::uint64_t>(node->value) == std::bit_cast<std::uint64_t>(static_cast<double>(number));
  return is_int(e, number);
}

bool match_slot(std::size_t slot, const Expr& e, Match& found) {
  if (found.is_bound(slot)) return same(found.expr(slot), e);
  if (!is_allowed(slot, e)) return false;
  found.bind(slot, e);
  return true;
}

bool match_operands(const Expr& pattern, const Expr& e, Match& found) {
  const Operands p = operands_of(pattern), node = operands_of(e);
  if (!is_commutative(pattern.kind())) return match(*p.a, *node.a, found) && match(*p.b, *node.b, found);
  Match swapped = found;
  if (match(*p.a, *node.a, found) && match(*p.b, *node.b, found)) return true;
  found = std::move(swapped);
  return match(*p.a, *node.b, found) && match(*p.b, *node.a, found);
}

bool match_select(const Select& pattern, const Select& node, Match& found) {
  return match(pattern.condition, node.condition, found) && match(pattern.a, node.a, found) &&
         match(pattern.b, node.b, found);
}

/// Splits a sum into `multiple` · divisor + rest, with every term that the divisor divides in the first part.
/// The constant is cut towards zero, or down if `floor`.
struct Split {
  Linear multiple, rest;
};
Split split_by(const Linear& sum, std::int64_t divisor, bool floor) {
  Split parts;
  for (const Term& term : sum.terms) {
    if (term.coefficient == 0) continue;
    const bool is_multiple = term.coefficient % divisor == 0;
    (is_multiple ? parts.multiple : parts.rest)
        .terms.push_back({term.atom, is_multiple ? term.coefficient / divisor : term.coefficient});
  }
  parts.multiple.constant = sum.constant / divisor;
  parts.rest.constant = sum.constant % divisor;
  if (floor && parts.rest.constant < 0) {
    parts.multiple.constant -= 1;
    parts.rest.constant += divisor;
  }
  return parts;
}

/// The candidates for the factor of a group: the modulus, and what it has in common with each coefficient.
std::vector<std::int64_t> group_factors(const Linear& sum, std::int64_t modulus) {
  std::vector<std::int64_t> factors;
  if (modulus == 0 || modulus == Interval::kNoMin) return factors;
  factors.push_back(std::abs(modulus));
  for (const Term& term : sum.terms) {
    if (term.coefficient == 0 || term.coefficient == Interval::kNoMin) continue;
    const std::int64_t factor = std::gcd(term.coefficient, modulus);
    if (factor > 1 && std::find(factors.begin(), factors.end(), factor) == factors.end()) factors.push_back(factor);
  }
  std::sort(factors.begin() + 1, factors.end(), std::greater<>());
  return factors;
}

bool match_groups(const SumPattern& pattern, std::size_t variable, const Linear& sum, std::int64_t modulus,
                  Match& found, FunctionRef<bool(Match&)> accept) {
  for (const std::int64_t factor : group_factors(sum, modulus)) {
    const bool has_group = std::any_of(sum.terms.begin(), sum.terms.end(), [&](const Term& term) {
      return term.coefficient != 0 && term.coefficient % factor == 0;
    });
    if (!has_group && sum.constant / factor == 0) continue;
    for (const bool floor : {false, true}) {
      if (floor && (!has_group || sum.constant % factor >= 0)) continue;  // no better than the split before
      Split parts = split_by(sum, factor, floor);
      found.bind(pattern.coefficient, imm(factor));
      found.bind(variable, std::move(parts.multiple));
      found.bind(pattern.rest, std::move(parts.rest));
      if (accept(found)) return true;
    }
  }
  return false;
}

bool match_single_terms(const SumPattern& pattern, const Linear& sum, const Match& found,
                        FunctionRef<bool(Match&)> accept) {
  for (std::size_t i = 0; i < sum.terms.size(); ++i) {
    if (!may_match(pattern.factor, sum.terms[i].atom)) continue;
    Match attempt = found;
    if (sum.terms[i].coefficient == 0 || !match(pattern.factor, sum.terms[i].atom, attempt)) continue;
    Linear rest = sum;
    rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(i));
    attempt.bind(pattern.coefficient, imm(sum.terms[i].coefficient));
    attempt.bind(pattern.rest, std::move(rest));
    if (accept(attempt)) return true;
  }
  return false;
}

}  // namespace

const PatternVars& pattern_vars() {
  static const PatternVars vars{var("x"),        var("y"),        var("z"),  var("v"),  var("w"),  var("n"),
                                var("p", kBool), var("q", kBool), var("c0"), var("c1"), var("c2"), var("c3")};
  return vars;
}

std::optional<std::size_t> slot_of(const Expr& variable) {
  static const std::array<const void*, kSlots> slots = [] {
    const PatternVars& v = pattern_vars();
    return std::array{v.x.id(), v.y.id(), v.z.id(),  v.v.id(),  v.w.id(),  v.n.id(),
                      v.p.id(), v.q.id(), v.c0.id(), v.c1.id(), v.c2.id(), v.c3.id()};
  }();
  if (variable.kind() != Kind::Var) return std::nullopt;
  for (std::size_t slot = 0; slot < kSlots; ++slot)
    if (slots[slot] == variable.id()) return slot;
  return std::nullopt;
}

bool may_match(const Expr& pattern, const Expr& e) {
  return pattern.kind() == Kind::Var || pattern.kind() == Kind::IntImm || pattern.kind() == e.kind();
}

void Match::bind(std::size_t slot, Linear sum) {
  HONE_CHECK(slot < kSums, "slot {} cannot hold a sum", slot);
  values_[slot] = {};
  sums_[slot] = std::move(sum);
  is_sum_[slot] = true;
}

std::optional<std::int64_t> Match::constant(std::size_t slot) const {
  if (slot < kFirstConstant || !values_[slot]) return std::nullopt;
  return as_int(values_[slot]);
}

const Expr& Match::expr(std::size_t slot) {
  if (!values_[slot]) values_[slot] = to_expr(sums_[slot]);
  return values_[slot];
}

void Match::add_to(Linear& sum, std::size_t slot, std::int64_t scale) const {
  if (is_sum(slot)) {
    sum.add(sums_[slot], scale);
  } else {
    sum.add_sum(values_[slot], scale);
  }
}

bool match(const Expr& pattern, const Expr& e, Match& found) {
  if (const auto slot = slot_of(pattern)) return match_slot(*slot, e, found);
  if (const IntImm* number = pattern.as<IntImm>()) return is_number(e, number->value);
  if (pattern.kind() != e.kind()) return false;
  if (operands_of(pattern)) return match_operands(pattern, e, found);
  if (const Not* negation = pattern.as<Not>()) return match(negation->a, e.get<Not>().a, found);
  if (const Select* choice = pattern.as<Select>()) return match_select(*choice, e.get<Select>(), found);
  return false;
}

std::optional<std::int64_t> constant_in(const Expr& pattern, const Match& found) {
  if (const auto slot = slot_of(pattern)) { return found.constant(*slot); }
  if (const IntImm* number = pattern.as<IntImm>()) return number->value;
  const Operands operands = operands_of(pattern);
  if (!operands) return std::nullopt;
  const auto a = constant_in(*operands.a, found);
  const auto b = a ? constant_in(*operands.b, found) : std::nullopt;
  return b ? fold_ints(pattern.kind(), kIndex, *a, *b) : std::nullopt;
}

std::optional<SumPattern> to_sum_pattern(const Expr& pattern) {
  const Add* sum = pattern.as<Add>();
  const Mul* product = sum ? sum->a.as<Mul>() : nullptr;
  if (!product) return std::nullopt;
  const auto coefficient = slot_of(product->b), rest = slot_of(sum->b);
  if (!coefficient || *coefficient < kFirstConstant || !rest) return std::nullopt;
  return SumPattern{product->a, *coefficient, *rest};
}

bool match_sum(const SumPattern& pattern, const Linear& sum, std::int64_t modulus, Match& found,
               FunctionRef<bool(Match&)> accept) {
  if (const auto variable = slot_of(pattern.factor))
    return match_groups(pattern, *variable, sum, modulus, found, accept);
  return match_single_terms(pattern, sum, found, accept);
}

}  // namespace hone::ir
