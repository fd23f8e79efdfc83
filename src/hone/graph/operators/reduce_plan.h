/// What reductions, normalisations and softmaxes share: which axes are reduced, and in which type one adds.
#pragma once

#include <vector>

#include "hone/graph/operator.h"
#include "hone/tensor/tensor.h"

namespace hone::graph {

/// The type to add elements in: f32 for narrower floats, otherwise the type itself.
ir::DType accumulator_type(ir::DType type);

/// `x` converted to a type; `x` itself if it has it.
tensor::Tensor converted(const tensor::Tensor& x, ir::DType type);

/// A float constant of a type.
ir::Expr real_constant(ir::DType type, double value);

/// The axes of a tensor, cut into those that are reduced and those that stay.
class ReducePlan {
 public:
  /// `axes` are counted from 0; `keep`: reduced axes stay with extent 1.
  ReducePlan(const tensor::Shape& shape, const std::vector<std::int64_t>& axes, bool keep);

  /// The shape of the result.
  const tensor::Shape& kept() const { return kept_; }
  const std::vector<tensor::Axis>& reduced() const { return reduced_; }
  /// How many elements one result stands for.
  std::int64_t count() const { return count_; }
  bool is_reduced(std::size_t axis) const { return is_reduced_[axis]; }
  /// The indices of the element that the result's indices and the reduction's make together.
  tensor::Indices element(const tensor::Indices& result, const tensor::Indices& reduction) const;
  /// The indices of the result that an element belongs to.
  tensor::Indices row(const tensor::Indices& element) const;

 private:
  std::vector<bool> is_reduced_;
  bool keep_;
  tensor::Shape kept_;
  std::vector<tensor::Axis> reduced_;
  std::int64_t count_ = 1;
};

/// Axes from `first` to the last.
std::vector<std::int64_t> axes_from(std::int64_t first, std::int64_t rank);

/// The sum of `source(element indices)` over the reduced axes.
tensor::Tensor sum_over(const std::string& name, const ReducePlan& plan, tensor::Source source);

/// Mean and variance (that of the whole population) of each row of `x`, which should have an accumulator's type.
struct Moments {
  tensor::Tensor mean, variance;
};
Moments moments_of(const tensor::Tensor& x, const ReducePlan& plan);
/// 1 / sqrt(variance + epsilon).
ir::Expr inverse_root(const ir::Expr& variance, double epsilon);

/// `e` as the type holds it, in the type it has.
ir::Expr rounded_to(ir::DType type, const ir::Expr& e);

/// The same of a sum of `count` numbers up to 1, unless it could be more than the type holds.
ir::Expr rounded_sum(ir::DType type, const ir::Expr& sum, std::int64_t count);

/// exp(x - max) / sum, or its logarithm, over the reduced axes of the plan (which keeps them), in the type of `x`.
/// Exponentials and their sum are rounded to `stored`, as they would be if each step were an operator.
tensor::Tensor softmax_over(const tensor::Tensor& x, const ReducePlan& plan, ir::DType stored);
tensor::Tensor log_softmax_over(const tensor::Tensor& x, const ReducePlan& plan, ir::DType stored);

}  // namespace hone::graph
