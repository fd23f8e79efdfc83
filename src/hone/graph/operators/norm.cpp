#include <cmath>

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using ir::Intrinsic;
using tensor::Indices;
using tensor::Tensor;

namespace {

Expr power(const Expr& base, double exponent) {
  return ir::call(Intrinsic::Pow, {base, ir::constant(base.type(), exponent)});
}

/// All axes but one.
std::vector<std::int64_t> axes_without(std::int64_t kept, std::int64_t rank) {
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (axis != kept) axes.push_back(axis);
  return axes;
}

Result<void> expect_extent(const Application& op, std::size_t input, std::int64_t count) {
  if (op.rank(input) == 1 && op.shape(input)[0] == count) return {};
  return op.fail("input {} has shape {}, allowed is [{}]", input, tensor::show_shape(op.shape(input)), count);
}

// Batch normalisation.

/// scale · (x - mean) / sqrt(variance + epsilon) + bias, where `at` gives the indices of the four for an element.
Tensor standardized(const Application& op, const Tensor& mean, const Tensor& variance,
                    FunctionRef<Indices(const Indices&)> at) {
  const Tensor &x = op.tensor(0), &scale = op.tensor(1), &bias = op.tensor(2);
  const ir::DType type = accumulator_type(x.type());
  const Tensor factor = tensor::compute("factor", tensor::axes_of(mean.shape()), [&](const Indices& c) {
    return ir::cast(type, scale(c)) * inverse_root(ir::cast(type, variance(c)), op.real("epsilon", 1e-5));
  });
  return tensor::compute("normalized", tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Indices c = at(i);
    const Expr centered = ir::cast(type, x(i)) - ir::cast(type, mean(c));
    return ir::cast(x.type(), centered * factor(c) + ir::cast(type, bias(c)));
  });
}

/// The statistics of the batch, and the running ones that they are mixed into.
std::vector<Tensor> train_batch_norm(const Application& op) {
  const Tensor& x = op.tensor(0);
  const ReducePlan plan(x.shape(), axes_without(1, op.rank(0)), /*keep=*/false);
  const auto [mean, variance] = moments_of(converted(x, accumulator_type(x.type())), plan);
  const double momentum = op.real("momentum", 0.9F);
  const auto mix = [&](const char* name, const Tensor& running, const Tensor& current) {
    const ir::DType type = current.type();
    return tensor::compute(name, tensor::axes_of(running.shape()), [&](const Indices& c) {
      const Expr mixed =
          ir::cast(type, running(c)) * real_constant(type, momentum) + current(c) * real_constant(type, 1 - momentum);
      return ir::cast(running.type(), mixed);
    });
  };
  const Tensor y = standardized(op, mean, variance, [](const Indices& i) { return Indices{i[1]}; });
  return {y, mix("running_mean", op.tensor(3), mean), mix("running_var", op.tensor(4), variance)};
}

Result<std::vector<Tensor>> define_batch_norm(const Application& op) {
  const std::int64_t rank = op.rank(0);
  if (rank < 1) return op.fail("a scalar as input, allowed is 1 axis and more");
  const bool is_spatial = op.integer("spatial", 1) != 0;
  const bool is_training = op.opset() >= 14 && op.integer("training_mode", 0) != 0;
  const tensor::Shape& shape = op.shape(0);
  const tensor::Shape each =
      !is_spatial ? tensor::Shape(shape.begin() + 1, shape.end()) : tensor::Shape{rank == 1 ? 1 : shape[1]};
  for (std::size_t input = 1; input <= 4; ++input)
    if (op.shape(input) != each)
      return op.fail("input {} has shape {}, allowed is {}", input, tensor::show_shape(op.shape(input)),
                     tensor::show_shape(each));
  if (is_training) {
    if (rank < 2 || !is_spatial)
      return op.unsupported("training with an input of {} axes, allowed is 2 and more", rank);
    return train_batch_norm(op);
  }
  const Tensor y = standardized(op, op.tensor(3), op.tensor(4), [&](const Indices& i) {
    if (!is_spatial) return Indices(i.begin() + 1, i.end());
    return Indices{rank == 1 ? ir::imm(0) : i[1]};
  });
  const auto copy = [](const Tensor& x) { return tensor::map("copy", x, [](const Expr& e) { return e; }); };
  std::vector<Tensor> outputs = {y};
  while (outputs.size() < op.output_count()) outputs.push_back(copy(op.tensor(outputs.size() % 2 == 1 ? 3 : 4)));
  return outputs;
}

