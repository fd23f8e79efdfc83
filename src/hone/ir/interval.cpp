#include "hone/ir/interval.h"

#include <algorithm>

namespace hone::ir {

namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kNoMin = Interval::kNoMin, kNoMax = Interval::kNoMax;
constexpr Interval kTruth{0, 1};

bool is_infinite(std::int64_t bound) { return bound == kNoMin || bound == kNoMax; }

std::int64_t saturate(Wide value) {
  if (value <= kNoMin) return kNoMin;
  if (value >= kNoMax) return kNoMax;
  return static_cast<std::int64_t>(value);
}

/// Sum of two lower or two upper bounds: a missing bound stays missing.
std::int64_t add_bounds(std::int64_t a, std::int64_t b) {
  if (is_infinite(a)) return a;
  if (is_infinite(b)) return b;
  return saturate(Wide{a} + b);
}

std::int64_t negate(std::int64_t a) {
  if (a == kNoMin) return kNoMax;
  if (a == kNoMax) return kNoMin;
  return -a;
}

std::int64_t multiply_bounds(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (is_infinite(a) || is_infinite(b)) return (a < 0) == (b < 0) ? kNoMax : kNoMin;
  return saturate(Wide{a} * b);
}

/// The bound of a quotient at one corner; dividing by a missing bound gives the limit.
std::int64_t divide(std::int64_t a, std::int64_t b, bool down) {
  const bool negative = (a < 0) != (b < 0) && a != 0;
  if (is_infinite(b)) return negative && down ? -1 : 0;
  if (is_infinite(a)) return negative ? kNoMin : kNoMax;
  const Wide quotient = Wide{a} / b;
  return saturate(down && negative && quotient * b != a ? quotient - 1 : quotient);
}

template <typename Corner>
Interval over_corners(Interval a, Interval b, Corner corner) {
  const std::int64_t values[] = {corner(a.min, b.min), corner(a.min, b.max), corner(a.max, b.min),
                                 corner(a.max, b.max)};
  return {*std::min_element(values, values + 4), *std::max_element(values, values + 4)};
}

constexpr Interval kEmpty{1, 0};

/// A quotient is monotone in both operands while the divisor keeps its sign.
Interval quotient(Interval a, Interval b, bool down) {
  if (a.is_empty() || b.is_empty()) return kEmpty;
  const auto corner = [&](std::int64_t x, std::int64_t y) { return divide(x, y, down); };
  const Interval below = intersect(b, {kNoMin, -1}), above = intersect(b, {1, kNoMax});
  Interval result = kEmpty;
  if (!below.is_empty()) result = over_corners(a, below, corner);
  if (!above.is_empty()) result = unite(result, over_corners(a, above, corner));
  return result.is_empty() ? Interval{} : result;
}

/// The remainder for a divisor that is positive.
Interval positive_mod(Interval a, Interval b) {
  if (a.min >= 0 && a.max < b.min) return a;
  const Interval whole = quotient(a, b, /*down=*/true);
  if (b.is_single() && whole.is_single() && a.is_bounded()) return a - whole * b;
  const std::int64_t largest = add_bounds(b.max, -1);
  return {0, a.min >= 0 ? std::min(a.max, largest) : largest};
}

/// What remains known once a result is wrapped to its type: all or nothing.
Interval fit(DType type, Interval values) {
  if (type.is_bool()) return intersect(values, kTruth);
  if (!type.is_integer()) return {};
  if (type.bits() == 64) {
    if (type.is_signed() || (values.min >= 0 && values.max != kNoMax)) return values;
    return {};
  }
  const Interval all{min_value(type), max_value(type)};
  return values.min >= all.min && values.max <= all.max ? values : all;
}

Interval truth(bool always, bool never) {
  if (always) return {1, 1};
  if (never) return {0, 0};
  return kTruth;
}

Interval bounds_of_cast(const Expr& e, const Bounds& bounds) {
  const Expr& value = e.get<Cast>().value;
  if (value.type().is_float()) return fit(e.type(), {});
  const Interval values = bounds_of(value, bounds);
  if (!e.type().is_bool()) return fit(e.type(), values);
  return truth(!values.contains(0), values == Interval{0, 0});
}

Interval bounds_of_select(const Select& node, const Bounds& bounds) {
  const Interval condition = bounds_of(node.condition, bounds);
  if (condition.min == 1) return bounds_of(node.a, bounds);
  if (condition.max == 0) return bounds_of(node.b, bounds);
  return unite(bounds_of(node.a, bounds), bounds_of(node.b, bounds));
}

Interval bounds_of_comparison(Kind kind, const Expr& left, const Expr& right, const Bounds& bounds) {
  if (left.type().is_float()) return kTruth;
  const Interval a = bounds_of(left, bounds), b = bounds_of(right, bounds);
  // A missing bound decides nothing, not even against another missing one.
  const bool below = a.max < b.min && a.max != kNoMax && b.min != kNoMin;
  const bool above = a.min > b.max && a.min != kNoMin && b.max != kNoMax;
  const bool same = a.is_single() && a == b && a.is_bounded();
  switch (kind) {
    case Kind::Eq:
      return truth(same, below || above);
    case Kind::Ne:
      return truth(below || above, same);
    case Kind::Lt:
      return truth(below, a.min >= b.max && a.min != kNoMin && b.max != kNoMax);
    default:
      return truth(a.max <= b.min && a.max != kNoMax && b.min != kNoMin, above);
  }
}

template <typename Node, typename F>
Interval of_operands(const Expr& e, const Bounds& bounds, F f) {
  const Node& node = e.get<Node>();
  return fit(e.type(), f(bounds_of(node.a, bounds), bounds_of(node.b, bounds)));
}

template <typename Node>
Interval of_comparison(const Expr& e, const Bounds& bounds) {
  return bounds_of_comparison(e.kind(), e.get<Node>().a, e.get<Node>().b, bounds);
}

}  // namespace

