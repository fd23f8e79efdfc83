/// Boosted trees: sums of regression trees, each fitted to the gradient that those before it left.
///
/// XGBoost (arXiv 1603.02754) grows the trees; what is minimised is the caller's, who gives gradients and a loss.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/support/function_ref.h"
#include "hone/support/result.h"

namespace hone::cost {

/// Rows of as many numbers each.
struct Matrix {
  std::size_t columns = 0;
  std::vector<float> values = {};

  std::size_t rows() const { return columns ? values.size() / columns : 0; }
  std::span<const float> row(std::size_t i) const { return std::span(values).subspan(i * columns, columns); }
};

/// How trees grow. A split is made if it lowers the loss by more than `min_split_loss`.
struct TreeSettings {
  int depth = 6;
  double min_split_loss = 0, min_child_weight = 1, learning_rate = 0.3, l2 = 1;
  int max_rounds = 100;  ///< how many trees at most
  int patience = 20;     ///< stop after so many rounds in which the loss did not fall; the trees since then are dropped
  double min_gain = 0;   ///< by which share of itself the loss must fall to count as falling
  std::uint64_t seed = 0;
};

/// First and second derivative of the loss for each row, at the sums of the trees so far.
using GradientFn = FunctionRef<void(std::span<const float> sums, std::span<float> first, std::span<float> second)>;
/// What is minimised, or a figure that falls with it.
using LossFn = FunctionRef<double(std::span<const float> sums)>;

class BoostedTrees {
 public:
  /// No trees.
  BoostedTrees() = default;

  /// Fits trees whose sum is 0 where nothing is learnt. Rows hold finite numbers.
  static Result<BoostedTrees> fit(const Matrix& rows, const TreeSettings& settings, GradientFn gradient, LossFn loss);

  /// The sum of the trees for each row. May be called by several threads.
  Result<std::vector<float>> predict(const Matrix& rows) const;
  Result<std::vector<float>> predict(std::span<const float> values, std::size_t rows) const;

  std::size_t columns() const { return columns_; }
  /// How many trees there are.
  int size() const { return size_; }

  Result<std::string> to_bytes() const;
  static Result<BoostedTrees> from_bytes(std::string_view bytes);

 private:
  std::shared_ptr<void> booster_;  // never changed once fitted
  std::size_t columns_ = 0;
  std::vector<std::uint32_t> kept_;  // the columns that the booster sees
  int size_ = 0;
};

}  // namespace hone::cost
