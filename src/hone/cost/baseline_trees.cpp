#include "hone/cost/baseline_trees.h"

#include <cmath>
#include <numeric>

#include "hone/cost/boosted_trees.h"
#include "hone/cost/objectives.h"
#include "hone/cost/store_model.h"

namespace hone::cost {
namespace {

/// The rows of samples without the number that says that they count, and where each sample begins.
struct StoreRows {
  Matrix rows{.columns = kStoreFeatures};
  std::vector<std::uint32_t> first = {0};
  std::vector<float> labels;
};

StoreRows rows_of(const TrainingSet& set, std::size_t target, bool wants_labels) {
  StoreRows found;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (wants_labels && std::isnan(set.label(i, target))) continue;
    for (std::size_t row = set.first_rows[i]; row < set.first_rows[i + 1]; ++row) {
      const auto begin = set.numbers.begin() + static_cast<std::ptrdiff_t>(row * set.shape.columns) + 1;
      found.rows.values.insert(found.rows.values.end(), begin, begin + static_cast<std::ptrdiff_t>(kStoreFeatures));
    }
    found.first.push_back(static_cast<std::uint32_t>(found.rows.rows()));
    found.labels.push_back(set.label(i, target));
  }
  return found;
}

}  // namespace

Result<std::vector<double>> baseline_tree_scores(const TrainingSet& training, const TrainingSet& test,
                                                 std::size_t target, std::uint64_t seed) {
  const StoreRows known = rows_of(training, target, /*wants_labels=*/true);
  if (known.labels.empty())
    return error(ErrorCode::InvalidArgument, "no program for training was measured on this target");
  const SumOfRows objective(known.first, known.labels);
  TreeSettings settings = kStoreTrees;
  settings.seed = seed;
  HONE_TRY(const BoostedTrees trees, BoostedTrees::fit(
                                         known.rows, settings,
                                         [&](std::span<const float> sums, std::span<float> first,
                                             std::span<float> second) { objective.gradient(sums, first, second); },
                                         [&](std::span<const float> sums) { return objective.loss(sums); }));
  const StoreRows asked = rows_of(test, target, /*wants_labels=*/false);
  HONE_TRY(const std::vector<float> sums, trees.predict(asked.rows));
  std::vector<double> scores;
  for (std::size_t i = 0; i + 1 < asked.first.size(); ++i)
    scores.push_back(std::accumulate(sums.begin() + asked.first[i], sums.begin() + asked.first[i + 1], 0.0));
  return scores;
}

}  // namespace hone::cost
