#include "hone/runtime/kernels/rearrange.h"

#include <algorithm>
#include <numeric>

#include "hone/runtime/kernels/bad.h"
#include "hone/runtime/kernels/move.h"
#include "hone/runtime/kernels/pad_index.h"
#include "hone/runtime/kernels/shape_rules.h"

namespace hone::runtime {
namespace {

Result<Integers> ints(const HostCall& call, std::size_t i) {
  HONE_TRY(const Tensor tensor, call.tensor(i));
  return tensor.to_ints();
}

Result<std::optional<Integers>> optional_ints(const HostCall& call, std::size_t i) {
  if (!call.has(i)) return std::optional<Integers>();
  HONE_TRY(Integers numbers, ints(call, i));
  return std::optional<Integers>(std::move(numbers));
}

Integers count_up(std::int64_t count) {
  Integers numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Maps for take() that leave every axis as it is.
std::vector<Integers> same(const Shape& shape) {
  std::vector<Integers> maps;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return std::vector<Integers>(shape.size());
  for (const std::int64_t extent : shape) maps.push_back(count_up(extent));
  return maps;
}

Result<void> give(HostCall& call, const Tensor& from, const std::vector<Integers>& maps,
                  const Tensor* other = nullptr) {
  Shape shape;
  for (const Integers& map : maps) shape.push_back(static_cast<std::int64_t>(map.size()));
  HONE_TRY(Tensor to, call.output(0, from.type(), shape));
  take(from, maps, other, to);
  return {};
}

/// Makes the output before maps for it are: a shape too large is then an error. True if it has elements.
Result<bool> has_elements(HostCall& call, const Tensor& like, const Shape& shape) {
  HONE_TRY(const Tensor to, call.output(0, like.type(), shape));
  return to.size() > 0;
}

Result<void> give_view(HostCall& call, const Tensor& from, const Result<Shape>& shape) {
  if (!shape) return shape.error();
  call.outputs[0] = from.reshaped(*shape);
  return {};
}

}  // namespace

Result<void> shape_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  const auto rank = static_cast<std::int64_t>(x.rank());
  const auto clamped = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t start = clamped(call.attributes.integer("start", 0));
  const std::int64_t end = std::max(start, clamped(call.attributes.integer("end", rank)));
  call.outputs[0] =
      Tensor::of<std::int64_t>({end - start}, Integers(x.shape().begin() + start, x.shape().begin() + end));
  return {};
}

Result<void> size_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  call.outputs[0] = Tensor::scalar<std::int64_t>(x.size());
  return {};
}

Result<void> reshape_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Integers wanted, ints(call, 1));
  return give_view(call, x, reshape_rule(x.shape(), wanted, call.attributes.integer("allowzero", 0) != 0));
}

Result<void> flatten_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  return give_view(call, x, flatten_rule(x.shape(), call.attributes.integer("axis", 1)));
}

Result<void> squeeze_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const std::optional<Integers> axes, optional_ints(call, 1));
  return give_view(call, x, squeeze_rule(x.shape(), axes.value_or(Integers())));
}

Result<void> unsqueeze_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Integers axes, ints(call, 1));
  return give_view(call, x, unsqueeze_rule(x.shape(), axes));
}

Result<void> expand_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Integers wanted, ints(call, 1));
  HONE_TRY(const Shape shape, broadcast_rule(x.shape(), wanted));
  Shape padded(shape.size() - x.rank(), 1);
  padded.insert(padded.end(), x.shape().begin(), x.shape().end());
  HONE_TRY(const bool is_filled, has_elements(call, x, shape));
  if (!is_filled) return {};
  std::vector<Integers> maps = same(shape);
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (padded[i] == 1) std::fill(maps[i].begin(), maps[i].end(), 0);
  return give(call, x.reshaped(padded), maps);
}

Result<void> tile_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Integers repeats, ints(call, 1));
  HONE_TRY(const Shape shape, tile_rule(x.shape(), repeats));
  HONE_TRY(const bool is_filled, has_elements(call, x, shape));
  if (!is_filled) return {};
  std::vector<Integers> maps = same(shape);
  for (std::size_t i = 0; i < maps.size(); ++i)
    for (std::int64_t& at : maps[i]) at %= x.extent(i);
  return give(call, x, maps);
}

Result<void> transpose_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Integers order, permutation_rule(call.attributes.integers("perm"), x.rank()));
  const Integers strides = strides_of(x.shape());
  Shape shape;
  Box source;
  for (const std::int64_t axis : order) {
    shape.push_back(x.extent(static_cast<std::size_t>(axis)));
    source.strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  HONE_TRY(Tensor y, call.output(0, x.type(), shape));
  copy_box(x, source, y, {0, strides_of(shape)}, shape);
  return {};
}

