#include "hone/ir/region.h"

#include <algorithm>

#include "hone/ir/linear.h"
#include "hone/ir/order.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::ir {

namespace {

/// The values of an index while inner variables run: from `low` to `high`, sums over the outer variables, at most
/// `width` apart where a number is known.
struct Span {
  Linear low, high;
  std::optional<std::int64_t> width;
};

/// A non-negative number, or nothing if it is too large to be one.
std::optional<std::int64_t> checked(Interval value) {
  return value.is_bounded() ? std::optional(value.max) : std::nullopt;
}

std::optional<std::int64_t> sum(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? checked(Interval{*a, *a} + Interval{*b, *b}) : std::nullopt;
}

/// Finds the spans of expressions.
class SpanFinder {
 public:
  SpanFinder(const Bounds& inner, const Bounds& outer) : inner_(inner), outer_(outer) {}

  std::optional<Span> find(const Expr& e) const {
    switch (e.kind()) {
      case Kind::IntImm:
        return constants({e.get<IntImm>().value, e.get<IntImm>().value});
      case Kind::Var:
        return inner_.has(e) ? constants(inner_.of(e)) : fixed(e);
      case Kind::Broadcast:
        return find(e.get<Broadcast>().value);
      case Kind::Ramp: {
        const Interval lanes{0, e.type().lanes - 1};
        return add(find(e.get<Ramp>().base), scale(e.get<Ramp>().stride, lanes), 1);
      }
      default:
        break;
    }
    if (e.type().element() != kIndex) return bounded(e);
    if (!uses_inner(e) && !e.type().is_vector()) return fixed(e);
    std::optional<Span> span = find_operation(e);
    return span ? span : bounded(e);
  }

 private:
  std::optional<Span> find_operation(const Expr& e) const {
    switch (e.kind()) {
      case Kind::Add:
        return add(find(e.get<Add>().a), find(e.get<Add>().b), 1);
      case Kind::Sub:
        return add(find(e.get<Sub>().a), find(e.get<Sub>().b), -1);
      case Kind::Mul:
        return multiply(e.get<Mul>());
      case Kind::FloorDiv:
        return divide(find(e.get<FloorDiv>().a), e.get<FloorDiv>().b);
      case Kind::FloorMod:
        return modulo(find(e.get<FloorMod>().a), e.get<FloorMod>().b);
      case Kind::Min:
        return extremum(e.kind(), find(e.get<Min>().a), find(e.get<Min>().b));
      case Kind::Max:
        return extremum(e.kind(), find(e.get<Max>().a), find(e.get<Max>().b));
      case Kind::Select:
        return unite(find(e.get<Select>().a), find(e.get<Select>().b));
      default:
        return std::nullopt;
    }
  }

  bool uses_inner(const Expr& e) const {
    bool found = false;
    walk(e, [&](const Expr& node) { found = found || (node.kind() == Kind::Var && inner_.has(node)); });
    // A load may read something else in each iteration.
    walk(e, [&](const Expr& node) { found = found || node.kind() == Kind::Load; });
    return found;
  }

  static Span fixed(const Expr& e) {
    const Linear value = linear_of(e);
    return {value, value, 0};
  }

  static std::optional<Span> constants(Interval values) {
    if (!values.is_bounded()) return std::nullopt;
    return Span{{{}, values.min},
                {{}, values.max},
                checked(Interval{values.max, values.max} - Interval{values.min, values.min})};
  }

  std::optional<Span> bounded(const Expr& e) const { return constants(bounds_of(e, inner_)); }

  static std::optional<Span> add(const std::optional<Span>& a, const std::optional<Span>& b, std::int64_t sign) {
    if (!a || !b) return std::nullopt;
    Span result{a->low, a->high, sum(a->width, b->width)};
    result.low.add(sign > 0 ? b->low : b->high, sign);
    result.high.add(sign > 0 ? b->high : b->low, sign);
    return result;
  }

  /// factor · [0, count)
  std::optional<Span> scale(const Expr& factor, Interval lanes) const {
    const auto number = as_int(simplify(factor, outer_));
    return number ? constants(Interval{*number, *number} * lanes) : std::nullopt;
  }

