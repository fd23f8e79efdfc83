#include <numbers>

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/pointwise.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {
namespace {

using ir::Expr;
using ir::Intrinsic;

Expr exp(const Expr& x) { return ir::call(Intrinsic::Exp, {x}); }

/// log(1 + exp(x)), which neither overflows nor loses small results.
Expr softplus(const Expr& x) {
  const Expr tail = ir::call(Intrinsic::Log1p, {exp(-ir::call(Intrinsic::Abs, {x}))});
  return ir::max(x, zero(x)) + tail;
}

Expr mish(const Expr& x) { return x * ir::call(Intrinsic::Tanh, {softplus(x)}); }
Expr softsign(const Expr& x) { return x / (number(x, 1) + ir::call(Intrinsic::Abs, {x})); }
Expr sigmoid(const Expr& x) { return ir::call(Intrinsic::Sigmoid, {x}); }
Expr tanh(const Expr& x) { return ir::call(Intrinsic::Tanh, {x}); }

Expr hard_sigmoid(const Expr& x, double alpha, double beta) {
  return ir::max(zero(x), ir::min(number(x, 1), number(x, alpha) * x + number(x, beta)));
}

Expr hard_swish(const Expr& x) { return x * hard_sigmoid(x, 1.0 / 6, 0.5); }

template <auto f>
Result<Tensors> unary_widened(const Application& op) {
  return map_first_widened(op, f);
}

Result<Tensors> define_relu(const Application& op) {
  return map_first(op, [](const Expr& x) { return ir::max(x, zero(x)); });
}

Result<Tensors> define_leaky_relu(const Application& op) {
  const double alpha = op.real("alpha", 0.01f);
  return map_first_widened(op, [&](const Expr& x) { return ir::select(x < zero(x), number(x, alpha) * x, x); });
}

/// Before opset 7 a slope of one axis has an element for each channel.
Result<Tensors> define_prelu(const Application& op) {
  const bool is_per_channel = op.opset() < 7 && op.rank(1) == 1 && op.rank(0) > 1 && op.shape(1)[0] == op.shape(0)[1];
  if (is_per_channel) {
    const tensor::Tensor &x = op.tensor(0), &slope = op.tensor(1);
    return Tensors{tensor::compute(op.op(), tensor::axes_of(x.shape()), [&](const tensor::Indices& i) {
      return ir::select(x(i) < zero(x(i)), slope(i[1]) * x(i), x(i));
    })};
  }
  HONE_TRY(Tensors result,
           zip_first_two(op, [](const Expr& x, const Expr& slope) { return ir::select(x < zero(x), slope * x, x); }));
  if (result[0].shape() != op.shape(0))
    return op.fail("the slope has shape {}, which does not broadcast to {}", tensor::show_shape(op.shape(1)),
                   tensor::show_shape(op.shape(0)));
  return result;
}

Result<Tensors> define_elu(const Application& op) {
  const double alpha = op.real("alpha", 1);
  return map_first_widened(op, [&](const Expr& x) {
    return ir::select(x < zero(x), number(x, alpha) * ir::call(Intrinsic::Expm1, {x}), x);
  });
}

Result<Tensors> define_selu(const Application& op) {
  const double alpha = op.real("alpha", 1.67326319217681884765625), gamma = op.real("gamma", 1.05070102214813232421875);
  return map_first_widened(op, [&](const Expr& x) {
    const Expr low = number(x, alpha) * ir::call(Intrinsic::Expm1, {x});
    return number(x, gamma) * ir::select(x > zero(x), x, low);
  });
}

Result<Tensors> define_celu(const Application& op) {
  const double alpha = op.real("alpha", 1);
  return map_first_widened(op, [&](const Expr& x) {
    const Expr low = number(x, alpha) * ir::call(Intrinsic::Expm1, {x / number(x, alpha)});
    return ir::max(zero(x), x) + ir::min(zero(x), low);
  });
}

Result<Tensors> define_gelu(const Application& op) {
  const std::string approximate = op.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return op.fail("attribute 'approximate' is '{}', allowed are none and tanh", approximate);
  if (approximate == "none") return map_first_widened(op, [](const Expr& x) { return gelu(x); });
  return map_first_widened(op, [](const Expr& x) { return gelu_by_tanh(x); });
}

Result<Tensors> define_hard_sigmoid(const Application& op) {
  const double alpha = op.real("alpha", 0.2f), beta = op.real("beta", 0.5);
  return map_first_widened(op, [&](const Expr& x) { return hard_sigmoid(x, alpha, beta); });
}

Result<Tensors> define_thresholded_relu(const Application& op) {
  const double alpha = op.real("alpha", 1);
  return map_first_widened(op, [&](const Expr& x) { return ir::select(x > number(x, alpha), x, zero(x)); });
}

Result<Tensors> define_swish(const Application& op) {
  const double alpha = op.real("alpha", 1);
  return map_first_widened(op, [&](const Expr& x) { return swish(x, alpha); });
}

Result<Tensors> define_swiglu(const Application& op) {
  if (op.shape(0) != op.shape(1))
    return op.fail("shapes {} and {}, they must be equal", tensor::show_shape(op.shape(0)),
                   tensor::show_shape(op.shape(1)));
  const double alpha = op.real("alpha", 1);
  return zip_first_two(op, [&](const Expr& gate, const Expr& linear) {
    const ir::DType inner = widened(gate.type());
    return ir::cast(gate.type(), swish(ir::cast(inner, gate), alpha) * ir::cast(inner, linear));
  });
}

/// Integers are shrunk as f64, and what comes out is cut.
Result<Tensors> define_shrink(const Application& op) {
  const double bias = op.real("bias", 0), lambd = op.real("lambd", 0.5);
  return map_first(op, [&](const Expr& element) {
    const ir::DType type = element.type();
    const Expr x = ir::cast(type.is_float() ? widened(type) : ir::kF64, element);
    const Expr high = ir::select(x > number(x, lambd), x - number(x, bias), zero(x));
    return ir::cast(type, ir::select(x < number(x, -lambd), x + number(x, bias), high));
  });
}

constexpr std::string_view kUnary = "X: T -> Y: T; ; T: float";
constexpr std::string_view kWithAlpha = "X: T -> Y: T; alpha; T: float";

}  // namespace

Expr gelu(const Expr& x) {
  const Expr half = number(x, 0.5) * x;
  return half * (number(x, 1) + ir::call(Intrinsic::Erf, {x * number(x, std::numbers::sqrt2 / 2)}));
}

Expr gelu_by_tanh(const Expr& x) {
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // sqrt(2 / pi)
  const Expr inner = number(x, scale) * (x + number(x, 0.044715) * x * x * x);
  return number(x, 0.5) * x * (number(x, 1) + ir::call(Intrinsic::Tanh, {inner}));
}

Expr swish(const Expr& x, double alpha) {
  return x * ir::call(Intrinsic::Sigmoid, {alpha == 1 ? x : number(x, alpha) * x});
}

std::span<const Operator> activation_operators() {
  static const Operator operators[] = {
      {.name = "Relu", .schema = "X: T -> Y: T; ; T: number", .define = define_relu},
      {.name = "LeakyRelu", .schema = kWithAlpha, .define = define_leaky_relu},
      {.name = "PRelu", .schema = "X: T, slope: T -> Y: T; ; T: number", .define = define_prelu},
      {.name = "Elu", .schema = kWithAlpha, .define = define_elu},
      {.name = "Selu", .schema = "X: T -> Y: T; alpha, gamma; T: float", .define = define_selu},
      {.name = "Celu", .schema = kWithAlpha, .define = define_celu},
      {.name = "Gelu", .schema = "X: T -> Y: T; approximate; T: float", .define = define_gelu},
      {.name = "HardSigmoid", .schema = "X: T -> Y: T; alpha, beta; T: float", .define = define_hard_sigmoid},
      {.name = "HardSwish", .schema = kUnary, .define = unary_widened<hard_swish>},
      {.name = "Mish", .schema = kUnary, .define = unary_widened<mish>},
      {.name = "Softplus", .schema = kUnary, .define = unary_widened<softplus>},
      {.name = "Softsign", .schema = kUnary, .define = unary_widened<softsign>},
      {.name = "Sigmoid", .schema = kUnary, .define = unary_widened<sigmoid>},
      {.name = "Tanh", .schema = kUnary, .define = unary_widened<tanh>},
      {.name = "ThresholdedRelu", .schema = kWithAlpha, .define = define_thresholded_relu},
      {.name = "Swish", .schema = kWithAlpha, .define = define_swish},
      {.name = "SwiGLU", .schema = "A: T, B: T -> Y: T; alpha; T: float", .define = define_swiglu},
      {.name = "Shrink", .schema = "X: T -> Y: T; bias, lambd; T: number", .define = define_shrink},
  };
  return operators;
}

}  // namespace hone::graph
