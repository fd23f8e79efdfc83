/// Checks of shapes and options that several definitions share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/support/result.h"
#include "hone/tensor/tensor.h"

namespace hone::tensor {

/// "[2, 3]".
std::string show_shape(const Shape& shape);

/// The axis counted from the front.
Result<std::size_t> normalize_axis(std::string_view what, int axis, std::size_t rank);

/// The shape that two shapes broadcast to.
Result<Shape> broadcast(std::string_view what, const Shape& a, const Shape& b);

/// The element of `x` that stands at `indices` of a broadcast result.
ir::Expr broadcast_at(const Tensor& x, const Indices& indices);

Result<void> expect_float(std::string_view what, const Tensor& x);
Result<void> expect_equal_types(std::string_view what, const Tensor& a, const Tensor& b);

/// The name of a spatial axis out of `count`: x for one, y and x for two, z, y and x for three, then s0, s1, …
std::string spatial_name(std::size_t axis, std::size_t count);

/// A window that slides over spatial axes: lists of one entry per axis, all checked.
struct Window {
  std::vector<std::int64_t> kernel, strides, before, after, dilations;

  std::size_t rank() const { return kernel.size(); }
  /// How many elements the kernel spans along an axis.
  std::int64_t span(std::size_t axis) const { return kernel[axis] == 0 ? 0 : (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// Fills in defaults and checks that all lists have the kernel's length and hold allowed values.
Result<Window> make_window(std::string_view what, Shape kernel, std::vector<std::int64_t> strides,
                           std::vector<std::int64_t> before, std::vector<std::int64_t> after,
                           std::vector<std::int64_t> dilations);

/// How many positions the window has along each spatial axis of x[batch, channel, ...].
Result<Shape> window_positions(std::string_view what, const Shape& x, const Window& window);

/// The input of a window operator with its padding as a stage of its own, or `x` itself if there is none.
Tensor pad_spatial(const Tensor& x, const Window& window, const ir::Expr& value);

/// Where the window at `position` reads along each spatial axis, for offsets within the kernel.
Indices window_indices(const Window& window, const Indices& position, const Indices& offset);

}  // namespace hone::tensor