Result<void> slice_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Integers starts, ints(call, 1));
  HONE_TRY(const Integers ends, ints(call, 2));
  HONE_TRY(const std::optional<Integers> axes, optional_ints(call, 3));
  HONE_TRY(const std::optional<Integers> steps, optional_ints(call, 4));
  HONE_TRY(const std::vector<AxisRange> ranges, slice_rule(x.shape(), starts, ends, axes, steps));
  Shape shape;
  Box source{0, strides_of(x.shape())};
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    shape.push_back(ranges[i].count);
    source.offset += ranges[i].start * source.strides[i];
    source.strides[i] *= ranges[i].step;
  }
  HONE_TRY(Tensor y, call.output(0, x.type(), shape));
  copy_box(x, source, y, {0, strides_of(shape)}, shape);
  return {};
}

Result<void> split_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const std::int64_t axis, normalize_axis(call.attributes.integer("axis", 0), x.rank()));
  HONE_TRY(const std::optional<Integers> wanted, optional_ints(call, 1));
  const auto at = static_cast<std::size_t>(axis);
  HONE_TRY(const Integers sizes, split_rule(x.extent(at), call.outputs.size(), wanted));
  std::int64_t start = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    HONE_TRY(call.outputs[i], slice_axis(x, at, start, sizes[i]));
    start += sizes[i];
  }
  return {};
}

Result<void> concat_kernel(HostCall& call) {
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    HONE_TRY(Tensor part, call.tensor(i));
    if (part.rank() != 1 || part.size() != 0) parts.push_back(std::move(part));
  }
  if (parts.empty()) {  // all are empty vectors, which may stand beside anything
    HONE_TRY(Tensor first, call.tensor(0));
    parts.push_back(std::move(first));
  }
  HONE_TRY(call.outputs[0], concat_axis(parts, call.attributes.integer("axis", 0)));
  return {};
}

Result<void> pad_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Integers pads, ints(call, 1));
  HONE_TRY(const std::optional<Integers> axes, optional_ints(call, 3));
  HONE_TRY(const PadMode mode, pad_mode_named(call.attributes.text("mode", "constant")));
  HONE_TRY(const Padding padding, pad_rule(x.shape(), pads, axes));
  HONE_TRY(check_pad(x.shape(), padding, mode));
  HONE_TRY(const bool is_filled, has_elements(call, x, padded_shape(x.shape(), padding)));
  if (!is_filled) return {};
  std::vector<Integers> maps = same(padded_shape(x.shape(), padding));
  for (std::size_t i = 0; i < maps.size(); ++i)
    for (std::int64_t& at : maps[i]) at = pad_index(at - padding.before[i], x.extent(i), mode);
  if (!call.has(2)) return give(call, x, maps);
  HONE_TRY(const Tensor value, call.tensor(2));
  if (value.size() != 1) return bad("constant_value has {} elements, allowed is 1", value.size());
  return give(call, x, maps, &value);
}

Result<void> center_crop_pad_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Integers wanted, ints(call, 1));
  std::optional<Integers> axes;
  if (call.attributes.has("axes")) axes = call.attributes.integers("axes");
  HONE_TRY(const Padding padding, center_crop_rule(x.shape(), wanted, axes));
  HONE_TRY(const bool is_filled, has_elements(call, x, padded_shape(x.shape(), padding)));
  if (!is_filled) return {};
  std::vector<Integers> maps = same(padded_shape(x.shape(), padding));
  for (std::size_t i = 0; i < maps.size(); ++i)
    for (std::int64_t& at : maps[i]) at = pad_index(at - padding.before[i], x.extent(i), PadMode::Constant);
  return give(call, x, maps);
}

namespace {

/// Copies `x`, seen under the shape `split`, into the output with its axes in another order.
Result<void> give_blocks(HostCall& call, const Tensor& x, const Shape& split, const Integers& order,
                         const Shape& shape) {
  const Integers strides = strides_of(split);
  Shape extents;
  Box source;
  for (const std::int64_t axis : order) {
    extents.push_back(split[static_cast<std::size_t>(axis)]);
    source.strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  HONE_TRY(Tensor y, call.output(0, x.type(), shape));
  copy_box(x, source, y, {0, strides_of(extents)}, extents);
  return {};
}

}  // namespace

Result<void> depth_to_space_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  const std::int64_t block = call.attributes.integer("blocksize", 0);
  if (x.rank() != 4 || block < 1 || x.extent(1) % (block * block) != 0)
    return bad("blocksize {} for an input {}", block, describe(x.type(), x.shape()));
  const std::int64_t n = x.extent(0), c = x.extent(1) / (block * block), h = x.extent(2), w = x.extent(3);
  const Shape shape{n, c, h * block, w * block};
  if (call.attributes.text("mode", "DCR") == "DCR")
    return give_blocks(call, x, {n, block, block, c, h, w}, {0, 3, 4, 1, 5, 2}, shape);
  return give_blocks(call, x, {n, c, block, block, h, w}, {0, 1, 4, 2, 5, 3}, shape);
}

