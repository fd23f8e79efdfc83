#include "hone/tensor/shapes.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace hone::tensor {

using ir::Expr;

std::string show_shape(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Result<std::size_t> normalize_axis(std::string_view what, int axis, std::size_t rank) {
  const int count = static_cast<int>(rank);
  if (axis < -count || axis >= count)
    return error(ErrorCode::InvalidArgument, "{}: axis {} of a tensor of {} axes, allowed are {}..{}", what, axis,
                 count, -count, count - 1);
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

Result<Shape> broadcast(std::string_view what, const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (std::size_t from_end = 1; from_end <= rank; ++from_end) {
    const std::int64_t x = from_end <= a.size() ? a[a.size() - from_end] : 1;
    const std::int64_t y = from_end <= b.size() ? b[b.size() - from_end] : 1;
    if (x != y && x != 1 && y != 1)
      return error(ErrorCode::InvalidArgument,
                   "{}: shapes {} and {} do not broadcast: extents {} and {} must be equal, or one of them 1", what,
                   show_shape(a), show_shape(b), x, y);
    result[rank - from_end] = x == 1 ? y : x;
  }
  return result;
}

Expr broadcast_at(const Tensor& x, const Indices& indices) {
  Indices own(indices.end() - static_cast<std::ptrdiff_t>(x.rank()), indices.end());
  for (std::size_t axis = 0; axis < own.size(); ++axis)
    if (x.extent(axis) == 1) own[axis] = ir::imm(0);
  return x(std::move(own));
}

Result<void> expect_float(std::string_view what, const Tensor& x) {
  if (!x.type().is_float())
    return error(ErrorCode::InvalidArgument, "{}: '{}' has type {}, allowed are f16, bf16, f32 and f64", what, x.name(),
                 ir::to_string(x.type()));
  return {};
}

Result<void> expect_equal_types(std::string_view what, const Tensor& a, const Tensor& b) {
  if (a.type() != b.type())
    return error(ErrorCode::InvalidArgument, "{}: types {} of '{}' and {} of '{}' differ, they must be equal", what,
                 ir::to_string(a.type()), a.name(), ir::to_string(b.type()), b.name());
  return {};
}

std::string spatial_name(std::size_t axis, std::size_t count) {
  constexpr std::string_view kNames = "zyx";
  if (count > kNames.size()) return fmt::format("s{}", axis);
  return std::string(1, kNames[kNames.size() - count + axis]);
}

namespace {

/// Replaces an empty list by defaults, and checks length and lower bound.
Result<std::vector<std::int64_t>> complete(std::string_view what, std::string_view list, std::size_t rank,
                                           std::vector<std::int64_t> values, std::int64_t default_value,
                                           std::int64_t lowest) {
  if (values.empty()) values.assign(rank, default_value);
  if (values.size() != rank)
    return error(ErrorCode::InvalidArgument, "{}: {} {} for {} spatial axes, allowed is one for each or none", what,
                 values.size(), list, rank);
  for (const std::int64_t value : values)
    if (value < lowest)
      return error(ErrorCode::InvalidArgument, "{}: {} {} contain {}, allowed is {} and more", what, list,
                   show_shape(values), value, lowest);
  return values;
}

}  // namespace

Result<Window> make_window(std::string_view what, Shape kernel, std::vector<std::int64_t> strides,
                           std::vector<std::int64_t> before, std::vector<std::int64_t> after,
                           std::vector<std::int64_t> dilations) {
  const std::size_t rank = kernel.size();
  Window window;
  HONE_TRY(window.kernel, complete(what, "kernel extents", rank, std::move(kernel), 1, 1));
  HONE_TRY(window.strides, complete(what, "strides", rank, std::move(strides), 1, 1));
  HONE_TRY(window.before, complete(what, "paddings before", rank, std::move(before), 0, 0));
  HONE_TRY(window.after, complete(what, "paddings after", rank, std::move(after), 0, 0));
  HONE_TRY(window.dilations, complete(what, "dilations", rank, std::move(dilations), 1, 1));
  return window;
}

Result<Shape> window_positions(std::string_view what, const Shape& x, const Window& window) {
  Shape positions;
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    const std::int64_t padded = x[2 + axis] + window.before[axis] + window.after[axis];
    if (padded < window.span(axis))
      return error(ErrorCode::InvalidArgument,
                   "{}: the kernel spans {} elements of axis {}, which has {} with its padding, allowed are 1..{}",
                   what, window.span(axis), 2 + axis, padded, padded);
    positions.push_back((padded - window.span(axis)) / window.strides[axis] + 1);
  }
  return positions;
}

Tensor pad_spatial(const Tensor& x, const Window& window, const Expr& value) {
  Shape shape = x.shape();
  bool has_padding = false;
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    shape[2 + axis] += window.before[axis] + window.after[axis];
    has_padding = has_padding || window.before[axis] != 0 || window.after[axis] != 0;
  }
  if (!has_padding) return x;
  return compute("pad", axes_of(shape), [&](const Indices& i) {
    Indices inside = i;
    Expr is_inside;
    for (std::size_t axis = 0; axis < window.rank(); ++axis) {
      if (window.before[axis] == 0 && window.after[axis] == 0) continue;
      inside[2 + axis] = i[2 + axis] - window.before[axis];
      const Expr here = ir::logical_and(inside[2 + axis] >= 0, inside[2 + axis] < x.extent(2 + axis));
      is_inside = is_inside ? ir::logical_and(is_inside, here) : here;
    }
    return ir::select(is_inside, x(inside), value);
  });
}

Indices window_indices(const Window& window, const Indices& position, const Indices& offset) {
  Indices result;
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    const Expr start = window.strides[axis] == 1 ? position[axis] : position[axis] * window.strides[axis];
    result.push_back(start + (window.dilations[axis] == 1 ? offset[axis] : offset[axis] * window.dilations[axis]));
  }
  return result;
}

}  // namespace hone::tensor
