#include "hone/codegen/vector_ops.h"

#include <algorithm>

#include "hone/ir/rewrite.h"

namespace hone::codegen {

using namespace ir;

namespace {

/// Base and stride of a scalar (stride 0), broadcast or ramp; a null base for other vectors.
Ramp as_ramp(const Expr& e) {
  if (!e.type().is_vector()) return {e, constant(e.type(), std::int64_t{0})};
  if (const Ramp* ramp = e.as<Ramp>()) return *ramp;
  if (const Broadcast* same = e.as<Broadcast>()) return {same->value, constant(e.type().element(), std::int64_t{0})};
  return {};
}

Expr from_ramp(const Expr& base, const Expr& stride, int lanes) {
  if (is_int(stride, 0)) return make(Broadcast{base}, lanes);
  return make(Ramp{base, stride}, lanes);
}

/// Arithmetic that wraps around, as that of the machine does.
std::int64_t wrapped_sum(std::int64_t a, std::int64_t b, int sign) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  return static_cast<std::int64_t>(sign > 0 ? x + y : x - y);
}
std::int64_t wrapped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// Sums of constants, and sums with zero, are folded: most strides are constants.
Expr sum(const Expr& a, const Expr& b, int sign) {
  const auto x = as_int(a), y = as_int(b);
  if (x && y) return constant(a.type(), wrapped_sum(*x, *y, sign));
  if (y == 0) return a;
  if (x == 0 && sign > 0) return b;
  return sign > 0 ? a + b : a - b;
}

Expr product(const Expr& a, const Expr& b) {
  const auto x = as_int(a), y = as_int(b);
  if (x && y) return constant(a.type(), wrapped_product(*x, *y));
  if (x == 0 || y == 1) return a;
  if (y == 0 || x == 1) return b;
  return a * b;
}

Expr combine(const Expr& a, const Expr& b, int sign) {
  const int lanes = std::max(a.type().lanes, b.type().lanes);
  if (lanes == 1) return sum(a, b, sign);
  const Ramp x = as_ramp(a), y = as_ramp(b);
  if (x.base && y.base) return from_ramp(sum(x.base, y.base, sign), sum(x.stride, y.stride, sign), lanes);
  const Expr wide_a = with_lanes(a, lanes), wide_b = with_lanes(b, lanes);
  return sign > 0 ? wide_a + wide_b : wide_a - wide_b;
}

}  // namespace

Expr with_lanes(const Expr& value, int lanes) {
  if (value.type().lanes == lanes) return value;
  return make(Broadcast{value}, lanes);
}

Expr add(const Expr& a, const Expr& b) { return combine(a, b, 1); }
Expr subtract(const Expr& a, const Expr& b) { return combine(a, b, -1); }

Expr multiply(const Expr& a, const Expr& b) {
  const int lanes = std::max(a.type().lanes, b.type().lanes);
  if (lanes == 1) return product(a, b);
  const Ramp x = as_ramp(a), y = as_ramp(b);
  if (x.base && y.base && is_int(y.stride, 0))
    return from_ramp(product(x.base, y.base), product(x.stride, y.base), lanes);
  if (x.base && y.base && is_int(x.stride, 0))
    return from_ramp(product(x.base, y.base), product(x.base, y.stride), lanes);
  return with_lanes(a, lanes) * with_lanes(b, lanes);
}

Expr lane_of(const Expr& value, int lane) {
  if (!value.type().is_vector()) return value;
  if (const Ramp* ramp = value.as<Ramp>()) return sum(ramp->base, product(ramp->stride, imm(lane)), 1);
  if (const Broadcast* same = value.as<Broadcast>()) return same->value;
  return map_children(value, [&](const Expr& child) { return lane_of(child, lane); });
}

}  // namespace hone::codegen