Result<void> space_to_depth_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  const std::int64_t block = call.attributes.integer("blocksize", 0);
  if (x.rank() != 4 || block < 1 || x.extent(2) % block != 0 || x.extent(3) % block != 0)
    return bad("blocksize {} for an input {}", block, describe(x.type(), x.shape()));
  const std::int64_t n = x.extent(0), c = x.extent(1), h = x.extent(2) / block, w = x.extent(3) / block;
  const bool is_depth_first = call.attributes.text("mode", "DCR") == "DCR";
  return give_blocks(call, x, {n, c, h, block, w, block},
                     is_depth_first ? Integers{0, 3, 5, 1, 2, 4} : Integers{0, 1, 3, 5, 2, 4},
                     {n, c * block * block, h, w});
}

Result<void> reverse_sequence_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Integers lengths, ints(call, 1));
  HONE_TRY(const std::int64_t batch, normalize_axis(call.attributes.integer("batch_axis", 1), x.rank()));
  HONE_TRY(const std::int64_t time, normalize_axis(call.attributes.integer("time_axis", 0), x.rank()));
  const auto b = static_cast<std::size_t>(batch), t = static_cast<std::size_t>(time);
  if (batch == time || static_cast<std::int64_t>(lengths.size()) != x.extent(b))
    return bad("{} sequence lengths for axis {} of {}", lengths.size(), batch, describe(x.type(), x.shape()));
  HONE_TRY(Tensor y, call.output(0, x.type(), x.shape()));
  const Integers strides = strides_of(x.shape());
  Shape extents = x.shape();
  extents[b] = 1;
  Integers backwards = strides;
  backwards[t] = -strides[t];
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t length = std::clamp<std::int64_t>(lengths[i], 0, x.extent(t));
    const std::int64_t start = static_cast<std::int64_t>(i) * strides[b];
    extents[t] = x.extent(t);
    copy_box(x, {start, strides}, y, {start, strides}, extents);
    extents[t] = length;
    copy_box(x, {start + (length - 1) * strides[t], backwards}, y, {start, strides}, extents);
  }
  return {};
}

Result<void> gather_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Tensor index_tensor, call.tensor(1));
  HONE_TRY(Integers indices, index_tensor.to_ints());
  HONE_TRY(const std::int64_t axis, normalize_axis(call.attributes.integer("axis", 0), x.rank()));
  const auto at = static_cast<std::size_t>(axis);
  HONE_TRY(const Shape shape, gather_rule(x.shape(), index_tensor.shape(), axis));
  for (std::int64_t& index : indices) { HONE_TRY(index, normalize_index(index, x.extent(at))); }
  HONE_TRY(Tensor y, call.output(0, x.type(), shape));
  const std::int64_t run = strides_of(x.shape())[at], count = static_cast<std::int64_t>(indices.size());
  for (std::int64_t i = 0; i < (y.size() == 0 ? 0 : y.size() / run); ++i)
    copy_run(x, (i / count * x.extent(at) + indices[static_cast<std::size_t>(i % count)]) * run, y, i * run, run);
  return {};
}

Result<void> gather_elements_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Tensor index_tensor, call.tensor(1));
  HONE_TRY(const Integers indices, index_tensor.to_ints());
  HONE_TRY(const std::int64_t axis, normalize_axis(call.attributes.integer("axis", 0), x.rank()));
  const auto at = static_cast<std::size_t>(axis);
  const Shape& shape = index_tensor.shape();
  if (shape.size() != x.rank()) return bad("indices of {} axes for {}", shape.size(), x.rank());
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (i != at && shape[i] > x.extent(i))
      return bad("indices of extent {} for {} at axis {}", shape[i], x.extent(i), i);
  HONE_TRY(Tensor y, call.output(0, x.type(), shape));
  const Integers strides = strides_of(x.shape()), own = strides_of(shape);
  for (std::int64_t i = 0; i < y.size(); ++i) {
    HONE_TRY(const std::int64_t index, normalize_index(indices[static_cast<std::size_t>(i)], x.extent(at)));
    std::int64_t position = index * strides[at];
    for (std::size_t k = 0; k < shape.size(); ++k)
      if (k != at) position += i / own[k] % shape[k] * strides[k];
    copy_run(x, position, y, i, 1);
  }
  return {};
}