Interval operator+(Interval a, Interval b) { return {add_bounds(a.min, b.min), add_bounds(a.max, b.max)}; }
Interval operator-(Interval a, Interval b) {
  return {add_bounds(a.min, negate(b.max)), add_bounds(a.max, negate(b.min))};
}
Interval operator*(Interval a, Interval b) { return over_corners(a, b, multiply_bounds); }
Interval floor_div(Interval a, Interval b) { return quotient(a, b, /*down=*/true); }
Interval truncated_div(Interval a, Interval b) { return quotient(a, b, /*down=*/false); }

Interval floor_mod(Interval a, Interval b) {
  if (a.is_empty() || b.is_empty()) return kEmpty;
  const Interval below = intersect(b, {kNoMin, -1}), above = intersect(b, {1, kNoMax});
  Interval result = kEmpty;
  if (!above.is_empty()) result = positive_mod(a, above);
  if (!below.is_empty()) {
    // a mod -b is -(-a mod b)
    const Interval mirrored = positive_mod({negate(a.max), negate(a.min)}, {negate(below.max), negate(below.min)});
    result = unite(result, {negate(mirrored.max), negate(mirrored.min)});
  }
  return result.is_empty() ? Interval{} : result;
}

Interval min(Interval a, Interval b) { return {std::min(a.min, b.min), std::min(a.max, b.max)}; }
Interval max(Interval a, Interval b) { return {std::max(a.min, b.min), std::max(a.max, b.max)}; }

Interval unite(Interval a, Interval b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

Interval intersect(Interval a, Interval b) { return {std::max(a.min, b.min), std::min(a.max, b.max)}; }

void Bounds::add_extent(const Expr& var, const Expr& extent) {
  add(var, {0, add_bounds(bounds_of(extent, *this).max, -1)});
}

Interval Bounds::of(const Expr& var) const {
  for (auto entry = known_.rbegin(); entry != known_.rend(); ++entry)
    if (entry->first.is(var)) return entry->second;
  return fit(var.type(), {});
}

bool Bounds::has(const Expr& var) const {
  return std::any_of(known_.begin(), known_.end(), [&](const auto& entry) { return entry.first.is(var); });
}

Interval bounds_of(const Expr& e, const Bounds& bounds) {
  switch (e.kind()) {
    case Kind::IntImm: {
      const std::int64_t value = e.get<IntImm>().value;
      return fit(e.type(), {value, value});
    }
    case Kind::Var:
      return bounds.of(e);
    case Kind::Add:
      return of_operands<Add>(e, bounds, [](Interval a, Interval b) { return a + b; });
    case Kind::Sub:
      return of_operands<Sub>(e, bounds, [](Interval a, Interval b) { return a - b; });
    case Kind::Mul:
      return of_operands<Mul>(e, bounds, [](Interval a, Interval b) { return a * b; });
    case Kind::Div:
      return of_operands<Div>(e, bounds, [](Interval a, Interval b) { return truncated_div(a, b); });
    case Kind::FloorDiv:
      return of_operands<FloorDiv>(e, bounds, [](Interval a, Interval b) { return floor_div(a, b); });
    case Kind::FloorMod:
      return of_operands<FloorMod>(e, bounds, [](Interval a, Interval b) { return floor_mod(a, b); });
    case Kind::Min:
      return of_operands<Min>(e, bounds, [](Interval a, Interval b) { return min(a, b); });
    case Kind::Max:
      return of_operands<Max>(e, bounds, [](Interval a, Interval b) { return max(a, b); });
    case Kind::Eq:
      return of_comparison<Eq>(e, bounds);
    case Kind::Ne:
      return of_comparison<Ne>(e, bounds);
    case Kind::Lt:
      return of_comparison<Lt>(e, bounds);
    case Kind::Le:
      return of_comparison<Le>(e, bounds);
    case Kind::And:
      return of_operands<And>(e, bounds, [](Interval a, Interval b) { return min(a, b); });
    case Kind::Or:
      return of_operands<Or>(e, bounds, [](Interval a, Interval b) { return max(a, b); });
    case Kind::Not:
      return Interval{1, 1} - bounds_of(e.get<Not>().a, bounds);
    case Kind::Select:
      return bounds_of_select(e.get<Select>(), bounds);
    case Kind::Cast:
      return bounds_of_cast(e, bounds);
    case Kind::Ramp: {
      const Interval lanes{0, e.type().lanes - 1};
      return fit(e.type(), bounds_of(e.get<Ramp>().base, bounds) + bounds_of(e.get<Ramp>().stride, bounds) * lanes);
    }
    case Kind::Broadcast:
      return bounds_of(e.get<Broadcast>().value, bounds);
    case Kind::Load:
    case Kind::Call:
      return fit(e.type(), {});
    default:
      return {};
  }
}

}  // namespace hone::ir