// Normalisation of instances, groups and layers.

Result<std::vector<Tensor>> define_instance_norm(const Application& op) {
  const Tensor& x = op.tensor(0);
  if (x.rank() < 3) return op.fail("an input of {} axes, allowed is 3 and more", x.rank());
  HONE_TRY(expect_extent(op, 1, x.extent(1)));
  HONE_TRY(expect_extent(op, 2, x.extent(1)));
  const ir::DType type = accumulator_type(x.type());
  const ReducePlan plan(x.shape(), axes_from(2, op.rank(0)), /*keep=*/false);
  const auto [mean, variance] = moments_of(converted(x, type), plan);
  const Tensor factor = tensor::compute("factor", tensor::axes_of(plan.kept()), [&, v = variance](const Indices& i) {
    return ir::cast(type, op.tensor(1)(i[1])) * inverse_root(v(i), op.real("epsilon", 1e-5));
  });
  return std::vector<Tensor>{
      tensor::compute("instance_norm", tensor::axes_of(x.shape()), [&, m = mean](const Indices& i) {
        const Expr centered = ir::cast(type, x(i)) - m(plan.row(i));
        return ir::cast(x.type(), centered * factor(plan.row(i)) + ir::cast(type, op.tensor(2)(i[1])));
      })};
}

Result<std::vector<Tensor>> define_group_norm(const Application& op) {
  const Tensor& x = op.tensor(0);
  if (x.rank() < 2) return op.fail("an input of {} axes, allowed is 2 and more", x.rank());
  const std::int64_t groups = op.integer("num_groups", 0), channels = x.extent(1);
  if (groups < 1 || channels % groups != 0)
    return op.fail("num_groups {}, allowed are divisors of the {} channels", groups, channels);
  const bool is_per_group = op.opset() < 21;
  HONE_TRY(expect_extent(op, 1, is_per_group ? groups : channels));
  HONE_TRY(expect_extent(op, 2, is_per_group ? groups : channels));
  const std::int64_t each = channels / groups;
  const ir::DType type = accumulator_type(x.type());

  // x as [n, group, channel within it, ...]
  tensor::Shape shape = {x.extent(0), groups, each};
  shape.insert(shape.end(), x.shape().begin() + 2, x.shape().end());
  const Tensor grouped = tensor::compute("grouped", tensor::axes_of(shape), [&](const Indices& i) {
    Indices from = {i[0], i[1] * each + i[2]};
    from.insert(from.end(), i.begin() + 3, i.end());
    return ir::cast(type, x(from));
  });
  const ReducePlan plan(shape, axes_from(2, op.rank(0) + 1), /*keep=*/false);
  const auto [mean, variance] = moments_of(grouped, plan);
  const Tensor factor =
      tensor::map("factor", variance, [&](const Expr& e) { return inverse_root(e, op.real("epsilon", 1e-5)); });
  return std::vector<Tensor>{tensor::compute("group_norm", tensor::axes_of(x.shape()), [&, m = mean](const Indices& i) {
    const Expr group = ir::floor_div(i[1], each);
    const Expr normalized = (ir::cast(type, x(i)) - m(i[0], group)) * factor(i[0], group);
    const Expr at = is_per_group ? group : i[1];
    return ir::cast(x.type(), normalized * ir::cast(type, op.tensor(1)(at)) + ir::cast(type, op.tensor(2)(at)));
  })};
}

/// The type of stage one: that of the accumulator, at least the type that `stash_type` names.
ir::DType stash_type(const Application& op) {
  const auto named = static_cast<ElementType>(op.integer("stash_type", 1));
  return named == ElementType::F64 ? ir::kF64 : accumulator_type(op.tensor(0).type());
}