Result<void> gather_nd_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const Tensor index_tensor, call.tensor(1));
  HONE_TRY(const Integers indices, index_tensor.to_ints());
  const std::int64_t batch_axes = call.attributes.integer("batch_dims", 0);
  HONE_TRY(const Shape shape, gather_nd_rule(x.shape(), index_tensor.shape(), batch_axes));
  HONE_TRY(Tensor y, call.output(0, x.type(), shape));
  const Integers strides = strides_of(x.shape());
  const std::int64_t depth = index_tensor.shape().back(), tuples = index_tensor.size() / depth;
  if (y.size() == 0) return {};
  const std::int64_t run = y.size() / tuples;
  std::int64_t batches = 1;
  for (std::int64_t i = 0; i < batch_axes; ++i) batches *= x.extent(static_cast<std::size_t>(i));
  const std::int64_t batch_size = x.size() / batches, tuples_per_batch = tuples / batches;
  for (std::int64_t i = 0; i < tuples; ++i) {
    std::int64_t position = i / tuples_per_batch * batch_size;
    for (std::int64_t k = 0; k < depth; ++k) {
      const auto axis = static_cast<std::size_t>(batch_axes + k);
      HONE_TRY(const std::int64_t index,
               normalize_index(indices[static_cast<std::size_t>(i * depth + k)], x.extent(axis)));
      position += index * strides[axis];
    }
    copy_run(x, position, y, i * run, run);
  }
  return {};
}

Result<void> one_hot_kernel(HostCall& call) {
  HONE_TRY(const Tensor index_tensor, call.tensor(0));
  HONE_TRY(const Tensor depth_tensor, call.tensor(1));
  HONE_TRY(const Tensor values, call.tensor(2));
  HONE_TRY(const std::vector<double> indices, index_tensor.to_doubles());
  HONE_TRY(const std::vector<double> depths, depth_tensor.to_doubles());
  if (depths.size() != 1 || values.size() != 2)
    return bad("{} depths and {} values, allowed are 1 and 2", depths.size(), values.size());
  const auto depth = static_cast<std::int64_t>(depths[0]);
  HONE_TRY(const std::int64_t axis, normalize_axis(call.attributes.integer("axis", -1), index_tensor.rank() + 1));
  Shape shape = index_tensor.shape();
  shape.insert(shape.begin() + axis, depth);
  HONE_TRY(Tensor y, call.output(0, values.type(), shape));
  fill(y, values, 0);
  const std::int64_t inner = strides_of(shape)[static_cast<std::size_t>(axis)];
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto index = static_cast<std::int64_t>(indices[i]);
    const std::int64_t wrapped = index < 0 ? index + depth : index, at = static_cast<std::int64_t>(i);
    if (wrapped >= 0 && wrapped < depth) copy_run(values, 1, y, (at / inner * depth + wrapped) * inner + at % inner, 1);
  }
  return {};
}

Result<void> compress_kernel(HostCall& call) {
  HONE_TRY(Tensor x, call.tensor(0));
  HONE_TRY(const Integers condition, ints(call, 1));
  if (!call.attributes.has("axis")) x = x.reshaped({x.size()});
  HONE_TRY(const std::int64_t axis, normalize_axis(call.attributes.integer("axis", 0), x.rank()));
  const auto at = static_cast<std::size_t>(axis);
  if (static_cast<std::int64_t>(condition.size()) > x.extent(at))
    return bad("a condition of {} elements for an axis of extent {}", condition.size(), x.extent(at));
  const Integers strides = strides_of(x.shape());
  Shape shape = x.shape();
  shape[at] = std::count_if(condition.begin(), condition.end(), [](std::int64_t c) { return c != 0; });
  HONE_TRY(Tensor y, call.output(0, x.type(), shape));
  Shape extents = shape;
  extents[at] = 1;
  const Integers targets = strides_of(shape);
  std::int64_t next = 0;
  for (std::size_t i = 0; i < condition.size(); ++i)
    if (condition[i])
      copy_box(x, {static_cast<std::int64_t>(i) * strides[at], strides}, y, {next++ * targets[at], targets}, extents);
  return {};
}

}  // namespace hone::runtime
