#include <algorithm>

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/graph/operators/window.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using ir::Intrinsic;
using tensor::Indices;
using tensor::Tensor;

namespace {

/// A pool's window, and the same as the definitions of tensors want it.
struct Pool {
  WindowSpec spec;
  tensor::PoolOptions options;
};

Result<Pool> pool_of(const Application& op) {
  HONE_TRY(std::vector<std::int64_t> kernel, kernel_shape(op));
  Pool pool;
  HONE_TRY(pool.spec, window_of(op, std::move(kernel)));
  pool.options = {.kernel = pool.spec.kernel,
                  .strides = pool.spec.strides,
                  .padding_before = pool.spec.before,
                  .padding_after = pool.spec.reach(),
                  .dilations = pool.spec.dilations,
                  .uncounted_after = pool.spec.overhang};
  return pool;
}

Result<tensor::Window> tensor_window(const Application& op, const WindowSpec& spec) {
  return tensor::make_window(op.op(), spec.kernel, spec.strides, spec.before, spec.reach(), spec.dilations);
}

/// The axes of the result, and those of the kernel.
struct PoolAxes {
  std::vector<tensor::Axis> result, kernel;
};

Result<PoolAxes> axes_of_pool(const Application& op, const tensor::Window& window) {
  HONE_TRY(const tensor::Shape positions, tensor::window_positions(op.op(), op.shape(0), window));
  PoolAxes axes{.result = {{"n", op.shape(0)[0]}, {"c", op.shape(0)[1]}}, .kernel = {}};
  for (std::size_t axis = 0; axis < positions.size(); ++axis) {
    axes.result.emplace_back(tensor::spatial_name(axis, positions.size()), positions[axis]);
    axes.kernel.emplace_back("k" + tensor::spatial_name(axis, positions.size()), window.kernel[axis]);
  }
  return axes;
}

Result<std::vector<Tensor>> define_average_pool(const Application& op) {
  HONE_TRY(Pool pool, pool_of(op));
  if (op.integer("count_include_pad", 0) != 0) pool.options.pad_count = tensor::PadCount::Included;
  const Tensor& x = op.tensor(0);
  HONE_TRY(const Tensor y, tensor::average_pool(converted(x, accumulator_type(x.type())), pool.options));
  return std::vector<Tensor>{converted(y, x.type())};
}

/// The place of each window's first largest element, in the flattened input.
Result<std::vector<Tensor>> max_pool_with_places(const Application& op, const Pool& pool) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const tensor::Window window, tensor_window(op, pool.spec));
  HONE_TRY(const PoolAxes axes, axes_of_pool(op, window));
  const auto input_at = [&](const Indices& i, const Indices& offset) {
    Indices at = tensor::window_indices(window, Indices(i.begin() + 2, i.end()), offset);
    for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] = at[axis] - window.before[axis];
    return at;
  };
  const std::vector<Tensor> found = tensor::compute_all({"max_pool", "place"}, axes.result, [&](const Indices& i) {
    return tensor::reduce_argmax(axes.kernel, [&](const Indices& r) {
      Indices at = {i[0], i[1]};
      Expr is_inside = ir::boolean(true);
      const Indices spatial = input_at(i, r);
      for (std::size_t axis = 0; axis < spatial.size(); ++axis) {
        at.push_back(spatial[axis]);
        const Expr here = ir::logical_and(spatial[axis] >= 0, spatial[axis] < x.extent(2 + axis));
        is_inside = axis == 0 ? here : ir::logical_and(is_inside, here);
      }
      return ir::select(is_inside, x(at), tensor::lowest(x.type()));
    });
  });
  const bool is_row_major = op.integer("storage_order", 0) == 0;
  const Tensor places = tensor::compute("indices", axes.result, [&](const Indices& i) {
    Expr place = found[1](i);
    Indices offset(window.rank());
    for (std::size_t axis = window.rank(); axis-- > 0;) {
      offset[axis] = ir::floor_mod(place, window.kernel[axis]);
      place = ir::floor_div(place, window.kernel[axis]);
    }
    const Indices at = input_at(i, offset);
    Expr within = ir::imm(0);
    std::int64_t size = 1;
    for (std::size_t n = 0; n < at.size(); ++n) {
      const std::size_t axis = is_row_major ? at.size() - 1 - n : n;
      within = within + at[axis] * size;
      size *= x.extent(2 + axis);
    }
    return (i[0] * x.extent(1) + i[1]) * size + within;
  });
  return std::vector<Tensor>{found[0], places};
}

