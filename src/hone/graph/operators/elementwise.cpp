#include "hone/runtime/kernels/elementwise.h"

#include <cmath>

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/pointwise.h"

namespace hone::graph {
namespace {

using ir::Expr;
using ir::Intrinsic;

template <Intrinsic function>
Result<Tensors> intrinsic(const Application& op) {
  return map_first(op, [](const Expr& x) { return ir::call(function, {x}); });
}

Expr sign(const Expr& x) {
  const Expr one = ir::constant(x.type(), std::int64_t{1});
  if (x.type().is_unsigned()) return ir::select(ir::eq(x, 0), x, one);
  // zeros and NaN stay what they are
  return ir::select(x > zero(x), one, ir::select(x < zero(x), -one, x));
}

Expr add(const Expr& a, const Expr& b) { return a + b; }
Expr subtract(const Expr& a, const Expr& b) { return a - b; }
Expr multiply(const Expr& a, const Expr& b) { return a * b; }
Expr negate(const Expr& x) { return -x; }
Expr reciprocal(const Expr& x) { return number(x, 1) / x; }

/// `f(a, b)` for integers, and 0 where b is 0: models must not stop the program.
template <typename F>
Expr unless_zero(const Expr& a, const Expr& b, F f) {
  const Expr is_zero = ir::eq(b, 0);
  const Expr divisor = ir::select(is_zero, ir::constant(b.type(), std::int64_t{1}), b);
  return ir::select(is_zero, zero(a), f(a, divisor));
}

Expr divide(const Expr& a, const Expr& b) {
  if (a.type().is_float()) return a / b;
  return unless_zero(a, b, [](const Expr& x, const Expr& y) { return x / y; });
}

Expr c_remainder(const Expr& a, const Expr& b) {
  const auto fmod = [](const Expr& x, const Expr& y) { return ir::call(Intrinsic::Fmod, {x, y}); };
  return a.type().is_float() ? fmod(a, b) : unless_zero(a, b, fmod);
}

/// The remainder with the sign of the divisor, zeros included. It is exact, unlike a - floor(a / b) * b.
Expr floor_remainder(const Expr& a, const Expr& b) {
  if (!a.type().is_float()) return unless_zero(a, b, [](const Expr& x, const Expr& y) { return ir::floor_mod(x, y); });
  const Expr rest = ir::call(Intrinsic::Fmod, {a, b});
  const Expr signed_zero = ir::select(b < zero(b), number(b, -0.0), zero(b));
  const Expr has_other_sign = ir::ne(rest < zero(b), b < zero(b));
  return ir::select(ir::eq(rest, zero(b)), signed_zero, ir::select(has_other_sign, rest + b, rest));
}

Result<Tensors> define_mod(const Application& op) {
  return op.integer("fmod", 0) != 0 ? binary<c_remainder>(op) : binary<floor_remainder>(op);
}

/// The exponent if it is one known number.
std::optional<double> known_exponent(const Application& op) {
  if (!op.is_known(1) || op.tensor(1).rank() > static_cast<std::size_t>(op.rank(0))) return std::nullopt;
  const auto values = op.reals(1);
  return values && values->size() == 1 ? std::optional((*values)[0]) : std::nullopt;
}

/// The type to compute a power in, where one of the two is a float.
ir::DType power_type(ir::DType base, ir::DType exponent) {
  if (!base.is_float() || exponent == ir::kF64) return ir::kF64;
  return widened(base);
}

/// The power of integers, which wraps. Where the exponent is negative, the inverse without its fraction; 0 has none,
/// and gives 0.
Expr integer_power(const Expr& x, const Expr& y) {
  const auto integer = [](const Expr& like, std::int64_t value) { return ir::constant(like.type(), value); };
  const ir::DType inner = std::max(x.type().bits(), y.type().bits()) <= 32 ? ir::kI32 : ir::kI64;
  const Expr power =
      ir::cast(x.type(), ir::call(Intrinsic::Pow, {ir::cast(inner, x), ir::cast(inner, y)}));  // keeps all bits
  if (!y.type().is_signed()) return power;
  Expr inverse = ir::select(ir::eq(x, integer(x, 1)), x, zero(x));
  if (x.type().is_signed()) {
    const Expr is_odd = ir::eq(ir::floor_mod(y, integer(y, 2)), integer(y, 1));
    inverse = ir::select(ir::eq(x, integer(x, -1)), ir::select(is_odd, x, integer(x, 1)), inverse);
  }
  return ir::select(y < zero(y), inverse, power);
}

Result<Tensors> define_pow(const Application& op) {
  const ir::DType type = op.tensor(0).type();
  const std::optional<double> exponent = known_exponent(op);
  if (exponent == 1.0) return map_first(op, [](const Expr& x) { return x; });
  if (exponent == 2.0) return map_first(op, [](const Expr& x) { return x * x; });
  if (exponent == 3.0) return map_first(op, [](const Expr& x) { return x * x * x; });
  if (exponent == -1.0 && type.is_float()) return unary<reciprocal>(op);
  if (!type.is_float() && !op.tensor(1).type().is_float()) return binary<integer_power>(op);
  if (!type.is_float() && exponent && *exponent == std::trunc(*exponent) && std::fabs(*exponent) < 64)
    return map_first(op, [&](const Expr& x) {
      return integer_power(x, ir::constant(ir::kI32, static_cast<std::int64_t>(*exponent)));
    });
  const ir::DType inner = power_type(type, op.tensor(1).type());
  return zip_first_two(op, [&](const Expr& x, const Expr& y) {
    return ir::cast(type, ir::call(Intrinsic::Pow, {ir::cast(inner, x), ir::cast(inner, y)}));
  });
}

/// All inputs, put together two at a time.
template <auto combine>
Result<Tensors> variadic(const Application& op) {
  Tensors inputs;
  for (std::size_t i = 0; i < op.input_count(); ++i) inputs.push_back(op.tensor(i));
  HONE_TRY(tensor::Tensor result,
           pointwise(op, inputs, [&](const std::vector<Expr>& values) { return combine(values); }));
  return Tensors{std::move(result)};
}

Expr sum_of(const std::vector<Expr>& values) {
  const ir::DType type = values[0].type();
  Expr sum = ir::cast(widened(type), values[0]);
  for (std::size_t i = 1; i < values.size(); ++i) sum = sum + ir::cast(widened(type), values[i]);
  return ir::cast(type, sum);
}

Expr mean_of(const std::vector<Expr>& values) {
  const ir::DType type = values[0].type();
  Expr sum = ir::cast(widened(type), values[0]);
  for (std::size_t i = 1; i < values.size(); ++i) sum = sum + ir::cast(widened(type), values[i]);
  return ir::cast(type, sum / number(sum, static_cast<double>(values.size())));
}

Expr max_of(const std::vector<Expr>& values) {
  Expr result = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) result = ir::max(result, values[i]);
  return result;
}

Expr min_of(const std::vector<Expr>& values) {
  Expr result = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) result = ir::min(result, values[i]);
  return result;
}

