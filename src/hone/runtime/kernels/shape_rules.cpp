#include "hone/runtime/kernels/shape_rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "hone/runtime/kernels/bad.h"

namespace hone::runtime {
namespace {

std::string show(const Integers& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

/// The given axes, or all.
Result<Integers> axes_or_all(const std::optional<Integers>& axes, std::size_t rank) {
  if (axes) return normalize_axes(*axes, rank);
  Integers all(rank);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Result<std::int64_t> normalize_index(std::int64_t index, std::int64_t extent) {
  if (index < -extent || index >= extent) return bad("index {} is outside [{}, {})", index, -extent, extent);
  return index < 0 ? index + extent : index;
}

Result<std::int64_t> normalize_axis(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) return bad("axis {} is outside [{}, {})", axis, -count, count);
  return axis < 0 ? axis + count : axis;
}

Result<Integers> normalize_axes(const Integers& axes, std::size_t rank) {
  Integers result;
  for (const std::int64_t given : axes) {
    HONE_TRY(const std::int64_t axis, normalize_axis(given, rank));
    if (std::find(result.begin(), result.end(), axis) != result.end())
      return bad("axis {} stands twice in {}", axis, show(axes));
    result.push_back(axis);
  }
  return result;
}

Result<Shape> reshape_rule(const Shape& from, const Integers& wanted, bool are_zeros_allowed) {
  HONE_TRY(const std::int64_t size, element_count(from));
  Shape to = wanted;
  std::size_t open = to.size();
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0 && !are_zeros_allowed) {
      if (i >= from.size())
        return bad("the shape {} copies axis {}, the input has {} axes", show(wanted), i, from.size());
      to[i] = from[i];
    }
    if (to[i] != -1) continue;
    if (open != to.size()) return bad("the shape {} has -1 twice, allowed is once", show(wanted));
    open = i;
  }
  if (open != to.size()) {
    to[open] = 1;
    HONE_TRY(const std::int64_t others, element_count(to));
    if (others == 0 ? size != 0 : size % others != 0)
      return bad("{} elements cannot have the shape {}", size, show(wanted));
    to[open] = others == 0 ? 0 : size / others;
  }
  HONE_TRY(const std::int64_t count, element_count(to));
  if (count != size) return bad("{} elements of shape {} cannot have the shape {}", size, show(from), show(wanted));
  return to;
}

Result<Shape> flatten_rule(const Shape& from, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(from.size());
  if (axis < -rank || axis > rank) return bad("axis {} is outside [{}, {}]", axis, -rank, rank);
  const auto middle = from.begin() + (axis < 0 ? axis + rank : axis);
  HONE_TRY(const std::int64_t rows, element_count(Shape(from.begin(), middle)));
  HONE_TRY(const std::int64_t columns, element_count(Shape(middle, from.end())));
  return Shape{rows, columns};
}

Result<Shape> squeeze_rule(const Shape& from, const Integers& axes) {
  HONE_TRY(const Integers removed, normalize_axes(axes, from.size()));
  Shape to;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool is_named = std::find(removed.begin(), removed.end(), static_cast<std::int64_t>(i)) != removed.end();
    if (is_named && from[i] != 1) return bad("axis {} has extent {}, only extent 1 can be squeezed", i, from[i]);
    if (!is_named && !(axes.empty() && from[i] == 1)) to.push_back(from[i]);
  }
  return to;
}

Result<Shape> unsqueeze_rule(const Shape& from, const Integers& axes) {
  const std::size_t rank = from.size() + axes.size();
  HONE_TRY(const Integers added, normalize_axes(axes, rank));
  Shape to;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool is_new = std::find(added.begin(), added.end(), static_cast<std::int64_t>(i)) != added.end();
    to.push_back(is_new ? 1 : from[next++]);
  }
  return to;
}

Result<Shape> broadcast_rule(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return bad("shapes {} and {} do not broadcast", show(a), show(b));
    shape[shape.size() - 1 - i] = x == 1 ? y : x;
  }
  HONE_TRY(element_count(shape));
  return shape;
}

