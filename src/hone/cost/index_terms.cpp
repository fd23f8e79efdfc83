#include "hone/cost/index_terms.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "hone/ir/rewrite.h"

namespace hone::cost {

namespace {

using ir::Expr;

constexpr std::int64_t kLimit = std::int64_t{1} << 48;  // beyond any tensor, far from overflow

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? kLimit : -kLimit;
  return std::clamp(product, -kLimit, kLimit);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// Each term by itself: the floor of a sum is taken for the sum of floors, which is off by less than one step.
void divide(IndexSum& sum, std::int64_t by) {
  for (IndexTerm& term : sum.terms) {
    const std::int64_t size = std::abs(term.coefficient);
    if (size >= by) {
      term.coefficient /= by;
      continue;
    }
    const std::int64_t steps = (by + size - 1) / size;  // iterations until the quotient moves
    term.divisor = multiply(term.divisor, steps);
    if (term.modulus) term.modulus = (term.modulus + steps - 1) / steps;
    term.coefficient = term.coefficient < 0 ? -1 : 1;
  }
  sum.constant = floor_divide(sum.constant, by);
}

void take_remainder(IndexSum& sum, std::int64_t by) {
  for (IndexTerm& term : sum.terms) {
    const std::int64_t period = by / std::gcd(std::abs(term.coefficient), by);
    term.modulus = term.modulus ? std::min(term.modulus, period) : period;
    term.coefficient %= by;
  }
  std::erase_if(sum.terms, [](const IndexTerm& term) { return term.coefficient == 0 || term.modulus == 1; });
  sum.constant -= floor_divide(sum.constant, by) * by;
}

void add(IndexSum& sum, const IndexTerm& term) {
  if (term.coefficient == 0) return;
  for (auto known = sum.terms.begin(); known != sum.terms.end(); ++known)
    if (known->loop == term.loop && known->divisor == term.divisor && known->modulus == term.modulus) {
      known->coefficient += term.coefficient;
      if (known->coefficient == 0) sum.terms.erase(known);
      return;
    }
  sum.terms.push_back(term);
}

void add(IndexSum& sum, const IndexSum& other, std::int64_t scale) {
  for (IndexTerm term : other.terms) {
    term.coefficient = multiply(term.coefficient, scale);
    add(sum, term);
  }
  sum.constant += multiply(other.constant, scale);
}

}  // namespace

std::int64_t IndexTerm::values(std::int64_t extent) const {
  const std::int64_t count = (extent + divisor - 1) / divisor;
  return modulus ? std::min(count, modulus) : count;
}

void IndexScope::add_loop(const Expr& var, std::int32_t loop) { entries_.push_back({var.id(), loop, {}}); }

void IndexScope::add_sum(const Expr& var, IndexSum sum) { entries_.push_back({var.id(), -1, std::move(sum)}); }

void IndexScope::add_terms(const Expr& index, std::int64_t scale, std::int32_t lane_loop, IndexSum& sum) const {
  const auto below = [&](const Expr& e, std::int64_t factor) { add_terms(e, multiply(scale, factor), lane_loop, sum); };
  if (const auto* value = index.as<ir::IntImm>()) {
    sum.constant += multiply(scale, value->value);
  } else if (index.as<ir::Var>()) {
    const auto entry =
        std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& known) { return known.var == index.id(); });
    if (entry == entries_.rend()) return;  // a symbolic size: the same in every iteration
    if (entry->loop >= 0)
      add(sum, {.loop = entry->loop, .coefficient = scale});
    else
      add(sum, entry->sum, scale);
  } else if (const auto* plus = index.as<ir::Add>()) {
    below(plus->a, 1);
    below(plus->b, 1);
  } else if (const auto* minus = index.as<ir::Sub>()) {
    below(minus->a, 1);
    below(minus->b, -1);
  } else if (const auto* times = index.as<ir::Mul>(); times && (as_int(times->a) || as_int(times->b))) {
    const bool left = as_int(times->a).has_value();
    below(left ? times->b : times->a, *as_int(left ? times->a : times->b));
  } else if (const auto* quotient = index.as<ir::FloorDiv>(); quotient && as_int(quotient->b).value_or(0) > 0) {
    IndexSum inner;
    add_terms(quotient->a, 1, lane_loop, inner);
    divide(inner, *as_int(quotient->b));
    add(sum, inner, scale);
  } else if (const auto* rest = index.as<ir::FloorMod>(); rest && as_int(rest->b).value_or(0) > 0) {
    IndexSum inner;
    add_terms(rest->a, 1, lane_loop, inner);
    take_remainder(inner, *as_int(rest->b));
    add(sum, inner, scale);
  } else if (const auto* ramp = index.as<ir::Ramp>()) {
    below(ramp->base, 1);
    if (lane_loop >= 0) add(sum, {.loop = lane_loop, .coefficient = multiply(scale, as_int(ramp->stride).value_or(1))});
  } else {
    ir::for_each_child(index, [&](const Expr& child) {
      if (!child.as<ir::Buffer>()) below(child, 1);
    });
  }
}

}  // namespace hone::cost