template <Intrinsic function>
Expr bitwise(const Expr& a, const Expr& b) {
  return ir::call(function, {a, b});
}

/// Amounts below 0 or beyond the bits of the type shift everything out: what stays is the sign of a right shift.
Result<Tensors> define_bit_shift(const Application& op) {
  const std::string direction = op.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return op.fail("attribute 'direction' is '{}', allowed are LEFT and RIGHT", direction);
  const Intrinsic function = direction == "LEFT" ? Intrinsic::ShiftLeft : Intrinsic::ShiftRight;
  return zip_first_two(op, [&](const Expr& x, const Expr& y) {
    const std::int64_t top = x.type().bits() - 1;
    Expr is_inside = y <= top;
    if (y.type().is_signed()) is_inside = ir::logical_and(y >= 0, is_inside);
    const Expr shifted = ir::call(function, {x, ir::select(is_inside, y, zero(y))});
    const Expr outside =
        direction == "RIGHT" && x.type().is_signed() ? ir::call(function, {x, ir::constant(x.type(), top)}) : zero(x);
    return ir::select(is_inside, shifted, outside);
  });
}

/// Bounds are tensors of one element; before opset 11 they are attributes.
Result<Tensors> define_clip(const Application& op) {
  const bool has_low = op.has(1), has_high = op.has(2);
  if (has_low) HONE_TRY(expect_one_element(op, 1));
  if (has_high) HONE_TRY(expect_one_element(op, 2));
  const bool has_low_attribute = op.attributes().has("min"), has_high_attribute = op.attributes().has("max");
  if ((has_low_attribute || has_high_attribute) && !op.tensor(0).type().is_float())
    return op.fail("attributes 'min' and 'max' bound elements of {}, allowed are floats: give the bounds as inputs",
                   to_string(op.tensor(0).type()));
  return map_first(op, [&](const Expr& x) {
    Expr y = x;
    if (has_low) y = ir::max(y, only_element(op.tensor(1)));
    if (has_low_attribute) y = ir::max(y, number(x, op.real("min", 0)));
    if (has_high) y = ir::min(y, only_element(op.tensor(2)));
    if (has_high_attribute) y = ir::min(y, number(x, op.real("max", 0)));
    return y;
  });
}