Result<Shape> tile_rule(const Shape& shape, const Integers& repeats) {
  if (repeats.size() != shape.size()) return bad("{} repeats for {} axes", repeats.size(), shape.size());
  Shape result = shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (repeats[i] < 0 || __builtin_mul_overflow(shape[i], repeats[i], &result[i]))
      return bad("repeats {} at axis {} of extent {}", repeats[i], i, shape[i]);
  }
  HONE_TRY(element_count(result));
  return result;
}

Result<Integers> permutation_rule(const Integers& wanted, std::size_t rank) {
  if (wanted.empty()) {
    Integers order(rank);
    std::iota(order.rbegin(), order.rend(), 0);
    return order;
  }
  if (wanted.size() != rank) return bad("perm {} has {} entries for {} axes", show(wanted), wanted.size(), rank);
  return normalize_axes(wanted, rank);
}

Result<std::vector<AxisRange>> slice_rule(const Shape& shape, const Integers& starts, const Integers& ends,
                                          const std::optional<Integers>& axes, const std::optional<Integers>& steps) {
  if (starts.size() != ends.size() || (axes && axes->size() != starts.size()) ||
      (steps && steps->size() != starts.size()))
    return bad("{} starts, {} ends, {} axes and {} steps, they must be as many", starts.size(), ends.size(),
               axes ? axes->size() : starts.size(), steps ? steps->size() : starts.size());
  if (starts.size() > shape.size()) return bad("{} starts for {} axes", starts.size(), shape.size());
  Integers first_axes(starts.size());
  std::iota(first_axes.begin(), first_axes.end(), 0);
  HONE_TRY(const Integers sliced, normalize_axes(axes ? *axes : first_axes, shape.size()));
  std::vector<AxisRange> ranges;
  for (const std::int64_t extent : shape) ranges.push_back({0, 1, extent});
  for (std::size_t i = 0; i < sliced.size(); ++i) {
    AxisRange& range = ranges[static_cast<std::size_t>(sliced[i])];
    const std::int64_t extent = range.count, step = steps ? (*steps)[i] : 1;
    if (step == 0) return bad("step 0 at axis {}, allowed is any other", sliced[i]);
    // ends are clamped to what lies just outside the axis, in the direction of the step
    const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? extent : extent - 1;
    const auto place = [&](std::int64_t at) { return std::clamp(at < 0 ? at + extent : at, lowest, highest); };
    const std::int64_t start = place(starts[i]), end = place(ends[i]);
    // a step longer than the axis takes one element, and its negative must exist
    const std::int64_t bounded = std::clamp(step, -extent - 1, extent + 1);
    const std::int64_t distance = bounded > 0 ? end - start : start - end, stride = bounded > 0 ? bounded : -bounded;
    range = {start, bounded, distance > 0 ? (distance + stride - 1) / stride : 0};
  }
  return ranges;
}

Result<Integers> split_rule(std::int64_t extent, std::size_t parts, const std::optional<Integers>& sizes) {
  if (!sizes) {
    if (parts == 0) return bad("0 outputs, allowed is 1 and more");
    const auto count = static_cast<std::int64_t>(parts);
    const std::int64_t each = (extent + count - 1) / count;
    Integers result;
    for (std::int64_t i = 0; i < count; ++i) result.push_back(std::clamp<std::int64_t>(extent - i * each, 0, each));
    return result;
  }
  if (sizes->size() != parts) return bad("split {} has {} entries for {} outputs", show(*sizes), sizes->size(), parts);
  std::int64_t sum = 0;
  for (const std::int64_t size : *sizes)
    if (size < 0 || __builtin_add_overflow(sum, size, &sum))
      return bad("split {} has an impossible size", show(*sizes));
  if (sum != extent) return bad("split {} has the sum {}, the axis has extent {}", show(*sizes), sum, extent);
  return *sizes;
}

