#include "hone/graph/operators/quantize.h"

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/pointwise.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

namespace {

bool is_integer_kind(ElementType type) {
  return runtime::is_integer(type) || type == ElementType::U4 || type == ElementType::I4 || type == ElementType::U2 ||
         type == ElementType::I2;
}

bool can_hold_quantized(ElementType type) {
  if (type == ElementType::F8E8M0 || !ir_type(type)) return false;
  return runtime::is_storage_only(type) || (is_integer_kind(type) && width_of(type) <= 16);
}

/// The type an attribute names; Undefined if the attribute is absent or 0.
ElementType type_attribute(const Application& op, std::string_view name) {
  const std::int64_t value = op.integer(name, 0);
  return value < 0 || value > static_cast<std::int64_t>(ElementType::F6E3M2) ? ElementType::Undefined
                                                                             : static_cast<ElementType>(value);
}

std::vector<ElementType> quantized_types(const Application& op) {
  const ElementType stated = type_attribute(op, "output_dtype");
  if (op.has(2)) return {op.type(2)};
  return {stated == ElementType::Undefined ? ElementType::U8 : stated};
}

std::vector<ElementType> dequantized_types(const Application& op) {
  const ElementType stated = type_attribute(op, "output_dtype");
  if (stated != ElementType::Undefined) return {stated};
  return {runtime::is_float(op.type(1)) ? op.type(1) : ElementType::F32};
}

/// What of scale and zero point belongs to each element; a single zero point serves all scales.
struct Parameters {
  Granularity scale, zero;

  static Result<Parameters> of(const Application& op) {
    Parameters result;
    HONE_TRY(result.scale, Granularity::of(op, 0, 1));
    if (op.has(2)) { HONE_TRY(result.zero, Granularity::of(op, 0, 2)); }
    return result;
  }
  Expr scale_at(const Application& op, const Indices& i) const {
    return to_number(scale.at(op.tensor(1), i), op.type(1));
  }
  Expr zero_at(const Application& op, const Indices& i) const { return op.has(2) ? zero.at(op.tensor(2), i) : Expr(); }
};

Result<Tensors> define_quantize(const Application& op) {
  const ElementType to = quantized_types(op)[0];
  const ElementType stated = type_attribute(op, "output_dtype");
  if (!can_hold_quantized(to)) return op.fail("no quantisation to {}", runtime::name_of(to));
  if (stated != ElementType::Undefined && stated != to)
    return op.fail("output_dtype is {}, but the zero point has {}", runtime::name_of(stated), runtime::name_of(to));
  HONE_TRY(const Parameters parameters, Parameters::of(op));
  const Tensor& x = op.tensor(0);
  ElementType precision = type_attribute(op, "precision");
  if (precision == ElementType::Undefined) precision = op.type(1);
  const ir::DType inner = runtime::is_float(precision) ? *ir_type(precision) : ir::kF32;
  ConvertOptions options;
  options.saturate = op.integer("saturate", 1) != 0;
  return Tensors{tensor::compute(op.op(), tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Expr divisor = ir::cast(inner, parameters.scale_at(op, i));
    return quantized(ir::cast(inner, x(i)) / divisor, parameters.zero_at(op, i), to, options);
  })};
}

Result<Tensors> define_dequantize(const Application& op) {
  const ElementType to = dequantized_types(op)[0];
  if (!runtime::is_float(to)) return op.fail("output_dtype is {}, allowed are floats", runtime::name_of(to));
  if (op.has(2) && op.type(2) != op.type(0))
    return op.fail("the zero point has type {}, allowed is the input's, {}", runtime::name_of(op.type(2)),
                   runtime::name_of(op.type(0)));
  HONE_TRY(const Parameters parameters, Parameters::of(op));
  const Tensor& x = op.tensor(0);
  return Tensors{tensor::compute(op.op(), tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Expr factor = ir::cast(ir::kF32, parameters.scale_at(op, i));
    return ir::cast(*ir_type(to), dequantized(x(i), parameters.zero_at(op, i), op.type(0), factor));
  })};
}

/// Scale and zero point follow from the extremes of the input: [least, greatest], which includes 0, becomes [0, 255].
Result<Tensors> define_dynamic_quantize(const Application& op) {
  const Tensor& x = op.tensor(0);
  const std::vector<tensor::Axis> axes = tensor::axes_of(x.shape());
  const auto at = [&](const Indices& r) { return x(r); };
  const Tensor greatest =
      tensor::compute("greatest", {}, [&](const Indices&) -> tensor::Body { return tensor::reduce_max(axes, at); });
  const Tensor least =
      tensor::compute("least", {}, [&](const Indices&) -> tensor::Body { return tensor::reduce_min(axes, at); });
  const Expr nothing = ir::constant(ir::kF32, 0.0);
  const Tensor scale = tensor::compute("y_scale", {}, [&](const Indices& i) {
    const Expr high = ir::max(greatest(i), nothing), low = ir::min(least(i), nothing);
    const Expr range = ir::select(ir::eq(high, low), ir::constant(ir::kF32, 1.0), high - low);
    return range / ir::constant(ir::kF32, 255.0);
  });
  const Tensor zero_point = tensor::compute("y_zero_point", {}, [&](const Indices& i) {
    const Expr low = ir::min(least(i), nothing);
    return quantized(-low / scale(i), Expr(), ElementType::U8);
  });
  const Tensor y = tensor::compute("y", axes, [&](const Indices& i) {
    return quantized(x(i) / scale(Indices()), zero_point(Indices()), ElementType::U8);
  });
  return Tensors{y, scale, zero_point};
}

