/// What becomes of the scores of an attention before they weigh values: masks, order, windows, lengths, and the
/// softmax.
#pragma once

#include <functional>

#include "hone/graph/operator.h"
#include "hone/tensor/tensor.h"

namespace hone::graph {

/// Reads attributes of an operator, and its inputs from `first` on: mask?, lengths?, starts?, sinks?
class Weighing {
 public:
  /// `scores`: [batch, heads, queries, keys].
  Weighing(const Application& op, std::size_t first, tensor::Tensor scores);

  /// An error unless the inputs fit the scores.
  Result<void> check() const;

  /// The value as the type of the softmax holds it.
  ir::Expr rounded(const ir::Expr& e) const;
  /// A score times the scale, held within the cap.
  ir::Expr capped(const tensor::Indices& i) const;
  /// Scores with what the mask adds; the lowest number where a key may not be seen.
  tensor::Tensor biased() const;

  /// exp(score - base) of each score, and their sum over the row that an element belongs to.
  struct Row {
    tensor::Tensor exponential;
    std::function<ir::Expr(const tensor::Indices& element)> total;
  };
  Row weigh(const tensor::Tensor& biased) const;

  /// The same from what is known of rows, [batch, heads, queries, 1]: the base, from the largest scores, and the total,
  /// from the sum of exponentials.
  tensor::Tensor base(const tensor::Tensor& largest) const;
  ir::Expr total(const tensor::Tensor& sum, const tensor::Tensor& base, const tensor::Indices& element) const;

 private:
  bool has(std::size_t input) const { return op_.has(first_ + input); }
  const tensor::Tensor& input(std::size_t i) const { return op_.tensor(first_ + i); }
  ir::Expr sink(const tensor::Indices& i) const;
  ir::Expr visible(const tensor::Indices& i) const;
  ir::Expr mask_bias(const tensor::Indices& i) const;

  const Application& op_;
  std::size_t first_;
  tensor::Tensor scores_;
  ir::DType softmax_type_, type_;  ///< each step is rounded to the first, sums are added in the second
};

}  // namespace hone::graph
