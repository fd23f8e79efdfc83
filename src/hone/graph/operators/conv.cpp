#include <algorithm>

#include "hone/graph/operators/convolution.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/quantized.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/graph/operators/window.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

Result<tensor::ConvOptions> conv_options(const Application& op, std::size_t weight) {
  HONE_TRY(std::vector<std::int64_t> kernel, kernel_of_weight(op, weight));
  HONE_TRY(const WindowSpec window, window_of(op, std::move(kernel)));
  return tensor::ConvOptions{.strides = window.strides,
                             .padding_before = window.before,
                             .padding_after = window.after,
                             .dilations = window.dilations,
                             .groups = op.integer("group", 1)};
}

Result<Tensor> convolve(const Tensor& x, const Tensor& weight, const tensor::ConvOptions& options) {
  const bool is_depthwise = options.groups > 1 && options.groups == x.extent(1) && weight.extent(1) == 1 &&
                            weight.extent(0) % options.groups == 0;
  return is_depthwise ? tensor::depthwise_conv(x, weight, options) : tensor::conv(x, weight, options);
}

Result<Tensor> with_bias(const Application& op, const Tensor& y, std::size_t bias) {
  if (!op.has(bias)) return y;
  const Tensor& b = op.tensor(bias);
  if (b.shape() != tensor::Shape{y.extent(1)})
    return op.fail("a bias of shape {}, allowed is [{}]", tensor::show_shape(b.shape()), y.extent(1));
  return tensor::compute("bias_add", tensor::axes_of(y.shape()),
                         [&](const Indices& i) { return y(i) + ir::cast(y.type(), b(i[1])); });
}

