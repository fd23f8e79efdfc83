/// What a model may be told: the checks that all models share.
#pragma once

#include <span>

#include "hone/cost/cost_model.h"

namespace hone::cost {

/// An error unless there is one time per subject, each a positive number or infinity, and each subject has a task.
Result<void> check_samples(std::string_view model, std::span<const Subject> subjects, std::span<const double> seconds);

}  // namespace hone::cost
