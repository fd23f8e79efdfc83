/// Pieces that the expansions of elementary functions are made of. Polynomials are minimax fits (Remez) of our own.
#pragma once

#include <initializer_list>
#include <limits>

#include "hone/codegen/vector_math.h"

namespace hone::codegen::math {

using ir::Expr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLog2E = 1.4426950408889634;
constexpr double kLn2 = 0.6931471805599453;
/// ln 2 in two parts; the first has 12 bits, so that its product with an exponent is exact.
constexpr double kLn2High = 0.693115234375, kLn2Low = 3.194618329871446e-05;
/// Adding 1.5 * 2^23 rounds an f32 to a whole number, which stands in the low bits.
constexpr double kRoundingShift = 12582912.0;
constexpr std::int64_t kRoundingShiftBits = 0x4b400000;
/// Adding 1.5 * 2^52 does so to an f64.
constexpr double kWideRoundingShift = 6755399441055744.0;
constexpr std::int64_t kWideRoundingShiftBits = 0x4338000000000000;

// The functions on f32, one expansion each (vector_math_exp.cpp, _log.cpp, _trig.cpp, _pow.cpp).
Expr exp(const Expr& x, const MathUnits& units);
Expr exp2(const Expr& x);
Expr expm1(const Expr& x);
Expr tanh(const Expr& x);
Expr sinh(const Expr& x);
Expr cosh(const Expr& x);
Expr erf(const Expr& x);
Expr log(const Expr& x);
Expr log2(const Expr& x);
Expr log10(const Expr& x);
Expr log1p(const Expr& x);
Expr asinh(const Expr& x);
Expr acosh(const Expr& x);
Expr atanh(const Expr& x);
Expr sin(const Expr& x);
Expr cos(const Expr& x);
Expr tan(const Expr& x);
Expr asin(const Expr& x);
Expr acos(const Expr& x);
Expr atan(const Expr& x);
Expr atan2(const Expr& y, const Expr& x);
Expr pow(const Expr& x, const Expr& y);
Expr cbrt(const Expr& x);
Expr sigmoid(const Expr& x, const MathUnits& units);
/// weight / (1 + e^-x), for targets with an instruction for Ldexp.
Expr weighted_sigmoid(const Expr& weight, const Expr& x);
/// On other floating types.
Expr wide_sigmoid(const Expr& x);
/// a 2^floor(b), on any floating type.
Expr ldexp(const Expr& a, const Expr& b);

/// A constant of the type of `x`.
Expr like(const Expr& x, double value);
Expr like(const Expr& x, std::int64_t value);
/// The bits of a float as a signed integer of the same width, and back.
Expr bits_of(const Expr& x);
Expr float_of(const Expr& bits);
Expr bit_and(const Expr& a, std::int64_t mask);
Expr shift_left(const Expr& a, std::int64_t by);
Expr shift_right(const Expr& a, std::int64_t by);
Expr abs(const Expr& x);
Expr sqrt(const Expr& x);
/// The magnitude of `x` (not negative) with the sign of `sign`.
Expr with_sign_of(const Expr& x, const Expr& sign);
/// c[0] + c[1] x + c[2] x² + …
Expr polynomial(const Expr& x, std::initializer_list<double> c);
/// 2^n as f32 for an i32 n in -126..127.
Expr power_of_two(const Expr& n);
/// Whether any lane of a vector of bools is true; a Select on this is a branch.
Expr any(const Expr& lanes);

}  // namespace hone::codegen::math
