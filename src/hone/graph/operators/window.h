/// Windows: how the attributes of convolutions and pools say where a kernel goes.
#pragma once

#include <vector>

#include "hone/graph/operator.h"

namespace hone::graph {

/// Lists of one entry per spatial axis, complete and checked.
struct WindowSpec {
  std::vector<std::int64_t> kernel, strides, before, after, dilations;
  /// Rows beyond `after` that the last window reaches into if positions are rounded up (`ceil_mode`).
  std::vector<std::int64_t> overhang;

  std::size_t rank() const { return kernel.size(); }
  /// How many elements the kernel spans along an axis.
  std::int64_t span(std::size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  /// `after` with the overhang.
  std::vector<std::int64_t> reach() const;
};

/// Reads strides, dilations, pads, auto_pad and ceil_mode for a kernel over input 0, which is [batch, channel, ...].
Result<WindowSpec> window_of(const Application& op, std::vector<std::int64_t> kernel);

/// The attribute kernel_shape, one entry per spatial axis of input 0.
Result<std::vector<std::int64_t>> kernel_shape(const Application& op);

/// The extents of the kernel in a weight; the attribute kernel_shape must agree if it is there.
Result<std::vector<std::int64_t>> kernel_of_weight(const Application& op, std::size_t weight);

/// How auto_pad shares an odd padding: the larger part before (SAME_LOWER) or after.
struct Sides {
  std::int64_t before, after;
};
Sides share(std::int64_t total, bool more_before);

}  // namespace hone::graph
