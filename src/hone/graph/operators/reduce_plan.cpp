#include "hone/graph/operators/reduce_plan.h"

#include "hone/tensor/definitions.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

ir::DType accumulator_type(ir::DType type) { return type.is_float() && type.bits() < 32 ? ir::kF32 : type; }

Tensor converted(const Tensor& x, ir::DType type) {
  if (x.type() == type) return x;
  return tensor::map("convert", x, [&](const Expr& e) { return ir::cast(type, e); });
}

Expr real_constant(ir::DType type, double value) { return ir::constant(type, value); }

ReducePlan::ReducePlan(const tensor::Shape& shape, const std::vector<std::int64_t>& axes, bool keep)
    : is_reduced_(shape.size(), false), keep_(keep) {
  for (const std::int64_t axis : axes) is_reduced_[static_cast<std::size_t>(axis)] = true;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (!is_reduced_[axis]) {
      kept_.push_back(shape[axis]);
      continue;
    }
    reduced_.emplace_back(shape[axis]);
    count_ *= shape[axis];
    if (keep) kept_.push_back(1);
  }
}

Indices ReducePlan::element(const Indices& result, const Indices& reduction) const {
  Indices indices;
  std::size_t next_kept = 0, next_reduced = 0;
  for (const bool is_reduced : is_reduced_) {
    indices.push_back(is_reduced ? reduction[next_reduced++] : result[next_kept++]);
    if (is_reduced && keep_) ++next_kept;
  }
  return indices;
}

Indices ReducePlan::row(const Indices& element) const {
  Indices indices;
  for (std::size_t axis = 0; axis < is_reduced_.size(); ++axis) {
    if (!is_reduced_[axis]) indices.push_back(element[axis]);
    if (is_reduced_[axis] && keep_) indices.push_back(ir::imm(0));
  }
  return indices;
}

std::vector<std::int64_t> axes_from(std::int64_t first, std::int64_t rank) {
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = first; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

Tensor sum_over(const std::string& name, const ReducePlan& plan, tensor::Source source) {
  return tensor::compute(name, tensor::axes_of(plan.kept()), [&](const Indices& i) {
    return tensor::reduce_sum(plan.reduced(), [&](const Indices& r) { return source(plan.element(i, r)); });
  });
}

Moments moments_of(const Tensor& x, const ReducePlan& plan) {
  const Expr count = ir::constant(x.type(), plan.count());
  const auto divide = [&](const Expr& sum) { return sum / count; };
  const Tensor sum = sum_over("sum", plan, [&](const Indices& i) { return x(i); });
  const Tensor mean = tensor::map("mean", sum, divide);
  const Tensor squares = sum_over("squares", plan, [&](const Indices& i) {
    const Expr centered = x(i) - mean(plan.row(i));
    return centered * centered;
  });
  return {mean, tensor::map("variance", squares, divide)};
}

ir::Expr inverse_root(const ir::Expr& variance, double epsilon) {
  return ir::call(ir::Intrinsic::Rsqrt, {variance + ir::constant(variance.type(), epsilon)});
}

namespace {

Tensor largest_over(const Tensor& x, const ReducePlan& plan) {
  return tensor::compute("max", tensor::axes_of(plan.kept()), [&](const Indices& i) {
    return tensor::reduce_max(plan.reduced(), [&](const Indices& r) { return x(plan.element(i, r)); });
  });
}

}  // namespace

Expr rounded_to(ir::DType type, const Expr& e) { return ir::cast(e.type(), ir::cast(type, e)); }

Expr rounded_sum(ir::DType type, const Expr& sum, std::int64_t count) {
  constexpr std::int64_t kLargestHalf = 65504;
  return type == ir::kF16 && count > kLargestHalf ? sum : rounded_to(type, sum);
}

Tensor softmax_over(const Tensor& x, const ReducePlan& plan, ir::DType stored) {
  const Tensor largest = largest_over(x, plan);
  const Tensor exponential = tensor::compute("exp", tensor::axes_of(x.shape()), [&](const Indices& i) {
    return rounded_to(stored, ir::call(ir::Intrinsic::Exp, {rounded_to(stored, x(i) - largest(plan.row(i)))}));
  });
  const Tensor sum = sum_over("sum", plan, [&](const Indices& i) { return exponential(i); });
  if (stored != x.type())
    return tensor::compute("softmax", tensor::axes_of(x.shape()), [&](const Indices& i) {
      return exponential(i) / rounded_sum(stored, sum(plan.row(i)), plan.count());
    });
  // One division for a row: they take as long as the exponentials do.
  const Tensor factor = tensor::map("factor", sum, [](const Expr& e) { return ir::constant(e.type(), 1.0) / e; });
  return tensor::compute("softmax", tensor::axes_of(x.shape()),
                         [&](const Indices& i) { return exponential(i) * factor(plan.row(i)); });
}

Tensor log_softmax_over(const Tensor& x, const ReducePlan& plan, ir::DType) {
  const Tensor largest = largest_over(x, plan);
  const Tensor sum = sum_over(
      "sum", plan, [&](const Indices& i) { return ir::call(ir::Intrinsic::Exp, {x(i) - largest(plan.row(i))}); });
  const Tensor logarithm = tensor::map("log", sum, [](const Expr& e) { return ir::call(ir::Intrinsic::Log, {e}); });
  return tensor::compute("log_softmax", tensor::axes_of(x.shape()),
                         [&](const Indices& i) { return x(i) - largest(plan.row(i)) - logarithm(plan.row(i)); });
}

}  // namespace hone::graph
