// Logarithms on f32: x = 2^e (1 + f) with 1 + f in [√½, √2), then a polynomial in f. Inverse hyperbolic functions
// follow from log1p.

#include "hone/codegen/vector_math_parts.h"

namespace hone::codegen::math {

using namespace ir;

namespace {

constexpr double kLog10E = 0.4342944819032518;
/// log10 2 in two parts; the first has 12 bits, so that its product with an exponent is exact.
constexpr double kLog10Of2High = 0.301025390625, kLog10Of2Low = 4.605039066518657e-06;
constexpr std::int64_t kSqrtHalfBits = 0x3f3504f3;

/// x = 2^exponent (1 + f); x is positive and normal.
struct Split {
  Expr exponent;  ///< i32
  Expr fraction;  ///< 1 + f
};

Split split(const Expr& x) {
  const Expr offset = bits_of(x) - kSqrtHalfBits;
  return {shift_right(offset, 23), float_of(bit_and(offset, 0x7fffff) + kSqrtHalfBits)};
}

/// log(1 + f) - f, relative to log(1 + f) below 1e-9.
Expr log_tail(const Expr& f) {
  const Expr p = polynomial(
      f, {0.3333331346511841, -0.25000008940696716, 0.20002101361751556, -0.1666797399520874, 0.1421988308429718,
          -0.12406225502490997, 0.11886309832334518, -0.11670736968517303, 0.06744660437107086});
  return f * f * (f * p - like(f, 0.5));
}

/// The value for positive finite x, or what the logarithm of another x is.
Expr with_limits(const Expr& x, const Expr& value) {
  const Expr zero = like(x, 0.0);
  const Expr upper = select(x < like(x, kInfinity), value, x);  // infinity and NaN stay
  return select(x < zero, like(x, kNan), select(eq(x, zero), like(x, -kInfinity), upper));
}

/// Exponent (as f32) and f of a positive x, denormals included.
struct ReducedLog {
  Expr e, f;
};

ReducedLog reduce_log(const Expr& x) {
  const Expr is_denormal = x < like(x, 0x1p-126);
  const Split parts = split(select(is_denormal, x * like(x, 0x1p25), x));
  const Expr e = cast(x.type(), parts.exponent) - select(is_denormal, like(x, 25.0), like(x, 0.0));
  return {e, parts.fraction - like(x, 1.0)};
}

}  // namespace

Expr log(const Expr& x) {
  const ReducedLog reduced = reduce_log(x);
  const Expr &e = reduced.e, &f = reduced.f;
  const Expr value = (f + (log_tail(f) + e * like(x, kLn2Low))) + e * like(x, kLn2High);
  return with_limits(x, value);
}

Expr log2(const Expr& x) {
  const ReducedLog reduced = reduce_log(x);
  const Expr y = reduced.f + log_tail(reduced.f);
  return with_limits(x, y * like(x, kLog2E) + reduced.e);
}

Expr log10(const Expr& x) {
  const ReducedLog reduced = reduce_log(x);
  const Expr y = reduced.f + log_tail(reduced.f);
  const Expr low = y * like(x, kLog10E) + reduced.e * like(x, kLog10Of2Low);
  return with_limits(x, low + reduced.e * like(x, kLog10Of2High));
}

Expr log1p(const Expr& x) {
  const Expr one = like(x, 1.0);
  const Expr u = x + one;
  // What the sum lost, exactly; scaled as the fraction is, it belongs to f.
  const Expr lost = select(x < one, x - (u - one), one - (u - x));
  const Split parts = split(u);
  const Expr scale = float_of(shift_left(
      max(like(parts.exponent, std::int64_t{127}) - parts.exponent, like(parts.exponent, std::int64_t{0})), 23));
  const Expr f = (parts.fraction - one) + lost * scale;
  const Expr e = cast(x.type(), parts.exponent);
  const Expr value = (f + (log_tail(f) + e * like(x, kLn2Low))) + e * like(x, kLn2High);
  const Expr upper = select(x < like(x, kInfinity), value, x);
  return select(x < like(x, -1.0), like(x, kNan), select(eq(x, like(x, -1.0)), like(x, -kInfinity), upper));
}

Expr asinh(const Expr& x) {
  const Expr a = abs(x), z = a * a;
  const Expr is_large = a > like(x, 1e9);  // where sqrt(1 + a²) is a
  const Expr grown = a + z / (sqrt(z + like(x, 1.0)) + like(x, 1.0));
  const Expr value = log1p(select(is_large, a, grown)) + select(is_large, like(x, kLn2), like(x, 0.0));
  return with_sign_of(value, x);
}

Expr acosh(const Expr& x) {
  const Expr t = x - like(x, 1.0);
  const Expr is_large = x > like(x, 1e9);
  const Expr grown = t + sqrt((t + like(x, 2.0)) * t);
  const Expr value = log1p(select(is_large, x, grown)) + select(is_large, like(x, kLn2), like(x, 0.0));
  return select(x < like(x, 1.0), like(x, kNan), value);
}

Expr atanh(const Expr& x) {
  const Expr a = abs(x);
  const Expr value = log1p((a + a) / (like(x, 1.0) - a)) * like(x, 0.5);
  return select(a < like(x, 1.0), with_sign_of(value, x),
                select(eq(a, like(x, 1.0)), with_sign_of(like(x, kInfinity), x), like(x, kNan)));
}

}  // namespace hone::codegen::math
