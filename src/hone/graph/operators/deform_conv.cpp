#include "hone/graph/operators/convolution.h"
#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/graph/operators/window.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

namespace {

/// The element between others at real indices along the spatial axes, zero outside: a sum over the corners around it.
Expr interpolated(const Tensor& x, const Expr& batch, const Expr& channel, const Indices& place) {
  const ir::DType type = place[0].type();
  Expr sum = real_constant(type, 0);
  for (std::size_t corner = 0; corner < (std::size_t{1} << place.size()); ++corner) {
    Indices at = {batch, channel};
    Expr weight = real_constant(type, 1), is_inside = ir::boolean(true);
    for (std::size_t axis = 0; axis < place.size(); ++axis) {
      const bool is_upper = (corner >> axis & 1) != 0;
      const Expr low = ir::call(ir::Intrinsic::Floor, {place[axis]});
      const Expr fraction = place[axis] - low;
      weight = weight * (is_upper ? fraction : real_constant(type, 1) - fraction);
      const Expr index = ir::cast(ir::kI64, low) + (is_upper ? 1 : 0);
      is_inside = ir::logical_and(is_inside, ir::logical_and(index >= 0, index < x.extent(2 + axis)));
      at.push_back(ir::min(ir::max(index, ir::imm(0)), ir::imm(x.extent(2 + axis) - 1)));
    }
    sum = sum + ir::select(is_inside, weight * ir::cast(type, x(at)), real_constant(type, 0));
  }
  return sum;
}

Result<void> check_channels(const Application& op, const tensor::Shape& positions) {
  const std::int64_t channels = op.shape(0)[1], groups = op.integer("group", 1);
  const std::int64_t offset_groups = op.integer("offset_group", 1);
  const tensor::Shape &weight = op.shape(1), &offset = op.shape(2);
  if (groups < 1 || weight[1] * groups != channels || weight[0] % groups != 0)
    return op.fail("{} groups of {} channels and a weight of shape {} do not fit", groups, channels,
                   tensor::show_shape(weight));
  if (offset_groups < 1 || channels % offset_groups != 0)
    return op.fail("offset_group {}, allowed are divisors of the {} channels", offset_groups, channels);
  std::int64_t taps = offset_groups;
  for (std::size_t axis = 2; axis < weight.size(); ++axis) taps *= weight[axis];
  const auto expect = [&](std::size_t input, std::int64_t count) -> Result<void> {
    tensor::Shape allowed = {op.shape(0)[0], count};
    allowed.insert(allowed.end(), positions.begin(), positions.end());
    if (op.shape(input) == allowed) return {};
    return op.fail("input {} has shape {}, allowed is {}", input, tensor::show_shape(op.shape(input)),
                   tensor::show_shape(allowed));
  };
  HONE_TRY(expect(2, taps * static_cast<std::int64_t>(offset.size() - 2)));
  if (op.has(4)) HONE_TRY(expect(4, taps));
  return {};
}

/// X, W, offset, B?, mask?. The sampled input is a stage [n, channel, kernel..., position...] of its own.
Result<std::vector<Tensor>> define_deform_conv(const Application& op) {
  HONE_TRY(const std::vector<std::int64_t> kernel, kernel_of_weight(op, 1));
  HONE_TRY(const WindowSpec window, window_of(op, kernel));
  const Tensor &x = op.tensor(0), &weight = op.tensor(1), &offset = op.tensor(2);
  const std::size_t rank = window.rank();
  tensor::Shape positions;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t padded = x.extent(2 + axis) + window.before[axis] + window.after[axis];
    if (padded < window.span(axis)) return op.fail("a kernel that spans {} of {} elements", window.span(axis), padded);
    positions.push_back((padded - window.span(axis)) / window.strides[axis] + 1);
  }
  HONE_TRY(check_channels(op, positions));
  const ir::DType type = accumulator_type(x.type());
  const std::int64_t per_offset_group = std::max<std::int64_t>(x.extent(1) / op.integer("offset_group", 1), 1);
  std::int64_t taps = 1;
  for (const std::int64_t extent : kernel) taps *= extent;

  std::vector<tensor::Axis> axes = {{"n", x.extent(0)}, {"c", x.extent(1)}};
  for (const std::int64_t extent : kernel) axes.emplace_back(extent);
  for (const std::int64_t extent : positions) axes.emplace_back(extent);
  const Tensor samples = tensor::compute("samples", axes, [&](const Indices& i) {
    const Expr group = ir::floor_div(i[1], per_offset_group);
    Expr tap = ir::imm(0);
    for (std::size_t axis = 0; axis < rank; ++axis) tap = tap * kernel[axis] + i[2 + axis];
    const auto at = [&](const Expr& entry) {
      Indices indices = {i[0], entry};
      indices.insert(indices.end(), i.begin() + 2 + static_cast<std::ptrdiff_t>(rank), i.end());
      return indices;
    };
    Indices place;
    const Expr first = (group * taps + tap) * static_cast<std::int64_t>(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const Expr regular =
          i[2 + rank + axis] * window.strides[axis] + i[2 + axis] * window.dilations[axis] - window.before[axis];
      place.push_back(ir::cast(type, regular) + ir::cast(type, offset(at(first + static_cast<std::int64_t>(axis)))));
    }
    const Expr sample = interpolated(x, i[0], i[1], place);
    return op.has(4) ? sample * ir::cast(type, op.tensor(4)(at(group * taps + tap))) : sample;
  });

  const std::int64_t group_in = weight.extent(1), group_out = weight.extent(0) / op.integer("group", 1);
  std::vector<tensor::Axis> result = {{"n", x.extent(0)}, {"o", weight.extent(0)}}, reduced = {{"c", group_in}};
  for (const std::int64_t extent : positions) result.emplace_back(extent);
  for (const std::int64_t extent : kernel) reduced.emplace_back(extent);
  const Tensor product = tensor::compute("deform_conv", result, [&](const Indices& i) {
    return tensor::reduce_sum(reduced, [&](const Indices& r) {
      Indices at = {i[0], ir::floor_div(i[1], group_out) * group_in + r[0]}, at_weight = {i[1]};
      at.insert(at.end(), r.begin() + 1, r.end());
      at.insert(at.end(), i.begin() + 2, i.end());
      at_weight.insert(at_weight.end(), r.begin(), r.end());
      return samples(at) * ir::cast(type, weight(at_weight));
    });
  });
  HONE_TRY(const Tensor y, with_bias(op, product, 3));
  return std::vector<Tensor>{converted(y, x.type())};
}

}  // namespace

std::span<const Operator> deform_conv_operators() {
  static const Operator entries[] = {
      {.name = "DeformConv",
       .schema = "X: T, W: T, offset: T, B?: T, mask?: T -> Y: T; dilations, group, kernel_shape, offset_group, pads, "
                 "strides; T: float",
       .define = define_deform_conv},
  };
  return entries;
}

}  // namespace hone::graph
