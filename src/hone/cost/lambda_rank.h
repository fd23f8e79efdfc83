/// LambdaRank, the loss of TLP and TenSet-MLP: how much a wrong order costs, more so near the top.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hone::cost {

/// The loss of scores against labels in [0, 1], with ranks fixed by the scores: for each pair with y_i > y_j,
/// |1/D_i - 1/D_j| · |G_i - G_j| · -log2 σ(s_i - s_j), where D = log2(1 + rank) and G = (2^y - 1) / maxDCG.
struct RankLoss {
  double loss = 0;
  std::vector<float> gradient;  ///< by the scores
};

/// `groups` are the sizes of consecutive parts within which pairs are formed, each with ranks and a maxDCG of its own;
/// with none, all items are one part, as published. Parts of equal labels cost nothing.
RankLoss lambda_rank(std::span<const float> scores, std::span<const float> labels,
                     std::span<const std::size_t> groups = {});

/// The largest discounted gain that an order of these labels can have.
double max_dcg(std::span<const float> labels);

}  // namespace hone::cost
