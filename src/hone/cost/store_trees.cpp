#include "hone/cost/store_trees.h"

#include <numeric>

#include "hone/cost/objectives.h"

namespace hone::cost {
namespace {

constexpr TreeSettings kStoreTrees = {.depth = 10,
                                      .min_split_loss = 1e-3,
                                      .min_child_weight = 0,
                                      .learning_rate = 0.2,
                                      .l2 = 1,
                                      .max_rounds = 10000,
                                      .patience = 20,  // 50 there, whose loss falls by digits that do not matter
                                      .min_gain = 1e-4};

}  // namespace

Result<BoostedTrees> fit_store_trees(const StoreRows& programs, std::span<const float> labels,
                                     std::span<const float> margins, std::uint64_t seed) {
  const SumOfRows objective(programs.first, labels, margins);
  TreeSettings settings = kStoreTrees;
  settings.seed = seed;
  return BoostedTrees::fit(
      programs.rows, settings,
      [&](std::span<const float> sums, std::span<float> first, std::span<float> second) {
        objective.gradient(sums, first, second);
      },
      [&](std::span<const float> sums) { return objective.loss(sums); });
}

Result<std::vector<double>> sum_store_trees(const BoostedTrees& trees, const StoreRows& programs) {
  HONE_TRY(const std::vector<float> sums, trees.predict(programs.rows));
  std::vector<double> scores;
  for (std::size_t p = 0; p < programs.programs(); ++p)
    scores.push_back(std::accumulate(sums.begin() + programs.first[p], sums.begin() + programs.first[p + 1], 0.0));
  return scores;
}

}  // namespace hone::cost
