/// Pieces that the expansions of elementary functions are made of. Polynomials are minimax fits (Remez) of our own.
#pragma once

#include <initializer_list>

#include "hone/ir/expr.h"

namespace hone::codegen::math {

using ir::Expr;

// The functions on f32, one expansion each (vector_math_exp.cpp, _log.cpp, _trig.cpp, _pow.cpp).
Expr exp(const Expr& x);
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
/// On any floating type.
Expr sigmoid(const Expr& x);

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