Result<Tensors> define_identity(const Application& op) {
  return map_first(op, [](const Expr& x) { return x; });
}

constexpr std::string_view kUnaryFloat = "X: T -> Y: T; ; T: float";
constexpr std::string_view kUnaryNumber = "X: T -> Y: T; ; T: number";
constexpr std::string_view kBinaryNumber = "A: T, B: T -> C: T; axis, broadcast; T: number";
constexpr std::string_view kBinaryInteger = "A: T, B: T -> C: T; ; T: int";
constexpr std::string_view kVariadicNumber = "data_0...: T -> result: T; ; T: number";

}  // namespace

std::span<const Operator> elementwise_operators() {
  static const Operator operators[] = {
      {.name = "Abs", .schema = kUnaryNumber, .define = intrinsic<Intrinsic::Abs>},
      {.name = "Neg", .schema = kUnaryNumber, .define = unary<negate>},
      {.name = "Sign", .schema = kUnaryNumber, .define = unary<sign>},
      {.name = "Exp", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Exp>},
      {.name = "Log", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Log>},
      {.name = "Sqrt", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Sqrt>},
      {.name = "Reciprocal", .schema = kUnaryFloat, .define = unary<reciprocal>},
      {.name = "Sin", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Sin>},
      {.name = "Cos", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Cos>},
      {.name = "Tan", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Tan>},
      {.name = "Asin", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Asin>},
      {.name = "Acos", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Acos>},
      {.name = "Atan", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Atan>},
      {.name = "Sinh", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Sinh>},
      {.name = "Cosh", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Cosh>},
      {.name = "Asinh", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Asinh>},
      {.name = "Acosh", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Acosh>},
      {.name = "Atanh", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Atanh>},
      {.name = "Erf", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Erf>},
      {.name = "Floor", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Floor>},
      {.name = "Ceil", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Ceil>},
      {.name = "Round", .schema = kUnaryFloat, .define = intrinsic<Intrinsic::Round>},
      {.name = "Add", .schema = kBinaryNumber, .define = binary<add>},
      {.name = "Sub", .schema = kBinaryNumber, .define = binary<subtract>},
      {.name = "Mul", .schema = kBinaryNumber, .define = binary<multiply>},
      {.name = "Div", .schema = kBinaryNumber, .define = binary<divide>},
      {.name = "Mod", .schema = "A: T, B: T -> C: T; fmod; T: number", .define = define_mod},
      {.name = "Pow", .schema = "X: T, Y: S -> Z: T; axis, broadcast; T: number, S: number", .define = define_pow},
      {.name = "Sum", .schema = kVariadicNumber, .define = variadic<sum_of>},
      {.name = "Mean", .schema = kVariadicNumber, .define = variadic<mean_of>},
      {.name = "Max", .schema = kVariadicNumber, .define = variadic<max_of>},
      {.name = "Min", .schema = kVariadicNumber, .define = variadic<min_of>},
      {.name = "BitShift", .schema = "X: T, Y: T -> Z: T; direction; T: int", .define = define_bit_shift},
      {.name = "BitwiseAnd", .schema = kBinaryInteger, .define = binary<bitwise<Intrinsic::BitAnd>>},
      {.name = "BitwiseOr", .schema = kBinaryInteger, .define = binary<bitwise<Intrinsic::BitOr>>},
      {.name = "BitwiseXor", .schema = kBinaryInteger, .define = binary<bitwise<Intrinsic::BitXor>>},
      {.name = "BitwiseNot", .schema = "X: T -> Y: T; ; T: int", .define = intrinsic<Intrinsic::BitNot>},
      {.name = "Clip", .schema = "input: T, min?: T, max?: T -> output: T; min, max; T: number", .define = define_clip},
      {.name = "Identity",
       .schema = "input: V -> output: V; ; V: any",
       .define = define_identity,
       .host = runtime::identity_kernel,
       .is_view = true},
  };
  return operators;
}

}  // namespace hone::graph