namespace {

Result<std::vector<Tensor>> define_conv(const Application& op) {
  HONE_TRY(tensor::ConvOptions options, conv_options(op, 1));
  const Tensor& x = op.tensor(0);
  options.result = accumulator_type(x.type());
  HONE_TRY(const Tensor product, op.algorithm().winograd_tile > 0
                                     ? tensor::winograd_conv(x, op.tensor(1), options, op.algorithm().winograd_tile)
                                     : convolve(x, op.tensor(1), options));
  HONE_TRY(const Tensor y, with_bias(op, product, 2));
  return std::vector<Tensor>{converted(y, x.type())};
}

/// Padding and output_padding of one axis so that the result gets the wanted extent; what the kernel does not reach is
/// added at the end.
void fit_extent(tensor::ConvOptions& options, std::size_t axis, std::int64_t full, std::int64_t wanted,
                bool more_before) {
  const std::int64_t total = full + options.output_padding[axis] - wanted;
  const Sides sides = share(std::max<std::int64_t>(total, 0), more_before);
  options.padding_before[axis] = sides.before;
  options.padding_after[axis] = sides.after;
  if (total < 0) options.output_padding[axis] -= total;
}

Result<std::vector<Tensor>> define_conv_transpose(const Application& op) {
  HONE_TRY(const std::vector<std::int64_t> kernel, kernel_of_weight(op, 1));
  HONE_TRY(const WindowSpec window, window_of(op, kernel));
  const Tensor& x = op.tensor(0);
  const std::string auto_pad = op.text("auto_pad", "NOTSET");
  tensor::ConvOptions options{.strides = window.strides,
                              .padding_before = window.before,
                              .padding_after = window.after,
                              .dilations = window.dilations,
                              .groups = op.integer("group", 1),
                              .output_padding = op.integers("output_padding"),
                              .result = accumulator_type(x.type())};
  if (options.output_padding.empty()) options.output_padding.assign(window.rank(), 0);
  std::vector<std::int64_t> wanted = op.integers("output_shape");
  if (wanted.size() == window.rank() + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  const bool is_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!wanted.empty() && wanted.size() != window.rank())
    return op.fail("output_shape has {} entries, allowed are {}", wanted.size(), window.rank());
  if (options.output_padding.size() != window.rank())
    return op.fail("output_padding has {} entries, allowed are {}", options.output_padding.size(), window.rank());
  for (std::size_t axis = 0; axis < window.rank() && (is_same || !wanted.empty()); ++axis) {
    const std::int64_t full = window.strides[axis] * (x.extent(2 + axis) - 1) + window.span(axis);
    const std::int64_t extent = wanted.empty() ? x.extent(2 + axis) * window.strides[axis] : wanted[axis];
    fit_extent(options, axis, full, extent, auto_pad != "SAME_UPPER");
  }
  HONE_TRY(const Tensor product, tensor::conv_transpose(x, op.tensor(1), options));
  HONE_TRY(const Tensor y, with_bias(op, product, 2));
  return std::vector<Tensor>{converted(y, x.type())};
}

// Integers.

Result<std::vector<Tensor>> define_conv_integer(const Application& op) {
  HONE_TRY(const tensor::ConvOptions options, conv_options(op, 1));
  HONE_TRY(const Tensor x, without_zero_point(op, 0, 2, op.shape(0).size()));
  HONE_TRY(const Tensor weight, without_zero_point(op, 1, 3, 0));
  HONE_TRY(const Tensor y, convolve(x, weight, options));
  return std::vector<Tensor>{y};
}

/// x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B.
Result<std::vector<Tensor>> define_quantized_conv(const Application& op) {
  HONE_TRY(const tensor::ConvOptions options, conv_options(op, 3));
  for (const std::size_t input : {1, 6, 7}) HONE_TRY(expect_single(op, input));
  HONE_TRY(const Tensor x, without_zero_point(op, 0, 2, op.shape(0).size()));
  HONE_TRY(const Tensor weight, without_zero_point(op, 3, 5, 0));
  HONE_TRY(const Tensor product, convolve(x, weight, options));
  HONE_TRY(const Tensor sum, with_bias(op, product, 8));
  if (!is_single(op, 4) && op.shape(4) != tensor::Shape{weight.extent(0)})
    return op.fail("scales of shape {}, allowed is one number, or one for each of {} channels",
                   tensor::show_shape(op.shape(4)), weight.extent(0));
  const Tensor multiplier = tensor::compute("multiplier", {sum.extent(1)}, [&](const Indices& c) {
    return scalar_or_entry(op, 1, ir::imm(0)) * scalar_or_entry(op, 4, c[0]) / scalar_or_entry(op, 6, ir::imm(0));
  });
  const ir::DType type = op.tensor(op.has(7) ? 7 : 0).type();
  return std::vector<Tensor>{tensor::compute("quantized", tensor::axes_of(sum.shape()), [&](const Indices& i) {
    const Expr zero =
        op.has(7) ? ir::cast(ir::kI32, scalar_or_entry(op, 7, ir::imm(0))) : ir::constant(ir::kI32, std::int64_t{0});
    return quantized(ir::cast(ir::kF32, sum(i)) * multiplier(i[1]), zero, type);
  })};
}

}  // namespace

std::span<const Operator> conv_operators() {
  static const Operator entries[] = {
      {.name = "Conv",
       .schema = "X: T, W: T, B?: T -> Y: T; auto_pad, dilations, group, kernel_shape, pads, strides; T: float",
       .define = define_conv},
      {.name = "ConvTranspose",
       .schema =
           "X: T, W: T, B?: T -> Y: T; auto_pad, dilations, group, kernel_shape, output_padding, output_shape, pads, "
           "strides; T: float",
       .define = define_conv_transpose},
      {.name = "ConvInteger",
       .schema = "x: uint8|int8, w: uint8|int8, x_zero_point?: uint8|int8, w_zero_point?: uint8|int8 -> y: int32; "
                 "auto_pad, dilations, group, kernel_shape, pads, strides",
       .define = define_conv_integer},
      {.name = "QLinearConv",
       .schema = "x: uint8|int8, x_scale: float, x_zero_point?: uint8|int8, w: uint8|int8, w_scale: float, "
                 "w_zero_point?: uint8|int8, y_scale: float, y_zero_point?: Q, B?: int32 -> y: Q; auto_pad, dilations, "
                 "group, kernel_shape, pads, strides; Q: uint8|int8",
       .define = define_quantized_conv},
  };
  return entries;
}

}  // namespace hone::graph
