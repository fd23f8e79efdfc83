#include "hone/graph/operators/window.h"

#include <algorithm>

#include "hone/tensor/shapes.h"

namespace hone::graph {
namespace {

using Ints = std::vector<std::int64_t>;

Result<Ints> list_of(const Application& op, std::string_view name, std::size_t count, std::int64_t fallback,
                     std::int64_t lowest) {
  Ints values = op.integers(name);
  if (values.empty()) values.assign(count, fallback);
  if (values.size() != count) return op.fail("{} has {} entries, allowed are {}", name, values.size(), count);
  for (const std::int64_t value : values)
    if (value < lowest || value > (std::int64_t{1} << 31))
      return op.fail("{} contains {}, allowed is {} and more", name, value, lowest);
  return values;
}

/// Rounds positions up, unless the last window would start in the padding after the input.
std::int64_t overhang(std::int64_t extent, const WindowSpec& window, std::size_t axis) {
  const std::int64_t padded = extent + window.before[axis] + window.after[axis], stride = window.strides[axis];
  const std::int64_t rest = padded - window.span(axis);
  if (rest < 0) return 0;
  const std::int64_t last = (rest + stride - 1) / stride * stride;  // where the last window starts
  return last >= extent + window.before[axis] ? 0 : last - rest;
}

}  // namespace

std::vector<std::int64_t> WindowSpec::reach() const {
  Ints sums = after;
  for (std::size_t axis = 0; axis < sums.size(); ++axis) sums[axis] += overhang[axis];
  return sums;
}

Sides share(std::int64_t total, bool more_before) {
  const std::int64_t less = total / 2;
  return more_before ? Sides{total - less, less} : Sides{less, total - less};
}

Result<WindowSpec> window_of(const Application& op, Ints kernel) {
  const std::size_t rank = kernel.size();
  WindowSpec window;
  window.kernel = std::move(kernel);
  HONE_TRY(window.strides, list_of(op, "strides", rank, 1, 1));
  HONE_TRY(window.dilations, list_of(op, "dilations", rank, 1, 1));
  const std::string auto_pad = op.text("auto_pad", "NOTSET");
  window.before.assign(rank, 0);
  window.after.assign(rank, 0);
  window.overhang.assign(rank, 0);
  if (auto_pad == "NOTSET" || auto_pad.empty()) {
    HONE_TRY(const Ints pads, list_of(op, "pads", 2 * rank, 0, 0));
    const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
    std::copy(pads.begin(), middle, window.before.begin());
    std::copy(middle, pads.end(), window.after.begin());
    for (std::size_t axis = 0; axis < rank && op.integer("ceil_mode", 0) != 0; ++axis)
      window.overhang[axis] = overhang(op.shape(0)[2 + axis], window, axis);
  } else if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t extent = op.shape(0)[2 + axis], stride = window.strides[axis];
      const std::int64_t positions = (extent + stride - 1) / stride;
      const std::int64_t total = std::max<std::int64_t>((positions - 1) * stride + window.span(axis) - extent, 0);
      const Sides sides = share(total, auto_pad == "SAME_LOWER");
      window.before[axis] = sides.before;
      window.after[axis] = sides.after;
    }
  } else if (auto_pad != "VALID") {
    return op.fail("auto_pad '{}', allowed are NOTSET, SAME_UPPER, SAME_LOWER and VALID", auto_pad);
  }
  return window;
}

Result<Ints> kernel_shape(const Application& op) {
  if (op.rank(0) < 3) return op.fail("an input of {} axes, allowed is 3 and more", op.rank(0));
  if (op.integers("kernel_shape").empty()) return op.fail("kernel_shape is missing");
  return list_of(op, "kernel_shape", static_cast<std::size_t>(op.rank(0) - 2), 1, 1);
}

Result<Ints> kernel_of_weight(const Application& op, std::size_t weight) {
  const tensor::Shape& shape = op.shape(weight);
  if (op.rank(0) < 3 || shape.size() != op.shape(0).size())
    return op.fail("an input of {} axes and a weight of {}, they must be equal, 3 and more", op.rank(0), shape.size());
  const Ints kernel(shape.begin() + 2, shape.end()), stated = op.integers("kernel_shape");
  if (!stated.empty() && stated != kernel)
    return op.fail("kernel_shape {} differs from {} of the weight", tensor::show_shape(stated),
                   tensor::show_shape(kernel));
  if (std::find_if(kernel.begin(), kernel.end(), [](std::int64_t extent) { return extent < 1; }) != kernel.end())
    return op.fail("a kernel of shape {}, allowed is 1 and more", tensor::show_shape(kernel));
  return kernel;
}

}  // namespace hone::graph
