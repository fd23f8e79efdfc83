#include "hone/codegen/vector_math.h"

#include "hone/codegen/vector_math_parts.h"

namespace hone::codegen {

using namespace ir;

namespace math {

Expr like(const Expr& x, double value) { return constant(x.type(), value); }
Expr like(const Expr& x, std::int64_t value) { return constant(x.type(), value); }

Expr bits_of(const Expr& x) {
  const DType whole = x.type().bits() == 32 ? kI32 : kI64;
  return make(Call{Intrinsic::Bitcast, {x}}, whole.with_lanes(x.type().lanes));
}

Expr float_of(const Expr& bits) {
  const DType floating = bits.type().bits() == 32 ? kF32 : kF64;
  return make(Call{Intrinsic::Bitcast, {bits}}, floating.with_lanes(bits.type().lanes));
}

Expr bit_and(const Expr& a, std::int64_t mask) { return call(Intrinsic::BitAnd, {a, like(a, mask)}); }
Expr shift_left(const Expr& a, std::int64_t by) { return call(Intrinsic::ShiftLeft, {a, like(a, by)}); }
Expr shift_right(const Expr& a, std::int64_t by) { return call(Intrinsic::ShiftRight, {a, like(a, by)}); }
Expr abs(const Expr& x) { return call(Intrinsic::Abs, {x}); }
Expr sqrt(const Expr& x) { return call(Intrinsic::Sqrt, {x}); }

Expr with_sign_of(const Expr& x, const Expr& sign) {
  const Expr sign_bit = bit_and(bits_of(sign), min_value(kI32));
  return float_of(call(Intrinsic::BitOr, {bits_of(x), sign_bit}));
}

Expr polynomial(const Expr& x, std::initializer_list<double> c) {
  Expr sum = like(x, *(c.end() - 1));
  for (auto coefficient = c.end() - 1; coefficient-- != c.begin();) sum = sum * x + like(x, *coefficient);
  return sum;
}

Expr power_of_two(const Expr& n) { return float_of(shift_left(n + 127, 23)); }

Expr any(const Expr& lanes) { return call(Intrinsic::ReduceMax, {lanes}); }

}  // namespace math

Expr expand_math(Intrinsic function, std::span<const Expr> args, const MathUnits& units) {
  if (function == Intrinsic::ReciprocalEstimate) return math::like(args[0], 1.0) / args[0];
  if (function == Intrinsic::Ldexp) return math::ldexp(args[0], args[1]);
  if (args[0].type().scalar != Scalar::F32)
    return function == Intrinsic::Sigmoid ? math::wide_sigmoid(args[0]) : Expr();
  switch (function) {
    case Intrinsic::Exp:
      return math::exp(args[0], units);
    case Intrinsic::Sigmoid:
      return math::sigmoid(args[0], units);
    case Intrinsic::Exp2:
      return math::exp2(args[0]);
    case Intrinsic::Expm1:
      return math::expm1(args[0]);
    case Intrinsic::Log:
      return math::log(args[0]);
    case Intrinsic::Log2:
      return math::log2(args[0]);
    case Intrinsic::Log10:
      return math::log10(args[0]);
    case Intrinsic::Log1p:
      return math::log1p(args[0]);
    case Intrinsic::Cbrt:
      return math::cbrt(args[0]);
    case Intrinsic::Pow:
      return math::pow(args[0], args[1]);
    case Intrinsic::Sin:
      return math::sin(args[0]);
    case Intrinsic::Cos:
      return math::cos(args[0]);
    case Intrinsic::Tan:
      return math::tan(args[0]);
    case Intrinsic::Asin:
      return math::asin(args[0]);
    case Intrinsic::Acos:
      return math::acos(args[0]);
    case Intrinsic::Atan:
      return math::atan(args[0]);
    case Intrinsic::Atan2:
      return math::atan2(args[0], args[1]);
    case Intrinsic::Sinh:
      return math::sinh(args[0]);
    case Intrinsic::Cosh:
      return math::cosh(args[0]);
    case Intrinsic::Tanh:
      return math::tanh(args[0]);
    case Intrinsic::Asinh:
      return math::asinh(args[0]);
    case Intrinsic::Acosh:
      return math::acosh(args[0]);
    case Intrinsic::Atanh:
      return math::atanh(args[0]);
    case Intrinsic::Erf:
      return math::erf(args[0]);
    default:
      return {};
  }
}

Expr expand_weighted_sigmoid(const Expr& weight, const Expr& x, const MathUnits& units) {
  const bool saves = units.ldexp && units.fast_division && x.type().scalar == Scalar::F32;
  return saves ? math::weighted_sigmoid(weight, x) : Expr();
}

}  // namespace hone::codegen
