/// Ansor's cost model: the score of a program is the sum of what boosted trees say of each of its stores.
#pragma once

#include "hone/cost/cost_model.h"

namespace hone::cost {

/// One model for all tasks. Each update fits new trees to everything that was measured, since labels change whenever a
/// task has a new best.
std::unique_ptr<CostModel> make_store_model(const ModelOptions& options);

/// Ansor's trees on top of a model that was trained before to rank, such that a difference of 1 in its scores says
/// which of two is faster with some confidence: its scores, brought to the scale of labels, are where trees start from,
/// so that they learn what it gets wrong. Until something is measured, its scores are the scores; new trees are fitted
/// when enough is new.
std::unique_ptr<CostModel> make_corrected_model(std::string_view name, std::unique_ptr<CostModel> prior,
                                                const ModelOptions& options);

}  // namespace hone::cost