Result<std::vector<Tensor>> define_max_pool(const Application& op) {
  HONE_TRY(const Pool pool, pool_of(op));
  if (op.output_count() > 1) return max_pool_with_places(op, pool);
  HONE_TRY(const Tensor y, tensor::max_pool(op.tensor(0), pool.options));
  return std::vector<Tensor>{y};
}

/// |e|^p of an element, and the root of the sum.
Expr raised(const Expr& e, std::int64_t p) {
  const Expr magnitude = ir::call(Intrinsic::Abs, {e});
  if (p == 1) return magnitude;
  return p == 2 ? e * e : ir::call(Intrinsic::Pow, {magnitude, ir::constant(e.type(), p)});
}
Expr root(const Expr& e, std::int64_t p) {
  if (p == 1) return e;
  if (p == 2) return ir::call(Intrinsic::Sqrt, {e});
  return ir::call(Intrinsic::Pow, {e, ir::constant(e.type(), 1.0 / static_cast<double>(p))});
}

Result<std::int64_t> order_of_norm(const Application& op) {
  const std::int64_t p = op.integer("p", 2);
  if (p < 1) return op.fail("p {}, allowed is 1 and more", p);
  return p;
}

Result<std::vector<Tensor>> define_lp_pool(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const std::int64_t p, order_of_norm(op));
  HONE_TRY(const Pool pool, pool_of(op));
  HONE_TRY(const tensor::Window window, tensor_window(op, pool.spec));
  HONE_TRY(const PoolAxes axes, axes_of_pool(op, window));
  const Tensor wide = converted(x, accumulator_type(x.type()));
  const Tensor padded = tensor::pad_spatial(wide, window, real_constant(wide.type(), 0));
  const Tensor sum = tensor::compute("sum", axes.result, [&](const Indices& i) {
    return tensor::reduce_sum(axes.kernel, [&](const Indices& r) {
      Indices at = {i[0], i[1]};
      for (Expr& index : tensor::window_indices(window, Indices(i.begin() + 2, i.end()), r)) at.push_back(index);
      return raised(padded(at), p);
    });
  });
  return std::vector<Tensor>{
      converted(tensor::map("lp_pool", sum, [&](const Expr& e) { return root(e, p); }), x.type())};
}

// Pools of everything.

Result<ReducePlan> global_plan(const Application& op) {
  if (op.rank(0) < 2) return op.fail("an input of {} axes, allowed is 2 and more", op.rank(0));
  return ReducePlan(op.shape(0), axes_from(2, op.rank(0)), /*keep=*/true);
}

Result<std::vector<Tensor>> define_global_average_pool(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const ReducePlan plan, global_plan(op));
  const ir::DType type = accumulator_type(x.type());
  const Tensor sum = sum_over("sum", plan, [&](const Indices& i) { return ir::cast(type, x(i)); });
  return std::vector<Tensor>{tensor::map(
      "global_average", sum, [&](const Expr& e) { return ir::cast(x.type(), e / ir::constant(type, plan.count())); })};
}

Result<std::vector<Tensor>> define_global_max_pool(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const ReducePlan plan, global_plan(op));
  return std::vector<Tensor>{tensor::compute("global_max", tensor::axes_of(plan.kept()), [&](const Indices& i) {
    return tensor::reduce_max(plan.reduced(), [&](const Indices& r) { return x(plan.element(i, r)); });
  })};
}