/// Whether `operand` broadcasts to `shape` without changing it.
Result<void> expect_broadcasts(const Application& op, std::size_t input) {
  const auto shape = tensor::broadcast(op.op(), op.shape(0), op.shape(input));
  if (shape && *shape == op.shape(0)) return {};
  return op.fail("input {} has shape {}, which does not broadcast to {}", input, tensor::show_shape(op.shape(input)),
                 tensor::show_shape(op.shape(0)));
}

Result<std::vector<Tensor>> define_layer_norm(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", -1), op.rank(0)));
  HONE_TRY(expect_broadcasts(op, 1));
  if (op.has(2)) HONE_TRY(expect_broadcasts(op, 2));
  const ir::DType type = stash_type(op);
  const ReducePlan plan(x.shape(), axes_from(axis, op.rank(0)), /*keep=*/true);
  const auto [mean, variance] = moments_of(converted(x, type), plan);
  const Tensor factor = tensor::map("inverse_deviation", variance,
                                    [&](const Expr& e) { return inverse_root(e, op.real("epsilon", 1e-5)); });
  const Tensor y = tensor::compute("layer_norm", tensor::axes_of(x.shape()), [&, m = mean](const Indices& i) {
    Expr value = (ir::cast(type, x(i)) - m(plan.row(i))) * factor(plan.row(i));
    value = value * ir::cast(type, tensor::broadcast_at(op.tensor(1), i));
    if (op.has(2)) value = value + ir::cast(type, tensor::broadcast_at(op.tensor(2), i));
    return ir::cast(x.type(), value);
  });
  const auto stashed = ir_type(static_cast<ElementType>(op.integer("stash_type", 1)));
  if (!stashed || !stashed->is_float())
    return op.fail("stash_type {}, allowed are float types", op.integer("stash_type", 1));
  return std::vector<Tensor>{y, converted(mean, *stashed), converted(factor, *stashed)};
}

Result<std::vector<Tensor>> define_rms_norm(const Application& op) {
  const Tensor &x = op.tensor(0), &scale = op.tensor(1);
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", -1), op.rank(0)));
  HONE_TRY(expect_broadcasts(op, 1));
  const ir::DType type = stash_type(op);
  const ReducePlan plan(x.shape(), axes_from(axis, op.rank(0)), /*keep=*/true);
  const Tensor squares = sum_over("squares", plan, [&](const Indices& i) {
    const Expr e = ir::cast(type, x(i));
    return e * e;
  });
  const Tensor factor = tensor::map("inverse_rms", squares, [&](const Expr& e) {
    return inverse_root(e / ir::constant(type, plan.count()), op.real("epsilon", 1e-5));
  });
  const Tensor y = tensor::compute("rms_norm", tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Expr normalized = ir::cast(type, x(i)) * factor(plan.row(i));
    return ir::cast(scale.type(), normalized * ir::cast(type, tensor::broadcast_at(scale, i)));
  });
  return std::vector<Tensor>{y, factor};
}

// Other normalisations.

Result<std::vector<Tensor>> define_lp_norm(const Application& op) {
  const Tensor& x = op.tensor(0);
  HONE_TRY(const std::int64_t axis, op.axis(op.integer("axis", -1), op.rank(0)));
  const std::int64_t p = op.integer("p", 2);
  if (p != 1 && p != 2) return op.fail("p {}, allowed are 1 and 2", p);
  const ir::DType type = accumulator_type(x.type());
  const ReducePlan plan(x.shape(), {axis}, /*keep=*/true);
  const Tensor sum = sum_over("sum", plan, [&](const Indices& i) {
    const Expr e = ir::cast(type, x(i));
    return p == 1 ? ir::call(Intrinsic::Abs, {e}) : e * e;
  });
  const Tensor norm =
      p == 1 ? sum : tensor::map("norm", sum, [](const Expr& e) { return ir::call(Intrinsic::Sqrt, {e}); });
  return std::vector<Tensor>{tensor::compute("lp_norm", tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Expr length = norm(plan.row(i)), zero = real_constant(type, 0);
    return ir::cast(x.type(), ir::select(ir::eq(length, zero), zero, ir::cast(type, x(i)) / length));
  })};
}

