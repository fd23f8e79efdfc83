#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/microsoft.h"
#include "hone/graph/operators/pointwise.h"
#include "hone/graph/operators/quantize.h"

namespace hone::graph {
namespace {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

Result<Tensors> define_microsoft_gelu(const Application& op) {
  return map_first_widened(op, [](const Expr& x) { return gelu(x); });
}

Result<Tensors> define_quick_gelu(const Application& op) {
  const double alpha = op.real("alpha", 1.702f);
  return map_first_widened(op, [&](const Expr& x) { return swish(x, alpha); });
}

/// `f` of the sum of the first input and the bias, if there is one.
Result<Tensors> with_bias(const Application& op, FunctionRef<Expr(const Expr&)> f) {
  if (!op.has(1)) return map_first_widened(op, f);
  return zip_first_two(op, [&](const Expr& x, const Expr& bias) {
    const ir::DType inner = widened(x.type());
    return ir::cast(x.type(), f(ir::cast(inner, x) + ir::cast(inner, bias)));
  });
}

Result<Tensors> define_bias_gelu(const Application& op) {
  return with_bias(op, [](const Expr& x) { return gelu(x); });
}

Result<Tensors> define_fast_gelu(const Application& op) {
  return with_bias(op, [](const Expr& x) { return gelu_by_tanh(x); });
}

/// A quantised input: the inputs `first` (data), `first + 1` (scale) and `first + 2` (zero point, possibly absent).
struct Quantized {
  const Application& op;
  std::size_t first;

  static Result<Quantized> of(const Application& op, std::size_t first) {
    HONE_TRY(expect_one_element(op, first + 1));
    if (op.has(first + 2)) HONE_TRY(expect_one_element(op, first + 2));
    return Quantized{op, first};
  }
  Expr scale() const { return only_element(op.tensor(first + 1)); }
  Expr zero_point() const { return op.has(first + 2) ? only_element(op.tensor(first + 2)) : Expr(); }
  /// An element minus the zero point, as i32.
  Expr difference(const Expr& x) const {
    const Expr value = ir::cast(ir::kI32, x), zero = zero_point();
    return zero ? value - ir::cast(ir::kI32, zero) : value;
  }
  /// The number that an element of the data stands for.
  Expr real(const Expr& x) const { return dequantized(x, zero_point(), op.type(first), scale()); }
};

/// The scale and the zero point (possibly absent) of a result: the inputs `scale` and `scale + 1`.
struct Quantizer {
  const Application& op;
  std::size_t scale;
  ElementType type;