  std::optional<Span> multiply(const Mul& node) const {
    auto number = as_int(scalar(node.b));
    const Expr& other = number ? node.a : node.b;
    if (!number) number = as_int(scalar(node.a));
    if (!number) return std::nullopt;
    const auto span = find(other);
    if (!span) return std::nullopt;
    Span result;
    result.low.add(*number >= 0 ? span->low : span->high, *number);
    result.high.add(*number >= 0 ? span->high : span->low, *number);
    if (span->width && *number != Interval::kNoMin)
      result.width = checked(Interval{*span->width, *span->width} * Interval{std::abs(*number), std::abs(*number)});
    return result;
  }

  static Expr scalar(const Expr& e) { return e.as<Broadcast>() ? e.get<Broadcast>().value : e; }

  Linear simplified(const Expr& e) const { return linear_of(simplify(e, outer_)); }

  std::optional<Span> divide(const std::optional<Span>& a, const Expr& divisor) const {
    const auto c = as_int(scalar(divisor));
    if (!a || !c || *c <= 0) return std::nullopt;
    Span result{simplified(floor_div(to_expr(a->low), *c)), simplified(floor_div(to_expr(a->high), *c)), {}};
    if (a->width) result.width = *a->width / *c + (*a->width % *c != 0);
    return result;
  }

  std::optional<Span> modulo(const std::optional<Span>& a, const Expr& divisor) const {
    const auto c = as_int(scalar(divisor));
    if (!c || *c <= 0) return std::nullopt;
    if (a) {
      Linear quotient = simplified(floor_div(to_expr(a->low), *c));
      const Linear last = simplified(floor_div(to_expr(a->high), *c));
      if (same(to_expr(quotient), to_expr(last))) {
        Span result = *a;
        result.low.add(quotient, wrapping_mul(*c, -1));
        result.high.add(quotient, wrapping_mul(*c, -1));
        return result;
      }
    }
    return constants({0, *c - 1});
  }

  std::optional<Span> extremum(Kind kind, const std::optional<Span>& a, const std::optional<Span>& b) const {
    if (!a || !b) return std::nullopt;
    const auto choose = [&](const Linear& x, const Linear& y) {
      return simplified(kind == Kind::Min ? min(to_expr(x), to_expr(y)) : max(to_expr(x), to_expr(y)));
    };
    Span result{choose(a->low, b->low), choose(a->high, b->high), {}};
    if (a->width && b->width) result.width = std::max(*a->width, *b->width);
    return result;
  }

  std::optional<Span> unite(const std::optional<Span>& a, const std::optional<Span>& b) const {
    if (!a || !b) return std::nullopt;
    return Span{
        simplified(min(to_expr(a->low), to_expr(b->low))), simplified(max(to_expr(a->high), to_expr(b->high))), {}};
  }

  const Bounds& inner_;
  const Bounds& outer_;
};

Expr end_of(const Range& range) { return range.min + range.extent; }

}  // namespace

Range range_of(const Expr& index, const Bounds& inner, const Bounds& outer) {
  const auto span = SpanFinder(inner, outer).find(simplify(index, inner));
  if (!span) return {};
  Linear extent = span->high;
  extent.add(span->low, -1);
  extent.add_constant(1);
  Expr size = simplify(to_expr(extent), outer);
  if (const auto number = as_int(size)) {
    if (*number < 0) size = imm(0);  // an inner variable has no value at all
  } else if (span->width) {
    size = imm(*span->width + 1);
  }
  return {simplify(to_expr(span->low), outer), size};
}

Region unite(const Region& a, const Region& b, const Bounds& outer) {
  HONE_CHECK(a.size() == b.size(), "regions of {} and {} axes", a.size(), b.size());
  Region result;
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    const Expr low = simplify(min(a[axis].min, b[axis].min), outer);
    result.push_back({low, simplify(max(end_of(a[axis]), end_of(b[axis])) - low, outer)});
  }
  return result;
}

Region clip(const Region& region, const Expr& buffer, const Bounds& outer) {
  const std::vector<Expr>& shape = buffer.get<Buffer>().shape;
  HONE_CHECK(region.size() == shape.size(), "region of {} axes for buffer '{}' of {}", region.size(), name_of(buffer),
             shape.size());
  Region result;
  for (std::size_t axis = 0; axis < region.size(); ++axis) {
    const Expr low = simplify(max(region[axis].min, imm(0)), outer);
    const Expr end = min(end_of(region[axis]), shape[axis]);
    result.push_back({low, simplify(max(end - low, imm(0)), outer)});
  }
  return result;
}

}  // namespace hone::ir
