/// Ansor's cost model: the score of a program is the sum of what boosted trees say of each of its stores.
#pragma once

#include "hone/cost/cost_model.h"

namespace hone::cost {

/// One model for all tasks. Each update fits new trees to everything that was measured, since labels change whenever a
/// task has a new best.
std::unique_ptr<CostModel> make_store_model(const ModelOptions& options);

}  // namespace hone::cost
