/// Ansor's cost model trained once on a data set: the baseline that networks are compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/cost/training_set.h"

namespace hone::cost {

/// Fits boosted trees to the samples of one part by a target, and gives the scores of those of another. Both must be
/// of the language "stores".
Result<std::vector<double>> baseline_tree_scores(const TrainingSet& training, const TrainingSet& test,
                                                 std::size_t target, std::uint64_t seed);

}  // namespace hone::cost