constexpr std::string_view kQuantize =
    "x: float|int32, y_scale: float|int32|float8e8m0, y_zero_point? -> y; "
    "axis, block_size, output_dtype, precision, saturate";
constexpr std::string_view kDequantize =
    "x, x_scale: float|float8e8m0, x_zero_point? -> y; axis, block_size, output_dtype";

}  // namespace

Expr quantized(const Expr& scaled, const Expr& zero_point, ElementType to, const ConvertOptions& options) {
  const Expr wide = ir::cast(widened(scaled.type()), scaled);
  const auto shifted = [&](const Expr& number_) {
    return zero_point ? number_ + ir::cast(number_.type(), to_number(zero_point, to)) : number_;
  };
  if (!is_integer_kind(to)) return convert(shifted(wide), ElementType::F32, to, options);
  const Expr rounded = shifted(ir::call(ir::Intrinsic::Round, {wide}));
  const Expr inside = ir::min(ir::max(rounded, number(rounded, static_cast<double>(least_of(to)))),
                              number(rounded, static_cast<double>(greatest_of(to))));
  return ir::cast(*ir_type(to), ir::cast(ir::kI32, inside));
}

Expr dequantized(const Expr& x, const Expr& zero_point, ElementType from, const Expr& scale) {
  if (!is_integer_kind(from)) {
    const Expr value = ir::cast(ir::kF32, to_number(x, from));
    return (zero_point ? value - ir::cast(ir::kF32, to_number(zero_point, from)) : value) * scale;
  }
  const ir::DType inner = width_of(from) < 32 ? ir::kI32 : ir::kI64;
  const Expr value = zero_point ? ir::cast(inner, x) - ir::cast(inner, zero_point) : x;
  return ir::cast(ir::kF32, value) * scale;
}

Result<Granularity> Granularity::of(const Application& op, std::size_t x, std::size_t parameter) {
  Granularity result;
  const tensor::Shape &shape = op.shape(x), &given = op.shape(parameter);
  bool is_single = true;
  for (const std::int64_t extent : given) is_single = is_single && extent == 1;
  const std::int64_t block = op.integer("block_size", 0);
  if (is_single && (block == 0 || given.size() <= 1)) return result;
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", 1), op.rank(x)));
  result.axis_ = static_cast<std::size_t>(axis);
  if (block == 0) {
    result.kind_ = Kind::Axis;
    if (given != tensor::Shape{shape[result.axis_]})
      return op.fail("input {} has shape {}, allowed are one element and [{}]", parameter, tensor::show_shape(given),
                     shape[result.axis_]);
    return result;
  }
  if (block < 0) return op.fail("block_size is {}, allowed is 1 and more", block);
  result.kind_ = Kind::Block;
  result.block_ = block;
  tensor::Shape expected = shape;
  expected[result.axis_] = (expected[result.axis_] + block - 1) / block;
  if (given != expected)
    return op.fail("input {} has shape {}, allowed is {} for blocks of {}", parameter, tensor::show_shape(given),
                   tensor::show_shape(expected), block);
  return result;
}

Expr Granularity::at(const Tensor& parameter, const Indices& indices) const {
  if (kind_ == Kind::Whole) return only_element(parameter);
  if (kind_ == Kind::Axis) return parameter(Indices{indices[axis_]});
  Indices own = indices;
  own[axis_] = ir::floor_div(own[axis_], block_);
  return parameter(own);
}

std::span<const Operator> quantize_operators() {
  static const Operator operators[] = {
      {.name = "QuantizeLinear", .schema = kQuantize, .define = define_quantize, .output_types = quantized_types},
      {.name = "DequantizeLinear",
       .schema = kDequantize,
       .define = define_dequantize,
       .output_types = dequantized_types},
      {.name = "DynamicQuantizeLinear",
       .schema = "x: float32 -> y: uint8, y_scale: float32, y_zero_point: uint8",
       .define = define_dynamic_quantize},
      {.name = "QuantizeLinear",
       .domain = "com.microsoft",
       .schema = kQuantize,
       .define = define_quantize,
       .output_types = quantized_types},
      {.name = "DequantizeLinear",
       .domain = "com.microsoft",
       .schema = kDequantize,
       .define = define_dequantize,
       .output_types = dequantized_types},
  };
  return operators;
}

}  // namespace hone::graph
