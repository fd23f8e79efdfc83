#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::tensor {

using ir::Expr;

namespace {

/// What conv and depthwise_conv have in common once their operands are checked.
struct ConvSetup {
  Window window;
  Shape positions;
  Tensor padded;
  ir::DType type;
};

Result<ConvSetup> set_up(std::string_view what, const Tensor& x, const Tensor& weight, const ConvOptions& options) {
  HONE_TRY(expect_equal_types(what, x, weight));
  if (x.rank() < 3 || weight.rank() != x.rank())
    return error(ErrorCode::InvalidArgument, "{}: {} axes by {} of the weight, they must be equal, 3 and more", what,
                 x.rank(), weight.rank());
  if (!options.output_padding.empty())
    return error(ErrorCode::InvalidArgument, "{}: output padding {}, allowed for transposed convolutions only", what,
                 show_shape(options.output_padding));
  HONE_TRY(Window window, make_window(what, Shape(weight.shape().begin() + 2, weight.shape().end()), options.strides,
                                      options.padding_before, options.padding_after, options.dilations));
  HONE_TRY(Shape positions, window_positions(what, x.shape(), window));
  const Tensor padded = pad_spatial(x, window, ir::constant(x.type(), std::int64_t{0}));
  const ir::DType type = options.result == ir::kVoid ? x.type() : options.result;
  return ConvSetup{std::move(window), std::move(positions), padded, type};
}

/// n, o and the spatial axes of the result.
std::vector<Axis> result_axes(std::int64_t batches, const Axis& channels, const Shape& positions) {
  std::vector<Axis> axes = {{"n", batches}, channels};
  for (std::size_t axis = 0; axis < positions.size(); ++axis)
    axes.emplace_back(spatial_name(axis, positions.size()), positions[axis]);
  return axes;
}

/// ky, kx, …: the positions within the kernel.
void append_kernel_axes(std::vector<Axis>& axes, const Window& window) {
  for (std::size_t axis = 0; axis < window.rank(); ++axis)
    axes.emplace_back("k" + spatial_name(axis, window.rank()), window.kernel[axis]);
}

/// The indices of one batch and channel of the padded input under the window.
Indices input_indices(const ConvSetup& setup, const Indices& i, const Expr& channel, const Indices& offset) {
  Indices indices = {i[0], channel};
  for (Expr& index : window_indices(setup.window, Indices(i.begin() + 2, i.end()), offset))
    indices.push_back(std::move(index));
  return indices;
}

Result<void> check_groups(const Tensor& x, const Tensor& weight, std::int64_t groups) {
  const std::int64_t channels = x.extent(1), out_channels = weight.extent(0);
  if (groups < 1 || channels % groups != 0 || out_channels % groups != 0)
    return error(ErrorCode::InvalidArgument,
                 "conv: {} groups, allowed are divisors of the {} input and {} output channels", groups, channels,
                 out_channels);
  if (weight.extent(1) != channels / groups)
    return error(ErrorCode::InvalidArgument,
                 "conv: the weight has {} input channels, the input {} in each of {} groups, they must be equal",
                 weight.extent(1), channels / groups, groups);
  return {};
}

}  // namespace

Result<Tensor> conv(const Tensor& x, const Tensor& weight, const ConvOptions& options) {
  HONE_TRY(const ConvSetup setup, set_up("conv", x, weight, options));
  HONE_TRY(check_groups(x, weight, options.groups));
  const std::int64_t out_channels = weight.extent(0), group_in = weight.extent(1);
  const std::int64_t group_out = out_channels / options.groups;

  std::vector<Axis> reduced = {{"c", group_in}};
  append_kernel_axes(reduced, setup.window);
  return compute("conv", result_axes(x.extent(0), {"o", out_channels}, setup.positions), [&](const Indices& i) {
    return reduce_sum(reduced, [&](const Indices& r) {
      const Expr channel = options.groups == 1 ? r[0] : ir::floor_div(i[1], group_out) * group_in + r[0];
      Indices at_weight = {i[1]};
      at_weight.insert(at_weight.end(), r.begin(), r.end());
      const Indices at_input = input_indices(setup, i, channel, Indices(r.begin() + 1, r.end()));
      return ir::cast(setup.type, setup.padded(at_input)) * ir::cast(setup.type, weight(at_weight));
    });
  });
}

Result<Tensor> depthwise_conv(const Tensor& x, const Tensor& weight, const ConvOptions& options) {
  HONE_TRY(const ConvSetup setup, set_up("depthwise conv", x, weight, options));
  const std::int64_t channels = x.extent(1), out_channels = weight.extent(0);
  if (channels == 0 ? out_channels != 0 : out_channels % channels != 0)
    return error(ErrorCode::InvalidArgument,
                 "depthwise conv: {} output channels, allowed are multiples of the {} inputs", out_channels, channels);
  if (weight.extent(1) != 1)
    return error(ErrorCode::InvalidArgument, "depthwise conv: axis 1 of the weight has extent {}, allowed is 1",
                 weight.extent(1));
  const std::int64_t multiplier = channels == 0 ? 1 : out_channels / channels;

  std::vector<Axis> reduced;
  append_kernel_axes(reduced, setup.window);
  return compute("depthwise", result_axes(x.extent(0), {"c", out_channels}, setup.positions), [&](const Indices& i) {
    return reduce_sum(reduced, [&](const Indices& r) {
      const Expr channel = multiplier == 1 ? i[1] : ir::floor_div(i[1], multiplier);
      Indices at_weight = {i[1], ir::imm(0)};
      at_weight.insert(at_weight.end(), r.begin(), r.end());
      const Indices at_input = input_indices(setup, i, channel, r);
      return ir::cast(setup.type, setup.padded(at_input)) * ir::cast(setup.type, weight(at_weight));
    });
  });
}

Result<Tensor> conv_bias_residual_relu(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                       const Tensor& residual, const ConvOptions& options) {
  HONE_TRY(const Tensor sum, conv(x, weight, options));
  HONE_TRY(expect_equal_types("conv chain", sum, bias));
  HONE_TRY(expect_equal_types("conv chain", sum, residual));
  if (bias.shape() != Shape{sum.extent(1)})
    return error(ErrorCode::InvalidArgument, "conv chain: the bias has shape {}, allowed is [{}]",
                 show_shape(bias.shape()), sum.extent(1));
  if (residual.shape() != sum.shape())
    return error(ErrorCode::InvalidArgument, "conv chain: the residual has shape {}, allowed is {}",
                 show_shape(residual.shape()), show_shape(sum.shape()));
  const Tensor biased = compute("biased", axes_of(sum.shape()), [&](const Indices& i) { return sum(i) + bias(i[1]); });
  const Tensor total =
      compute("total", axes_of(sum.shape()), [&](const Indices& i) { return biased(i) + residual(i); });
  return relu(total);
}

}  // namespace hone::tensor
