/// What models minimise: gradients and losses for boosted trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/support/rng.h"

namespace hone::cost {

/// Ansor's loss (arXiv 2006.06762, section 5.2): a program's score is the sum over its rows, and Σ w · (score - y)² / 2
/// is minimised with w = y, since it is the fast programs whose order matters. Other than there, w is at least 0.05, so
/// that failures, whose y is 0, are seen at all.
class SumOfRows {
 public:
  /// Program p has the rows from first_rows[p] to first_rows[p + 1], and the label labels[p] in [0, 1]. With `margins`,
  /// its score is margins[p] plus that sum.
  SumOfRows(std::span<const std::uint32_t> first_rows, std::span<const float> labels,
            std::span<const float> margins = {});

  void gradient(std::span<const float> sums, std::span<float> first, std::span<float> second) const;
  /// The root mean square error of the scores.
  double loss(std::span<const float> sums) const;

 private:
  float score(std::size_t program, std::span<const float> sums) const;

  std::span<const std::uint32_t> first_rows_;
  std::span<const float> labels_, margins_;
};

/// How much a program with this label counts.
float weight_of(float label);

/// Squared error, the scores being `margins` plus the sums of trees.
void squared_gradient(std::span<const float> sums, std::span<const float> margins, std::span<const float> labels,
                      std::span<float> first, std::span<float> second);

/// The pairwise logistic loss: for each pair of one group with y_i > y_j, log(1 + exp(f_j - f_i)). All pairs of groups
/// below 256, and 32 random partners of each item of larger ones.
class PairwiseRanks {
 public:
  /// `groups` are the sizes of consecutive groups of items.
  PairwiseRanks(std::vector<std::uint32_t> groups, std::span<const float> labels, std::uint64_t seed);

  void gradient(std::span<const float> sums, std::span<const float> margins, std::span<float> first,
                std::span<float> second);

 private:
  std::vector<std::uint32_t> groups_;
  std::span<const float> labels_;
  Rng rng_;
};

/// How much what was learnt from other tasks still counts after `samples` of the task itself: 2^(-samples / 64), and
/// nothing once that is below 0.05.
double transfer_discount(std::size_t samples);

}  // namespace hone::cost
