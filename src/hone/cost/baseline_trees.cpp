#include "hone/cost/baseline_trees.h"

#include <cmath>

#include "hone/cost/store_features.h"
#include "hone/cost/store_trees.h"

namespace hone::cost {
namespace {

/// Samples without the number that says that a row counts.
struct StoreSamples {
  StoreRows programs{.rows = {.columns = kStoreFeatures}};
  std::vector<float> labels;
};

StoreSamples samples_of(const TrainingSet& set, std::size_t target, bool wants_labels) {
  StoreSamples found;
  auto& [rows, first] = found.programs;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (wants_labels && std::isnan(set.label(i, target))) continue;
    for (std::size_t row = set.first_rows[i]; row < set.first_rows[i + 1]; ++row) {
      const auto begin = set.numbers.begin() + static_cast<std::ptrdiff_t>(row * set.shape.columns) + 1;
      rows.values.insert(rows.values.end(), begin, begin + static_cast<std::ptrdiff_t>(kStoreFeatures));
    }
    first.push_back(static_cast<std::uint32_t>(rows.rows()));
    found.labels.push_back(set.label(i, target));
  }
  return found;
}

}  // namespace

Result<std::vector<double>> baseline_tree_scores(const TrainingSet& training, const TrainingSet& test,
                                                 std::size_t target, std::uint64_t seed) {
  const StoreSamples known = samples_of(training, target, /*wants_labels=*/true);
  if (known.labels.empty())
    return error(ErrorCode::InvalidArgument, "no program for training was measured on this target");
  HONE_TRY(const BoostedTrees trees, fit_store_trees(known.programs, known.labels, {}, seed));
  return sum_store_trees(trees, samples_of(test, target, /*wants_labels=*/false).programs);
}

}  // namespace hone::cost
