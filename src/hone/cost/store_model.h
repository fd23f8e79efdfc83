/// Ansor's cost model: the score of a program is the sum of what boosted trees say of each of its stores.
#pragma once

#include "hone/cost/boosted_trees.h"
#include "hone/cost/cost_model.h"

namespace hone::cost {

/// How its trees grow.
inline constexpr TreeSettings kStoreTrees = {.depth = 10,
                                             .min_split_loss = 1e-3,
                                             .min_child_weight = 0,
                                             .learning_rate = 0.2,
                                             .l2 = 1,
                                             .max_rounds = 10000,
                                             .patience = 20,  // 50 there, whose loss falls by digits that do not matter
                                             .min_gain = 1e-4};

/// One model for all tasks. Each update fits new trees to everything that was measured, since labels change whenever a
/// task has a new best.
std::unique_ptr<CostModel> make_store_model(const ModelOptions& options);

/// The same on top of a model that was trained before: its scores, brought to the scale of labels, are where the trees
/// start from, so that they learn what it gets wrong. Until something is measured, its scores are the scores.
std::unique_ptr<CostModel> make_corrected_model(std::string_view name, std::unique_ptr<CostModel> prior,
                                                const ModelOptions& options);

}  // namespace hone::cost