Result<Padding> pad_rule(const Shape& shape, const Integers& pads, const std::optional<Integers>& axes) {
  HONE_TRY(const Integers padded, axes_or_all(axes, shape.size()));
  if (pads.size() != 2 * padded.size())
    return bad("{} pads for {} axes, two each are needed", pads.size(), padded.size());
  Padding padding{Integers(shape.size(), 0), Integers(shape.size(), 0)};
  for (std::size_t i = 0; i < padded.size(); ++i) {
    const auto axis = static_cast<std::size_t>(padded[i]);
    padding.before[axis] = pads[i];
    padding.after[axis] = pads[padded.size() + i];
    const auto is_sane = [](std::int64_t amount) {
      return amount > -(std::int64_t{1} << 40) && amount < (std::int64_t{1} << 40);
    };
    const std::int64_t before = padding.before[axis], after = padding.after[axis];
    if (!is_sane(before) || !is_sane(after) || shape[axis] + before + after < 0)
      return bad("pads {} and {} at axis {} of extent {} leave no possible extent", before, after, axis, shape[axis]);
  }
  HONE_TRY(element_count(padded_shape(shape, padding)));
  return padding;
}

Result<Padding> center_crop_rule(const Shape& shape, const Integers& wanted, const std::optional<Integers>& axes) {
  HONE_TRY(const Integers changed, axes_or_all(axes, shape.size()));
  if (wanted.size() != changed.size())
    return bad("the shape {} has {} entries for {} axes", show(wanted), wanted.size(), changed.size());
  Padding padding{Integers(shape.size(), 0), Integers(shape.size(), 0)};
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const auto axis = static_cast<std::size_t>(changed[i]);
    if (wanted[i] < 0) return bad("the shape {} has extent {}, allowed is 0 and more", show(wanted), wanted[i]);
    const std::int64_t difference = wanted[i] - shape[axis];
    padding.before[axis] = difference / 2;  // towards zero: half a pixel to the left in both cases
    padding.after[axis] = difference - padding.before[axis];
  }
  HONE_TRY(element_count(padded_shape(shape, padding)));
  return padding;
}

Shape padded_shape(const Shape& shape, const Padding& padding) {
  Shape result = shape;
  for (std::size_t i = 0; i < shape.size(); ++i) result[i] += padding.before[i] + padding.after[i];
  return result;
}

Result<Shape> gather_rule(const Shape& data, const Shape& indices, std::int64_t axis) {
  const auto at = static_cast<std::size_t>(axis);
  HONE_CHECK(at < data.size(), "gather along axis {} of {}", axis, data.size());
  Shape shape = data;
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, indices.begin(), indices.end());
  HONE_TRY(const std::int64_t count, element_count(shape));
  if (data[at] == 0 && count > 0) return bad("axis {} of {} is empty, nothing can be taken from it", axis, show(data));
  return shape;
}

Result<Shape> gather_nd_rule(const Shape& data, const Shape& indices, std::int64_t batch_axes) {
  const auto batch = static_cast<std::size_t>(batch_axes);
  if (batch_axes < 0 || indices.empty() || batch >= indices.size() || batch >= data.size())
    return bad("batch_dims {} of data {} and indices {}", batch_axes, show(data), show(indices));
  if (!std::equal(data.begin(), data.begin() + batch_axes, indices.begin()))
    return bad("the first {} extents of data {} and indices {} differ", batch_axes, show(data), show(indices));
  const std::int64_t depth = indices.back();
  if (depth < 1 || depth > static_cast<std::int64_t>(data.size() - batch))
    return bad("indices of {} numbers, allowed are 1 to {}", depth, data.size() - batch);
  Shape shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), data.begin() + batch_axes + depth, data.end());
  HONE_TRY(const std::int64_t count, element_count(shape));
  for (std::int64_t i = batch_axes; i < batch_axes + depth; ++i)
    if (count > 0 && data[static_cast<std::size_t>(i)] == 0)
      return bad("axis {} of {} is empty, nothing can be taken from it", i, show(data));
  return shape;
}

}  // namespace hone::runtime