  static Result<Quantizer> of(const Application& op, std::size_t scale, ElementType type) {
    HONE_TRY(expect_one_element(op, scale));
    if (op.has(scale + 1)) HONE_TRY(expect_one_element(op, scale + 1));
    return Quantizer{op, scale, type};
  }
  /// The element for a number that is divided by the scale already.
  Expr of_scaled(const Expr& x) const {
    return quantized(x, op.has(scale + 1) ? only_element(op.tensor(scale + 1)) : Expr(), type);
  }
  Expr of(const Expr& x) const { return of_scaled(x / only_element(op.tensor(scale))); }
};

Result<Tensors> define_qlinear_add(const Application& op) {
  HONE_TRY(const Quantized a, Quantized::of(op, 0));
  HONE_TRY(const Quantized b, Quantized::of(op, 3));
  HONE_TRY(const Quantizer result, Quantizer::of(op, 6, op.type(0)));
  HONE_TRY(Tensor sum, pointwise(op, {op.tensor(0), op.tensor(3)}, [&](const std::vector<Expr>& values) {
             return result.of(a.real(values[0]) + b.real(values[1]));
           }));
  return Tensors{std::move(sum)};
}

/// The product of the integers is exact, and scaled once.
Result<Tensors> define_qlinear_mul(const Application& op) {
  HONE_TRY(const Quantized a, Quantized::of(op, 0));
  HONE_TRY(const Quantized b, Quantized::of(op, 3));
  HONE_TRY(const Quantizer result, Quantizer::of(op, 6, op.type(0)));
  HONE_TRY(Tensor product, pointwise(op, {op.tensor(0), op.tensor(3)}, [&](const std::vector<Expr>& values) {
             const Expr factor = a.scale() * b.scale() / only_element(op.tensor(6));
             return result.of_scaled(ir::cast(ir::kF32, a.difference(values[0]) * b.difference(values[1])) * factor);
           }));
  return Tensors{std::move(product)};
}

Result<Tensors> define_qlinear_where(const Application& op) {
  HONE_TRY(const Quantized x, Quantized::of(op, 1));
  HONE_TRY(const Quantized y, Quantized::of(op, 4));
  HONE_TRY(const Quantizer result, Quantizer::of(op, 7, op.type(1)));
  HONE_TRY(Tensor chosen,
           pointwise(op, {op.tensor(0), op.tensor(1), op.tensor(4)}, [&](const std::vector<Expr>& values) {
             return result.of(ir::select(values[0], x.real(values[1]), y.real(values[2])));
           }));
  return Tensors{std::move(chosen)};
}

Result<Tensors> define_quantized_unary(const Application& op, FunctionRef<Expr(const Expr&)> f) {
  HONE_TRY(const Quantized x, Quantized::of(op, 0));
  HONE_TRY(const Quantizer result, Quantizer::of(op, 3, op.type(0)));
  return map_first(op, [&](const Expr& element) { return result.of(f(x.real(element))); });
}

Result<Tensors> define_qlinear_sigmoid(const Application& op) {
  return define_quantized_unary(op, [](const Expr& x) { return ir::call(ir::Intrinsic::Sigmoid, {x}); });
}

Result<Tensors> define_qlinear_leaky_relu(const Application& op) {
  const double alpha = op.real("alpha", 0.01f);
  return define_quantized_unary(op, [&](const Expr& x) { return ir::select(x < zero(x), number(x, alpha) * x, x); });
}

/// The order of axes that puts the last one behind the batch, or the one behind the batch last.
std::vector<std::int64_t> channel_order(std::int64_t rank, bool to_front) {
  std::vector<std::int64_t> order{0};
  if (to_front) order.push_back(rank - 1);
  for (std::int64_t axis = to_front ? 1 : 2; axis < (to_front ? rank - 1 : rank); ++axis) order.push_back(axis);
  if (!to_front) order.push_back(1);
  return order;
}

/// The average of the integers without their zero point, quantised by the ratio of the scales. Sums of such integers
/// are exact in f32 as long as a window has fewer than 65,536 elements, so that only the division rounds.
Result<std::vector<ValueId>> expand_average_pool(const Application& op, Builder& builder) {
  const bool channels_last = op.integer("channels_last", 0) != 0;
  if (op.rank(0) < 3) return op.fail("input 0 has rank {}, at least 3 needed", op.rank(0));
  HONE_TRY(Quantized::of(op, 0));
  HONE_TRY(Quantizer::of(op, 3, op.type(0)));
  Attributes attributes = op.attributes();
  attributes.remove("channels_last");
  Attributes real;
  real.set("to", static_cast<std::int64_t>(ElementType::F32));
  ValueId x = builder.add("Cast", {op.id(0)}, real);
  if (op.has(2)) x = builder.add("Sub", {x, builder.add("Cast", {op.id(2)}, real)});
  if (channels_last) x = builder.add("Transpose", {x}, permutation(channel_order(op.rank(0), true)));
  x = builder.add("AveragePool", {x}, std::move(attributes));
  if (channels_last) x = builder.add("Transpose", {x}, permutation(channel_order(op.rank(0), false)));
  Attributes type;
  type.set("output_dtype", static_cast<std::int64_t>(op.type(0)));
  const ValueId scale = builder.add("Div", {op.id(3), op.id(1)});
  return std::vector<ValueId>{builder.add("QuantizeLinear", {x, scale, op.id(4)}, std::move(type))};
}

/// The sum of the integers is exact, and scaled once.
Result<Tensors> define_quantized_global_average_pool(const Application& op) {
  if (op.rank(0) < 3) return op.fail("input 0 has rank {}, at least 3 needed", op.rank(0));
  HONE_TRY(const Quantized x, Quantized::of(op, 0));
  HONE_TRY(const Quantizer result, Quantizer::of(op, 3, op.type(0)));
  const std::size_t rank = op.shape(0).size();
  const std::size_t channel = op.integer("channels_last", 0) != 0 ? rank - 1 : 1;
  std::vector<tensor::Axis> window;
  tensor::Shape shape = op.shape(0);
  double count = 1;
  for (std::size_t axis = 1; axis < rank; ++axis) {
    if (axis == channel) continue;
    window.emplace_back(shape[axis]);
    count *= static_cast<double>(shape[axis]);
    shape[axis] = 1;
  }
  const Tensor sum = tensor::compute("sum", tensor::axes_of(shape), [&](const Indices& i) -> tensor::Body {
    return tensor::reduce_sum(window, [&](const Indices& r) {
      Indices at = i;
      std::size_t next = 0;
      for (std::size_t axis = 1; axis < rank; ++axis)
        if (axis != channel) at[axis] = r[next++];
      return x.difference(op.tensor(0)(at));
    });
  });
  return Tensors{tensor::compute(op.op(), tensor::axes_of(shape), [&](const Indices& i) {
    const Expr factor = x.scale() / (only_element(op.tensor(3)) * ir::constant(ir::kF32, count));
    return result.of_scaled(ir::cast(ir::kF32, sum(i)) * factor);
  })};
}

/// Inputs: scale and zero point of the result, then data, scale and zero point of each part.
Result<std::vector<ValueId>> expand_concat(const Application& op, Builder& builder) {
  if (op.input_count() < 5 || (op.input_count() - 2) % 3 != 0)
    return op.fail("{} inputs, allowed are 2 and 3 for each part", op.input_count());
  std::vector<ValueId> parts;
  for (std::size_t i = 2; i < op.input_count(); i += 3)
    parts.push_back(builder.add("DequantizeLinear", {op.id(i), op.id(i + 1), op.id(i + 2)}));
  const ValueId whole = builder.add("Concat", std::move(parts), op.attributes());
  return std::vector<ValueId>{builder.add("QuantizeLinear", {whole, op.id(0), op.id(1)})};
}

/// Attribute `opset` says which Softmax is meant: before 13 all axes from `axis` on are one.
Result<std::vector<ValueId>> expand_softmax(const Application& op, Builder& builder) {
  const std::int64_t opset = op.integer("opset", 13);
  Attributes axis;
  axis.set("axis", op.integer("axis", opset < 13 ? 1 : -1));
  const ValueId x = builder.add("DequantizeLinear", {op.id(0), op.id(1), op.id(2)});
  const ValueId softmax = builder.add("Softmax", {x}, std::move(axis));
  builder.nodes().back().opset = opset;
  return std::vector<ValueId>{builder.add("QuantizeLinear", {softmax, op.id(3), op.id(4)})};
}

constexpr std::string_view kQuantizedBinary =
    "A: T, A_scale: float32, A_zero_point?: T, B: T, B_scale: float32, B_zero_point?: T, C_scale: float32, "
    "C_zero_point?: T -> C: T; ; T: uint8|int8";

}  // namespace

std::span<const Operator> microsoft_elementwise_operators() {
  static const Operator operators[] = {
      microsoft("Gelu", "X: T -> Y: T; ; T: float", define_microsoft_gelu),
      microsoft("QuickGelu", "X: T -> Y: T; alpha; T: float", define_quick_gelu),
      microsoft("BiasGelu", "A: T, B: T -> C: T; ; T: float", define_bias_gelu),
      microsoft("FastGelu", "X: T, bias?: T -> Y: T; ; T: float", define_fast_gelu),
      microsoft("QLinearAdd", kQuantizedBinary, define_qlinear_add),
      microsoft("QLinearMul", kQuantizedBinary, define_qlinear_mul),
      microsoft("QLinearSigmoid",
                "X: T, X_scale: float32, X_zero_point?: T, Y_scale: float32, Y_zero_point?: T -> Y: T; ; "
                "T: uint8|int8",
                define_qlinear_sigmoid),
      microsoft("QLinearLeakyRelu",
                "X: T, X_scale: float32, X_zero_point?: T, Y_scale: float32, Y_zero_point?: T -> Y: T; alpha; "
                "T: uint8|int8",
                define_qlinear_leaky_relu),
      microsoft("QLinearAveragePool",
                "X: T, x_scale: float32, x_zero_point?: T, y_scale: float32, y_zero_point?: T -> Y: T; auto_pad, "
                "ceil_mode, channels_last, count_include_pad, kernel_shape, pads, strides; T: uint8|int8",
                expand_average_pool),
      microsoft("QLinearGlobalAveragePool",
                "X: T, x_scale: float32, x_zero_point: T, y_scale: float32, y_zero_point: T -> Y: T; channels_last; "
                "T: uint8|int8",
                define_quantized_global_average_pool),
      microsoft("QLinearSoftmax",
                "X: T, X_scale: float32, X_zero_point?: T, Y_scale: float32, Y_zero_point: T -> Y: T; axis, opset; "
                "T: uint8|int8",
                expand_softmax),
      microsoft("QLinearWhere",
                "condition: bool, X: T, x_scale: float32, x_zero_point: T, Y: T, y_scale: float32, y_zero_point: T, "
                "z_scale: float32, z_zero_point: T -> Z: T; ; T: uint8|int8",
                define_qlinear_where),
      microsoft("QLinearConcat", "Y_scale: float32, Y_zero_point: T, inputs... -> Y: T; axis; T: uint8|int8",
                expand_concat),
  };
  return operators;
}

}  // namespace hone::graph