Result<std::vector<Tensor>> define_global_lp_pool(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const std::int64_t p, order_of_norm(op));
  HONE_TRY(const ReducePlan plan, global_plan(op));
  const ir::DType type = accumulator_type(x.type());
  const Tensor sum = sum_over("sum", plan, [&](const Indices& i) { return raised(ir::cast(type, x(i)), p); });
  return std::vector<Tensor>{
      tensor::map("global_lp", sum, [&](const Expr& e) { return ir::cast(x.type(), root(e, p)); })};
}

/// Puts each element back where its index says, zeros elsewhere; an output_shape adds zeros after that.
Result<std::vector<ValueId>> expand_max_unpool(const Application& op, Builder& builder) {
  HONE_TRY(std::vector<std::int64_t> kernel, kernel_shape(op));
  HONE_TRY(const WindowSpec window, window_of(op, std::move(kernel)));
  if (op.shape(1) != op.shape(0))
    return op.fail("indices of shape {}, allowed is {}", tensor::show_shape(op.shape(1)),
                   tensor::show_shape(op.shape(0)));
  Shape inferred = {op.shape(0)[0], op.shape(0)[1]};
  for (std::size_t axis = 0; axis < window.rank(); ++axis)
    inferred.push_back((op.shape(0)[2 + axis] - 1) * window.strides[axis] - window.before[axis] - window.after[axis] +
                       window.kernel[axis]);
  HONE_TRY(const std::int64_t size, runtime::element_count(inferred));
  HONE_TRY(runtime::Tensor zeros, runtime::Tensor::allocate(op.type(0), {size}));
  std::fill_n(zeros.data(), zeros.bytes(), std::byte{0});
  const ValueId flat = builder.ints({-1});
  const ValueId scattered =
      builder.add("ScatterElements", {builder.constant(std::move(zeros)), builder.add("Reshape", {op.id(1), flat}),
                                      builder.add("Reshape", {op.id(0), flat})});
  const ValueId y = builder.add("Reshape", {scattered, builder.ints(inferred)});
  if (!op.has(2)) return std::vector{y};
  HONE_TRY(const Shape wanted, op.ints(2));
  if (wanted == inferred) return std::vector{y};
  if (wanted.size() != inferred.size())
    return op.fail("output_shape has {} entries, allowed are {}", wanted.size(), inferred.size());
  std::vector<std::int64_t> pads(inferred.size(), 0);
  for (std::size_t axis = 0; axis < inferred.size(); ++axis) {
    if (wanted[axis] < inferred[axis])
      return op.fail("output_shape {} is smaller than {}", tensor::show_shape(wanted), tensor::show_shape(inferred));
    pads.push_back(wanted[axis] - inferred[axis]);
  }
  return std::vector{builder.add("Pad", {y, builder.ints(pads)})};
}

}  // namespace

std::span<const Operator> pool_operators() {
  static const Operator entries[] = {
      {.name = "AveragePool",
       .schema =
           "X: T -> Y: T; auto_pad, ceil_mode, count_include_pad, dilations, kernel_shape, pads, strides; T: float",
       .define = define_average_pool},
      {.name = "MaxPool",
       .schema = "X: T -> Y: T, Indices?: int64; auto_pad, ceil_mode, dilations, kernel_shape, pads, storage_order, "
                 "strides; T: float|int8|uint8",
       .define = define_max_pool},
      {.name = "LpPool",
       .schema = "X: T -> Y: T; auto_pad, ceil_mode, dilations, kernel_shape, p, pads, strides; T: float",
       .define = define_lp_pool},
      {.name = "GlobalAveragePool", .schema = "X: T -> Y: T; ; T: float", .define = define_global_average_pool},
      {.name = "GlobalMaxPool", .schema = "X: T -> Y: T; ; T: float", .define = define_global_max_pool},
      {.name = "GlobalLpPool", .schema = "X: T -> Y: T; p; T: float", .define = define_global_lp_pool},
      {.name = "MaxUnpool",
       .schema = "X: T, I: int64, output_shape?: int64 -> output: T; kernel_shape, pads, strides; T: float",
       .expand = expand_max_unpool},
  };
  return entries;
}

}  // namespace hone::graph
