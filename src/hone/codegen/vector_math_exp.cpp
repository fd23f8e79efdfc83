// Exponential functions on f32: x = n ln 2 + r, then a polynomial in r, then a multiplication by 2^n.

#include <cmath>

#include "hone/codegen/vector_math_parts.h"

namespace hone::codegen::math {

using namespace ir;

namespace {

/// x = n ln 2 + r with |r| <= ln 2 / 2; `whole` is n as a float. NaN in gives NaN in r.
struct ReducedExp {
  Expr n, whole, r;
};

ReducedExp reduce_exp(const Expr& x) {
  const Expr shifted = x * like(x, kLog2E) + like(x, kRoundingShift);
  const Expr whole = shifted - like(x, kRoundingShift);
  return {bits_of(shifted) - kRoundingShiftBits, whole, x - whole * like(x, kLn2High) - whole * like(x, kLn2Low)};
}

/// (e^r - 1 - r) / r², relative error of e^r below 4e-9.
Expr exp_tail(const Expr& r) {
  return polynomial(
      r, {0.4999999403953552, 0.16666515171527863, 0.041668448597192764, 0.008369363844394684, 0.0013813470723107457});
}

/// e^r - 1, relative error below 2e-8.
Expr small_expm1(const Expr& r) {
  const Expr tail = polynomial(
      r, {0.4999999701976776, 0.16666539013385773, 0.04166721552610397, 0.008367123082280159, 0.001388265285640955});
  return r + r * r * tail;
}

Expr small_exp(const Expr& r) { return (r + r * r * exp_tail(r)) + like(r, 1.0); }

/// e^r in two operations less, relative error below 1e-7: 0.8 units in the last place.
Expr rough_exp(const Expr& r) {
  return polynomial(
      r, {1.0, 0.9999997063091828, 0.4999914789143008, 0.1666763822814683, 0.04189815301081481, 0.008290259671793018});
}

/// y 2^n for n in -252..254: in two steps, because 2^n itself may not be a normal number.
Expr scale(const Expr& y, const Expr& n) {
  const Expr half = shift_right(n, 1);
  return y * power_of_two(half) * power_of_two(n - half);
}

/// 1 / d for d in 1..2 in a third of the time of a division: each Newton step squares the error. Without an instruction
/// that gives 14 bits a quadratic polynomial begins, which is 1 % off at most.
Expr reciprocal_of_1_to_2(const Expr& d, const MathUnits& units) {
  const auto step = [&](const Expr& y) { return y + y * (like(d, 1.0) - d * y); };
  if (units.reciprocal_estimate) return step(call(Intrinsic::ReciprocalEstimate, {d}));
  return step(step(polynomial(d, {210.0 / 99, -144.0 / 99, 32.0 / 99})));
}

/// x held within [low, high]; NaN stays.
Expr clamp(const Expr& x, double low, double high) { return min(max(x, like(x, low)), like(x, high)); }

/// e^x 2^-k. Beyond the limits the result is 0 or infinity already.
Expr scaled_exp(const Expr& x, std::int64_t k) {
  const ReducedExp reduced = reduce_exp(clamp(x, -105.0, 90.0));
  return scale(small_exp(reduced.r), reduced.n - k);
}

/// e^x - 1 for x in -18..88: 2^n (e^r - 1) + (2^n - 1).
Expr normal_expm1(const Expr& x) {
  const ReducedExp reduced = reduce_exp(x);
  const Expr power = power_of_two(reduced.n);
  return small_expm1(reduced.r) * power + (power - like(x, 1.0));
}

}  // namespace

Expr ldexp(const Expr& a, const Expr& b) {
  if (a.type().scalar != Scalar::F32) return a * call(Intrinsic::Exp2, {call(Intrinsic::Floor, {b})});
  const Expr n = cast(kI32.with_lanes(b.type().lanes), call(Intrinsic::Floor, {clamp(b, -252.0, 254.0)}));
  return scale(a, n);
}

Expr exp(const Expr& x, const MathUnits& units) {
  // What rounds to 0 is not computed: a product that is too small for a normal number takes some 150 cycles on many
  // processors, and what masks hide in a softmax is of this kind.
  const Expr is_zero = x < like(x, -104.0), zero = like(x, 0.0);
  const ReducedExp reduced = reduce_exp(min(select(is_zero, zero, x), like(x, 90.0)));
  const Expr e = small_exp(reduced.r);
  return select(is_zero, zero, units.ldexp ? call(Intrinsic::Ldexp, {e, reduced.whole}) : scale(e, reduced.n));
}

Expr exp2(const Expr& x) {
  const Expr held = clamp(x, -151.0, 129.0);
  const Expr shifted = held + like(x, kRoundingShift);
  const Expr r = (held - (shifted - like(x, kRoundingShift))) * like(x, kLn2);
  return scale(small_exp(r), bits_of(shifted) - kRoundingShiftBits);
}

Expr expm1(const Expr& x) {
  // Half of the result, so that 2^n stays finite; doubled, it is infinite where it should be. Halves of denormals would
  // lose a bit, so the smallest x take two terms of the series.
  const ReducedExp reduced = reduce_exp(clamp(x, -18.0, 88.8));
  const Expr power = power_of_two(reduced.n - 1);
  const Expr half = small_expm1(reduced.r) * power + (power - like(x, 0.5));
  return select(abs(x) < like(x, 1e-4), x + x * x * like(x, 0.5), half + half);
}

Expr tanh(const Expr& x) {
  const Expr t = normal_expm1(min(abs(x) + abs(x), like(x, 20.0)));
  return with_sign_of(t / (t + like(x, 2.0)), x);
}

Expr sigmoid(const Expr& x, const MathUnits& units) {
  // e^-|x| neither overflows nor loses what is left of it below 1. Its exponent n is in -150..0: 2^(n + 64) is a normal
  // number, and what is not is so after the second multiplication alone.
  constexpr std::int64_t kShift = 64;
  const Expr negative = float_of(call(Intrinsic::BitOr, {bits_of(x), like(bits_of(x), min_value(kI32))}));
  const ReducedExp reduced = reduce_exp(max(negative, like(x, -104.0)));
  const Expr y = rough_exp(reduced.r);
  const Expr e = units.ldexp ? call(Intrinsic::Ldexp, {y, reduced.whole})
                             : y * power_of_two(reduced.n + kShift) * like(x, std::ldexp(1.0, -kShift));
  const Expr above = select(x < like(x, 0.0), e, like(x, 1.0)), below = e + like(x, 1.0);
  return units.fast_division ? above / below : above * reciprocal_of_1_to_2(below, units);
}

Expr weighted_sigmoid(const Expr& weight, const Expr& x) {
  // e^-x = 2^t with t = n + r. As a multiply-add, r is taken from a product that was not rounded. Within the limits all
  // is finite; at them the quotient is the weight, or 0.
  const Expr held = clamp(x, -104.0, 104.0), to_base_2 = like(x, -kLog2E), shift = like(x, kRoundingShift);
  const Expr n = call(Intrinsic::Fma, {held, to_base_2, shift}) - shift;
  const Expr r = call(Intrinsic::Fma, {held, to_base_2, like(x, -0.0) - n});
  const Expr power = polynomial(r, {1.0, 0.6931469775872382, 0.24022242085892195, 0.05550733773799894,
                                    0.009671512635286485, 0.001326471433249491});  // relative error below 1e-7
  return weight / (call(Intrinsic::Ldexp, {power, n}) + like(x, 1.0));
}

Expr wide_sigmoid(const Expr& x) {
  const Expr e = call(Intrinsic::Exp, {like(x, 0.0) - call(Intrinsic::Abs, {x})});
  return select(x < like(x, 0.0), e, like(x, 1.0)) / (e + like(x, 1.0));
}

Expr sinh(const Expr& x) {
  const Expr half = scaled_exp(abs(x), 1);
  const Expr large = half - like(x, 0.25) / half;
  const Expr z = x * x;
  const Expr small =
      polynomial(z, {0.1666666716337204, 0.008333349600434303, 0.0001983616384677589, 2.816930873450474e-06});
  return select(abs(x) < like(x, 1.0), x + x * z * small, with_sign_of(large, x));
}

Expr cosh(const Expr& x) {
  const Expr half = scaled_exp(abs(x), 1);
  return half + like(x, 0.25) / half;
}

Expr erf(const Expr& x) {
  // log(1 - erf(|x|)) / |x| for |x| <= 4; above, the result is 1.
  const Expr a = min(abs(x), like(x, 4.0));
  const Expr log_rest = a * polynomial(a, {-1.128379225730896, -0.6366193890571594, -0.10277783125638962,
                                           0.019153064116835594, 0.0001603961136424914, -0.00166702747810632,
                                           0.0006328368908725679, -0.00011764127702917904, 9.25626591197215e-06});
  return with_sign_of(like(x, 0.0) - normal_expm1(log_rest), x);
}

}  // namespace hone::codegen::math
