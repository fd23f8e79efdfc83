// Powers and cube roots of f32.

#include "hone/codegen/vector_math_parts.h"

namespace hone::codegen::math {

using namespace ir;

namespace {

constexpr std::int64_t kWideSqrtHalfBits = 0x3fe6a09e667f3bcd;

/// log2 of a non-negative f64 that was an f32, relative error below 2e-10; right at 0, infinity and NaN.
Expr wide_log2(const Expr& x) {
  const Expr offset = bits_of(x) - kWideSqrtHalfBits;
  // The exponent is small: 32-bit conversions are cheaper than 64-bit ones.
  const Expr exponent = cast(kI32.with_lanes(x.type().lanes), shift_right(offset, 52));
  const Expr f = float_of(bit_and(offset, 0xfffffffffffff) + kWideSqrtHalfBits) - like(x, 1.0);
  const Expr p = polynomial(f, {1.4426950409391832, -0.7213475251789142, 0.48089832076545125, -0.3606728061982786,
                                0.28854064753924413, -0.24050392785113464, 0.20609585639186354, -0.17905077667894034,
                                0.15901058099556786, -0.15696571907461787, 0.15479752506293487, -0.08630726622366669});
  const Expr value = f * p + cast(x.type(), exponent);
  const Expr upper = select(x < like(x, kInfinity), value, x);
  return select(eq(x, like(x, 0.0)), like(x, -kInfinity), upper);
}

/// 2^x in f64 for results that f32 can hold, and beyond; NaN stays.
Expr wide_exp2(const Expr& x) {
  const Expr held = min(max(x, like(x, -200.0)), like(x, 200.0));
  const Expr shifted = held + like(x, kWideRoundingShift);
  const Expr r = held - (shifted - like(x, kWideRoundingShift));
  const Expr p = polynomial(r, {1.0000000005520906, 0.6931472056675118, 0.24022646901362407, 0.05550328929183047,
                                0.00961848827493882, 0.0013399869519893992, 0.0001534586897804253});
  const Expr n = bits_of(shifted) - kWideRoundingShiftBits;
  return p * float_of(shift_left(n + 1023, 52));
}

}  // namespace

Expr pow(const Expr& x, const Expr& y) {
  const DType wide = kF64.with_lanes(x.type().lanes);
  const Expr one = like(x, 1.0), zero = like(x, 0.0), a = abs(x);
  const Expr product = cast(wide, y) * wide_log2(cast(wide, a));
  const Expr magnitude = cast(x.type(), wide_exp2(product));
  // 1^y, x^0 and (-1)^±∞ are 1 even where the product is not a number.
  const Expr endless = logical_and(eq(a, one), eq(abs(y), like(y, kInfinity)));
  const Expr is_one = logical_or(logical_or(eq(x, one), eq(y, zero)), endless);
  const Expr value = select(is_one, one, magnitude);

  const auto is_whole = [](const Expr& e) { return eq(call(Intrinsic::Trunc, {e}), e); };
  const Expr is_odd = logical_and(is_whole(y), logical_not(is_whole(y * like(y, 0.5))));
  const Expr signed_value = select(is_odd, with_sign_of(value, x), value);
  const Expr has_no_root = logical_and(logical_and(x < zero, like(x, -kInfinity) < x), logical_not(is_whole(y)));
  return select(has_no_root, like(x, kNan), signed_value);
}

Expr cbrt(const Expr& x) {
  // Away from the ends of the range, where digits or sums would be lost.
  const Expr is_tiny = abs(x) < like(x, 0x1p-100);
  const Expr a = abs(x * select(is_tiny, like(x, 0x1p24), like(x, 0x1p-3)));
  // A third of the exponent is a guess within 6 %; each step (Halley) triples the digits.
  const Expr third = cast(kI32.with_lanes(x.type().lanes), cast(x.type(), bits_of(a)) * like(x, 1.0 / 3));
  Expr root = float_of(third + 0x2a5137a0);
  for (int step = 0; step < 2; ++step) {
    const Expr cube = root * root * root;
    root = root - root * ((cube - a) / (cube + cube + a));
  }
  const Expr scaled = root * select(is_tiny, like(x, 0x1p-8), like(x, 2.0));
  const Expr is_ordinary = logical_and(ne(x, like(x, 0.0)), abs(x) < like(x, kInfinity));
  return select(is_ordinary, with_sign_of(scaled, x), x);
}

}  // namespace hone::codegen::math
