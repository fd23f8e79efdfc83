#include <algorithm>

#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::tensor {

using ir::Expr;

namespace {

struct PoolSetup {
  Window window;
  std::vector<Axis> axes, kernel_axes;
};

Result<PoolSetup> set_up(std::string_view what, const Tensor& x, const PoolOptions& options) {
  if (x.rank() < 3 || options.kernel.size() + 2 != x.rank())
    return error(ErrorCode::InvalidArgument,
                 "{}: a kernel of {} axes for a tensor of {}, allowed is 1 and more, 2 less than the tensor's", what,
                 options.kernel.size(), x.rank());
  PoolSetup setup;
  HONE_TRY(setup.window, make_window(what, options.kernel, options.strides, options.padding_before,
                                     options.padding_after, options.dilations));
  HONE_TRY(const Shape positions, window_positions(what, x.shape(), setup.window));
  setup.axes = {{"n", x.extent(0)}, {"c", x.extent(1)}};
  for (std::size_t axis = 0; axis < positions.size(); ++axis) {
    const std::string name = spatial_name(axis, positions.size());
    setup.axes.emplace_back(name, positions[axis]);
    setup.kernel_axes.emplace_back("k" + name, setup.window.kernel[axis]);
  }
  return setup;
}

Indices input_indices(const Window& window, const Indices& i, const Indices& offset) {
  Indices indices = {i[0], i[1]};
  for (Expr& index : window_indices(window, Indices(i.begin() + 2, i.end()), offset))
    indices.push_back(std::move(index));
  return indices;
}

Expr ceil_quotient(const Expr& a, std::int64_t b) { return b == 1 ? a : ir::floor_div(a + (b - 1), b); }

/// How many elements of the window at `i` lie in [first, end) of each axis of the input.
Expr count_inside(const Window& window, const Indices& i, const Shape& firsts, const Shape& ends) {
  Expr count = ir::imm(1);
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    const Expr start = i[2 + axis] * window.strides[axis] - window.before[axis];
    const Expr first = ir::max(ceil_quotient(ir::imm(firsts[axis]) - start, window.dilations[axis]), ir::imm(0));
    const Expr end =
        ir::min(ceil_quotient(ir::imm(ends[axis]) - start, window.dilations[axis]), ir::imm(window.kernel[axis]));
    const Expr here = ir::max(end - first, ir::imm(0));
    count = axis == 0 ? here : count * here;
  }
  return count;
}

}  // namespace

Result<Tensor> max_pool(const Tensor& x, const PoolOptions& options) {
  HONE_TRY(const PoolSetup setup, set_up("max pool", x, options));
  const Tensor padded = pad_spatial(x, setup.window, lowest(x.type()));
  return compute("max_pool", setup.axes, [&](const Indices& i) {
    return reduce_max(setup.kernel_axes, [&](const Indices& r) { return padded(input_indices(setup.window, i, r)); });
  });
}

Result<Tensor> average_pool(const Tensor& x, const PoolOptions& options) {
  HONE_TRY(expect_float("average pool", x));
  HONE_TRY(const PoolSetup setup, set_up("average pool", x, options));
  const Tensor padded = pad_spatial(x, setup.window, ir::constant(x.type(), 0.0));
  const Tensor sum = compute("pool_sum", setup.axes, [&](const Indices& i) {
    return reduce_sum(setup.kernel_axes, [&](const Indices& r) { return padded(input_indices(setup.window, i, r)); });
  });
  std::int64_t kernel_size = 1;
  for (const std::int64_t extent : setup.window.kernel) kernel_size *= extent;
  const bool is_included = options.pad_count == PadCount::Included;
  const bool is_whole = std::all_of(options.uncounted_after.begin(), options.uncounted_after.end(),
                                    [](std::int64_t rows) { return rows == 0; });
  Shape firsts, ends;  // what counts, in indices of the input
  for (std::size_t axis = 0; axis < setup.window.rank(); ++axis) {
    const std::int64_t rows = is_whole ? 0 : options.uncounted_after[axis];
    firsts.push_back(is_included ? -setup.window.before[axis] : 0);
    ends.push_back(x.extent(2 + axis) + (is_included ? setup.window.after[axis] - rows : 0));
  }
  return compute("average_pool", axes_of(sum.shape()), [&](const Indices& i) {
    if (is_included && is_whole) return sum(i) / ir::constant(x.type(), kernel_size);
    return sum(i) / ir::cast(x.type(), ir::max(count_inside(setup.window, i, firsts, ends), ir::imm(1)));
  });
}

}  // namespace hone::tensor
