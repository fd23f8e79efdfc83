#include "hone/graph/operators/attention_weights.h"

#include "hone/graph/operators/reduce_plan.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using ir::Intrinsic;
using tensor::Indices;
using tensor::Tensor;

namespace {

// The inputs, counted from the mask on.
constexpr std::size_t kMask = 0, kLengths = 1, kStarts = 2, kSinks = 3;

ir::DType softmax_type_of(const Application& op, ir::DType scores) {
  const auto wanted = ir_type(static_cast<ElementType>(op.integer("softmax_type", 0)));
  return wanted && wanted->is_float() ? *wanted : scores;
}

}  // namespace

Weighing::Weighing(const Application& op, std::size_t first, Tensor scores)
    : op_(op),
      first_(first),
      scores_(std::move(scores)),
      softmax_type_(softmax_type_of(op, scores_.type())),
      type_(softmax_type_ == ir::kF64 ? ir::kF64 : accumulator_type(scores_.type())) {}

Result<void> Weighing::check() const {
  const tensor::Shape& shape = scores_.shape();
  for (const std::size_t i : {kLengths, kStarts})
    if (has(i) && input(i).shape() != tensor::Shape{shape[0]})
      return op_.fail("input {} of shape {}, allowed is [{}]", first_ + i, tensor::show_shape(input(i).shape()),
                      shape[0]);
  if (has(kSinks) && input(kSinks).shape() != tensor::Shape{shape[1]})
    return op_.fail("sinks of shape {}, allowed is [{}]", tensor::show_shape(input(kSinks).shape()), shape[1]);
  if (!has(kMask)) return {};
  tensor::Shape mask = input(kMask).shape();
  if (!mask.empty() && mask.back() < shape[3]) mask.back() = shape[3];  // the rest is not seen
  const auto result = tensor::broadcast(op_.op(), mask, shape);
  if (result && *result == shape) return {};
  return op_.fail("a mask of shape {} for scores of shape {}", tensor::show_shape(input(kMask).shape()),
                  tensor::show_shape(shape));
}

Expr Weighing::rounded(const Expr& e) const { return rounded_to(softmax_type_, e); }

/// Whether query i[2] may see key i[3] as far as order, windows and lengths are concerned; null if nothing forbids it.
Expr Weighing::visible(const Indices& i) const {
  const std::int64_t left = op_.integer("left_window", -1), right = op_.integer("right_window", -1);
  const bool is_causal = op_.integer("is_causal", 0) != 0;
  Expr position = i[2] + op_.integer("past", 0);  // of the query among the keys
  Expr allowed;
  const auto require = [&](const Expr& condition) {
    allowed = allowed ? ir::logical_and(allowed, condition) : condition;
  };
  if (has(kLengths)) {
    const Expr length = ir::cast(ir::kI64, input(kLengths)(i[0]));
    if (!has(kStarts)) position = i[2] + (length - scores_.extent(2));
    require(i[3] < length);
  }
  if (has(kStarts)) position = i[2] + ir::cast(ir::kI64, input(kStarts)(i[0]));
  if (is_causal) require(i[3] <= position);
  if (left >= 0) require(position - left <= i[3]);
  if (right >= 0) require(i[3] <= position + right);
  return allowed;
}

/// What the mask adds, or null without one.
Expr Weighing::mask_bias(const Indices& i) const {
  if (!has(kMask)) return {};
  const Tensor& mask = input(kMask);
  const Expr entry = tensor::broadcast_at(mask, i), none = tensor::lowest(type_);
  const Expr bias = mask.type().is_bool() ? ir::select(entry, real_constant(type_, 0), none) : ir::cast(type_, entry);
  const std::int64_t known = mask.rank() == 0 ? 1 : mask.shape().back();
  return known == 1 || known == scores_.extent(3) ? bias : ir::select(i[3] < known, bias, none);
}

Expr Weighing::capped(const Indices& i) const {
  const double cap = op_.real("softcap", 0), scale = op_.real("scale", 1);
  Expr score = ir::cast(type_, scores_(i));
  if (scale != 1) score = score * real_constant(type_, scale);
  if (cap <= 0) return score;
  return real_constant(type_, cap) * ir::call(Intrinsic::Tanh, {score / real_constant(type_, cap)});
}

Tensor Weighing::biased() const {
  return tensor::compute("biased", tensor::axes_of(scores_.shape()), [&](const Indices& i) {
    const Expr bias = mask_bias(i), allowed = visible(i);
    const Expr score = ir::cast(scores_.type(), bias ? capped(i) + bias : capped(i));
    return allowed ? ir::select(allowed, score, tensor::lowest(scores_.type())) : score;
  });
}

Expr Weighing::sink(const Indices& i) const { return ir::cast(type_, input(kSinks)(i[1])); }

Tensor Weighing::base(const Tensor& largest) const {
  const bool is_plain = op_.integer("plain_softmax", 0) != 0;
  return tensor::compute("base", tensor::axes_of(largest.shape()), [&](const Indices& i) {
    const Expr e = largest(i);
    if (has(kSinks)) return ir::max(ir::cast(type_, e), sink(i));
    if (is_plain) return ir::cast(type_, e);
    return ir::select(ir::eq(e, tensor::lowest(scores_.type())), real_constant(type_, 0), ir::cast(type_, e));
  });
}

Expr Weighing::total(const Tensor& sum, const Tensor& base, const Indices& element) const {
  const Indices row = {element[0], element[1], element[2], ir::imm(0)};
  Expr total = rounded_sum(softmax_type_, sum(row), scores_.extent(3));
  if (!has(kSinks)) return total;
  return total + rounded(ir::call(Intrinsic::Exp, {sink(element) - base(row)}));
}

Weighing::Row Weighing::weigh(const Tensor& biased) const {
  const ReducePlan plan(scores_.shape(), {3}, /*keep=*/true);
  const Tensor largest = tensor::compute("max", tensor::axes_of(plan.kept()), [&](const Indices& i) {
    return tensor::reduce_max(plan.reduced(), [&](const Indices& r) { return biased(plan.element(i, r)); });
  });
  const Tensor base = this->base(largest);
  const Tensor exponential = tensor::compute("exp", tensor::axes_of(scores_.shape()), [&](const Indices& i) {
    return rounded(ir::call(Intrinsic::Exp, {rounded(ir::cast(type_, biased(i)) - base(plan.row(i)))}));
  });
  const Tensor sum = sum_over("sum", plan, [&](const Indices& i) { return exponential(i); });
  return {exponential, [this, base, sum](const Indices& i) { return total(sum, base, i); }};
}

}  // namespace hone::graph
