/// Models that learn nothing: what a search falls back to, and what learned models are compared with.
#pragma once

#include "hone/cost/cost_model.h"

namespace hone::cost {

/// Gives all candidates the same score.
std::unique_ptr<CostModel> make_constant_model();

/// Gives each candidate a random score in [0, 1), anew at each call.
std::unique_ptr<CostModel> make_random_model(std::uint64_t seed);

}  // namespace hone::cost
