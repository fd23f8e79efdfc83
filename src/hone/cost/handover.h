/// Handing over from a model that knew before to one that learns from what is measured.
#pragma once

#include <memory>
#include <string_view>

#include "hone/cost/cost_model.h"

namespace hone::cost {

/// Candidates of a task are scored by `first` until `samples` of that task were measured and `second` has learnt from
/// them, then by `second`. What is measured is told to both.
std::unique_ptr<CostModel> make_handover_model(std::string_view name, std::unique_ptr<CostModel> first,
                                               std::unique_ptr<CostModel> second, std::size_t samples);

}  // namespace hone::cost
