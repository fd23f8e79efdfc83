#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::tensor {

using ir::Expr;

namespace {

constexpr std::string_view kTransposedConv = "transposed conv";

Result<void> check_operands(const Tensor& x, const Tensor& weight, std::int64_t groups) {
  HONE_TRY(expect_equal_types(kTransposedConv, x, weight));
  if (x.rank() < 3 || weight.rank() != x.rank())
    return error(ErrorCode::InvalidArgument, "{}: {} axes by {} of the weight, they must be equal, 3 and more",
                 kTransposedConv, x.rank(), weight.rank());
  if (weight.extent(0) != x.extent(1))
    return error(ErrorCode::InvalidArgument, "{}: the weight has {} input channels, the input {}, they must be equal",
                 kTransposedConv, weight.extent(0), x.extent(1));
  if (groups < 1 || x.extent(1) % groups != 0)
    return error(ErrorCode::InvalidArgument, "{}: {} groups, allowed are divisors of the {} input channels",
                 kTransposedConv, groups, x.extent(1));
  return {};
}

/// The extents of the result's spatial axes.
Result<Shape> result_extents(const Tensor& x, const Window& window, std::vector<std::int64_t> output_padding) {
  if (output_padding.empty()) output_padding.assign(window.rank(), 0);
  if (output_padding.size() != window.rank())
    return error(ErrorCode::InvalidArgument,
                 "{}: {} output paddings for {} spatial axes, allowed is one for each or none", kTransposedConv,
                 output_padding.size(), window.rank());
  Shape extents;
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    if (output_padding[axis] < 0)
      return error(ErrorCode::InvalidArgument, "{}: output padding {} contains {}, allowed is 0 and more",
                   kTransposedConv, show_shape(output_padding), output_padding[axis]);
    const std::int64_t full = (x.extent(2 + axis) - 1) * window.strides[axis] + window.span(axis);
    const std::int64_t extent = full - window.before[axis] - window.after[axis] + output_padding[axis];
    if (extent < 0)
      return error(ErrorCode::InvalidArgument, "{}: axis {} of the result would have extent {}, allowed is 0 and more",
                   kTransposedConv, 2 + axis, extent);
    extents.push_back(extent);
  }
  return extents;
}

/// The input with its elements `stride` apart and room for the kernel around them, zeros between: what an ordinary
/// convolution of stride 1 reads.
Tensor spread(const Tensor& x, const Window& window, const Shape& extents) {
  Shape shape = {x.extent(0), x.extent(1)};
  for (std::size_t axis = 0; axis < window.rank(); ++axis) shape.push_back(extents[axis] + window.span(axis) - 1);
  return compute("spread", axes_of(shape), [&](const Indices& i) {
    Indices from = {i[0], i[1]};
    Expr is_element = ir::boolean(true);
    for (std::size_t axis = 0; axis < window.rank(); ++axis) {
      const std::int64_t stride = window.strides[axis], room = window.span(axis) - 1 - window.before[axis];
      const Expr place = i[2 + axis] - room;
      const Expr element = stride == 1 ? place : ir::floor_div(place, stride);
      Expr here = ir::logical_and(element >= 0, element < x.extent(2 + axis));
      if (stride != 1) here = ir::logical_and(ir::eq(ir::floor_mod(place, stride), 0), here);
      is_element = axis == 0 ? here : ir::logical_and(is_element, here);
      from.push_back(element);
    }
    return ir::select(is_element, x(from), ir::constant(x.type(), std::int64_t{0}));
  });
}

}  // namespace

Result<Tensor> conv_transpose(const Tensor& x, const Tensor& weight, const ConvOptions& options) {
  HONE_TRY(check_operands(x, weight, options.groups));
  HONE_TRY(const Window window,
           make_window(kTransposedConv, Shape(weight.shape().begin() + 2, weight.shape().end()), options.strides,
                       options.padding_before, options.padding_after, options.dilations));
  HONE_TRY(const Shape extents, result_extents(x, window, options.output_padding));
  const Tensor input = spread(x, window, extents);
  const std::int64_t group_in = x.extent(1) / options.groups, group_out = weight.extent(1);
  const ir::DType type = options.result == ir::kVoid ? x.type() : options.result;

  std::vector<Axis> axes = {{"n", x.extent(0)}, {"o", group_out * options.groups}}, reduced = {{"c", group_in}};
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    axes.emplace_back(spatial_name(axis, window.rank()), extents[axis]);
    reduced.emplace_back("k" + spatial_name(axis, window.rank()), window.kernel[axis]);
  }
  return compute("conv_transpose", axes, [&](const Indices& i) {
    return reduce_sum(reduced, [&](const Indices& r) {
      const bool is_grouped = options.groups != 1;
      const Expr channel = is_grouped ? ir::floor_div(i[1], group_out) * group_in + r[0] : r[0];
      Indices at_input = {i[0], channel};
      Indices at_weight = {channel, is_grouped ? ir::floor_mod(i[1], group_out) : i[1]};
      for (std::size_t axis = 0; axis < window.rank(); ++axis) {
        at_input.push_back(i[2 + axis] + r[1 + axis] * window.dilations[axis]);
        at_weight.push_back(ir::imm(window.kernel[axis] - 1) - r[1 + axis]);  // the kernel is turned round
      }
      return ir::cast(type, input(at_input)) * ir::cast(type, weight(at_weight));
    });
  });
}

}  // namespace hone::tensor
