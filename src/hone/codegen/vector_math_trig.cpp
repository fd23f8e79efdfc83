// Trigonometric functions on f32.
//
// x = q π/2 + r with |r| <= π/4. Below 2^20 the reduction is done in f64 with π/2 in two parts. From there on the
// product with 2/π is taken in integers, modulo 4, with as many of its bits as matter (Payne and Hanek 1983).

#include "hone/codegen/vector_math_parts.h"

namespace hone::codegen::math {

using namespace ir;

namespace {

constexpr double kPi = 3.141592653589793, kHalfPi = kPi / 2, kQuarterPi = kPi / 4;
constexpr double kTwoOverPi = 0.6366197723675814;
/// π/2 in two parts; the first has 33 bits, so that its product with a number below 2^20 is exact.
constexpr double kHalfPiHigh = 0x1.921fb544p+0, kHalfPiLow = 0x1.0b4611a626331p-34;
constexpr double kFastLimit = 0x1p20;
/// 2/π times 2^250, as 32-bit words from the highest on.
constexpr std::int64_t kTwoOverPiWords[] = {0x028be60d, 0xb9391054, 0xa7f09d5f, 0x47d4d377,
                                            0x036d8a56, 0x64f10e41, 0x07f9458e};

struct ReducedAngle {
  Expr q;  ///< i32; only its last two bits count
  Expr r;  ///< f64
};

ReducedAngle reduce_fast(const Expr& x) {
  const Expr wide = cast(kF64.with_lanes(x.type().lanes), x);
  const Expr shifted = wide * like(wide, kTwoOverPi) + like(wide, kWideRoundingShift);
  const Expr whole = shifted - like(wide, kWideRoundingShift);
  const Expr r = (wide - whole * like(wide, kHalfPiHigh)) - whole * like(wide, kHalfPiLow);
  return {cast(kI32.with_lanes(x.type().lanes), bits_of(shifted)), r};
}

/// For |x| >= 2^20.
ReducedAngle reduce_exactly(const Expr& x) {
  const int lanes = x.type().lanes;
  const DType u64 = kU64.with_lanes(lanes);
  const Expr bits = bits_of(abs(x));
  const Expr mantissa =
      cast(u64, call(Intrinsic::BitOr, {bit_and(bits, 0x7fffff), like(bits, std::int64_t{0x800000})}));
  // |x| = mantissa 2^e. Bits of 2/π worth more than 2^(2 - e) add multiples of 4 and are skipped.
  const Expr first = shift_right(bits, 23) - (150 - 4);
  const Expr word = shift_right(first, 5);
  const Expr offset = cast(u64, bit_and(first, 31));
  Expr chosen[4];
  for (std::size_t i = 0; i < 4; ++i) {
    chosen[i] = constant(u64, kTwoOverPiWords[i]);
    for (std::size_t k = 1; k < 4; ++k)
      chosen[i] = select(eq(word, static_cast<std::int64_t>(k)), constant(u64, kTwoOverPiWords[i + k]), chosen[i]);
  }
  Expr window[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const Expr pair = call(Intrinsic::BitOr, {shift_left(chosen[i], 32), chosen[i + 1]});
    window[i] = shift_right(call(Intrinsic::ShiftLeft, {pair, offset}), 32);
  }
  // The product modulo 2^96, of which the first 64 bits are kept: two of the quadrant, then the fraction.
  const Expr low = shift_right(mantissa * window[2], 32);
  const Expr middle = mantissa * window[1] + low;
  const Expr product = shift_left(mantissa * window[0], 32) + middle;
  const Expr quadrant = shift_right(product + (std::int64_t{1} << 61), 62);
  const Expr rest = cast(kI64.with_lanes(lanes), product - shift_left(quadrant, 62));
  const DType f64 = kF64.with_lanes(lanes);
  const Expr r = cast(f64, rest) * constant(f64, kHalfPi * 0x1p-62);
  const Expr q = cast(kI32.with_lanes(lanes), quadrant);
  const Expr is_negative = x < like(x, 0.0);
  return {select(is_negative, like(q, std::int64_t{0}) - q, q), select(is_negative, like(r, 0.0) - r, r)};
}

Expr sin_polynomial(const Expr& r) {
  const Expr z = r * r;
  return r + r * z * polynomial(z, {-0.16666655242443085, 0.008332159370183945, -0.00019515067106112838});
}

Expr cos_polynomial(const Expr& r) {
  const Expr z = r * r;
  const Expr tail = z * z * polynomial(z, {0.04166664555668831, -0.00138873141258955, 2.443290941300802e-05});
  return (like(r, 1.0) - z * like(r, 0.5)) + tail;
}

/// The sine of q π/2 + r.
Expr sin_of(const Expr& q, const Expr& r) {
  const Expr value = select(eq(bit_and(q, 1), 0), sin_polynomial(r), cos_polynomial(r));
  const Expr sign = shift_left(bit_and(q, 2), 30);
  return float_of(call(Intrinsic::BitXor, {bits_of(value), sign}));
}

/// Computes `f(reduced)`; only vectors with a lane of 2^20 and more, or one that is not finite, take the slow way.
template <typename F>
Expr with_reduction(const Expr& x, F f) {
  const Expr is_fast = abs(x) <= like(x, kFastLimit);
  const ReducedAngle fast = reduce_fast(x), exact = reduce_exactly(x);
  const ReducedAngle mixed = {select(is_fast, fast.q, exact.q), select(is_fast, fast.r, exact.r)};
  const Expr careful = select(abs(x) < like(x, kInfinity), f(mixed), like(x, kNan));
  return select(any(logical_not(is_fast)), careful, f(fast));
}

/// atan(a / b) for 0 <= a <= b, b > 0.
Expr atan_ratio(const Expr& a, const Expr& b) {
  // Above tan(π/8) the angle is measured from π/4.
  const Expr is_wide = b * like(a, 0.4142135623730951) < a;
  const Expr t = select(is_wide, a - b, a) / select(is_wide, a + b, b);
  const Expr z = t * t;
  const Expr tail = polynomial(
      z, {-0.33333316445350647, 0.19998468458652496, -0.14243459701538086, 0.10593236237764359, -0.06076686084270477});
  return (t + t * z * tail) + select(is_wide, like(a, kQuarterPi), like(a, 0.0));
}

/// asin(x) for |x| <= 0.5.
Expr small_asin(const Expr& x) {
  const Expr z = x * x;
  return x + x * z *
                 polynomial(z, {0.16666752099990845, 0.07495296001434326, 0.04547058045864105, 0.02417842485010624,
                                0.04216828942298889});
}

}  // namespace

Expr sin(const Expr& x) {
  return with_reduction(x, [&](const ReducedAngle& reduced) { return sin_of(reduced.q, cast(x.type(), reduced.r)); });
}

Expr cos(const Expr& x) {
  return with_reduction(x,
                        [&](const ReducedAngle& reduced) { return sin_of(reduced.q + 1, cast(x.type(), reduced.r)); });
}

Expr tan(const Expr& x) {
  // In f64 throughout: the errors of sine, cosine and division would add up to 4 ulp in f32.
  return with_reduction(x, [&](const ReducedAngle& reduced) {
    const Expr s = sin_polynomial(reduced.r), c = cos_polynomial(reduced.r);
    const Expr is_even = eq(bit_and(reduced.q, 1), 0);
    return cast(x.type(), select(is_even, s, like(s, 0.0) - c) / select(is_even, c, s));
  });
}

Expr asin(const Expr& x) {
  const Expr a = abs(x);
  const Expr rest = small_asin(sqrt((like(x, 1.0) - a) * like(x, 0.5)));
  const Expr large = with_sign_of(like(x, kHalfPi) - (rest + rest), x);
  return select(a < like(x, 0.5), small_asin(x), large);
}

Expr acos(const Expr& x) {
  const Expr a = abs(x);
  const Expr rest = small_asin(sqrt((like(x, 1.0) - a) * like(x, 0.5)));
  const Expr large = select(x < like(x, 0.0), like(x, kPi) - (rest + rest), rest + rest);
  return select(a < like(x, 0.5), like(x, kHalfPi) - small_asin(x), large);
}

Expr atan(const Expr& x) {
  const Expr a = abs(x), one = like(x, 1.0);
  const Expr is_large = one < a;
  // 1/∞ is 0, as it should be.
  const Expr inner = atan_ratio(select(is_large, one / a, a), one);
  return with_sign_of(select(is_large, like(x, kHalfPi) - inner, inner), x);
}

Expr atan2(const Expr& y, const Expr& x) {
  const Expr zero = like(x, 0.0), infinity = like(x, kInfinity);
  const Expr a = abs(y), b = abs(x);
  const Expr low = min(a, b), high = max(a, b);
  // Two infinities count as equal, two zeros as the angle 0; large numbers are halved twice so that sums stay finite.
  const Expr is_endless = eq(high, infinity);
  const Expr factor = select(high > like(x, 0x1p125), like(x, 0.25), like(x, 1.0));
  const Expr num = select(is_endless, select(eq(low, infinity), like(x, 1.0), zero), low * factor);
  const Expr den = select(logical_or(is_endless, eq(high, zero)), like(x, 1.0), high * factor);
  const Expr inner = atan_ratio(num, den);
  const Expr steep = select(b < a, like(x, kHalfPi) - inner, inner);
  const Expr is_left = bits_of(x) < 0;
  return with_sign_of(select(is_left, like(x, kPi) - steep, steep), y);
}

}  // namespace hone::codegen::math