Result<std::vector<Tensor>> define_mean_variance_norm(const Application& op) {
  const Tensor& x = op.tensor(0);
  std::vector<std::int64_t> axes = op.integers("axes", {0, 2, 3});
  for (std::int64_t& axis : axes) { HONE_TRY(axis, op.axis(axis, op.rank(0))); }
  const ir::DType type = accumulator_type(x.type());
  const ReducePlan plan(x.shape(), axes, /*keep=*/true);
  const auto [mean, variance] = moments_of(converted(x, type), plan);
  const Tensor deviation = tensor::map(
      "deviation", variance, [&](const Expr& e) { return ir::call(Intrinsic::Sqrt, {e}) + real_constant(type, 1e-9); });
  return std::vector<Tensor>{
      tensor::compute("mean_variance_norm", tensor::axes_of(x.shape()), [&, m = mean](const Indices& i) {
        return ir::cast(x.type(), (ir::cast(type, x(i)) - m(plan.row(i))) / deviation(plan.row(i)));
      })};
}

/// Local response: divides by a power of the squares of neighbouring channels.
Result<std::vector<Tensor>> define_lrn(const Application& op) {
  const Tensor& x = op.tensor(0);
  if (x.rank() < 2) return op.fail("an input of {} axes, allowed is 2 and more", x.rank());
  const std::int64_t size = op.integer("size", 0);
  if (size < 1) return op.fail("size {}, allowed is 1 and more", size);
  const ir::DType type = accumulator_type(x.type());
  const Tensor squares = tensor::compute("squares", tensor::axes_of(x.shape()), [&](const Indices& i) {
    return tensor::reduce_sum({size}, [&](const Indices& r) {
      Indices at = i;
      at[1] = i[1] + r[0] - (size - 1) / 2;
      const Expr e = ir::cast(type, x(at));
      const Expr is_inside = ir::logical_and(at[1] >= 0, at[1] < x.extent(1));
      return ir::select(is_inside, e * e, real_constant(type, 0));
    });
  });
  const double alpha = op.real("alpha", 1e-4F) / static_cast<double>(size), beta = op.real("beta", 0.75);
  return std::vector<Tensor>{tensor::compute("lrn", tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Expr base = squares(i) * real_constant(type, alpha) + real_constant(type, op.real("bias", 1));
    return ir::cast(x.type(), ir::cast(type, x(i)) / power(base, beta));
  })};
}

}  // namespace

std::span<const Operator> norm_operators() {
  static const Operator entries[] = {
      {.name = "BatchNormalization",
       .schema =
           "X: T, scale: float, B: float, input_mean: M, input_var: M -> Y: T, running_mean?: M, running_var?: M, "
           "saved_mean?: M, saved_var?: M; epsilon, momentum, spatial, training_mode; T: float, M: float",
       .define = define_batch_norm},
      {.name = "InstanceNormalization",
       .schema = "input: T, scale: T, B: T -> output: T; epsilon; T: float",
       .define = define_instance_norm},
      {.name = "GroupNormalization",
       .schema = "X: T, scale: T, bias: T -> Y: T; epsilon, num_groups, stash_type; T: float",
       .define = define_group_norm},
      {.name = "LayerNormalization",
       .schema = "X: T, Scale: float, B?: float -> Y: T, Mean?, InvStdDev?; axis, epsilon, stash_type; T: float",
       .define = define_layer_norm},
      {.name = "RMSNormalization",
       .schema = "X: float, scale: V -> Y: V; axis, epsilon, stash_type; V: float",
       .define = define_rms_norm},
      {.name = "SimplifiedLayerNormalization",
       .schema = "X: float, scale: V -> Y: V, inv_std_var?; axis, epsilon, stash_type; V: float",
       .define = define_rms_norm},
      {.name = "LpNormalization", .schema = "input: T -> output: T; axis, p; T: float", .define = define_lp_norm},
      {.name = "MeanVarianceNormalization",
       .schema = "X: T -> Y: T; axes; T: float",
       .define = define_mean_variance_norm},
      {.name = "LRN", .schema = "X: T -> Y: T; alpha, beta, bias, size; T: float", .define = define_lrn},
  };
  return entries;
}

}  // namespace hone::graph
