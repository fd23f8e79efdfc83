/// What earlier runs left in the records for a task that is to be tuned: trials, and candidates to begin with.
#pragma once

#include <vector>

#include "hone/search/task_state.h"

namespace hone::search {

/// The trials of this task on the target, which the state counts. An error if records cannot be read.
Result<std::vector<Trial>> take_known_trials(TaskState& state, const measure::Records& records,
                                             const codegen::Target& target);

/// What was adopted for this task leads it; what was adopted for one like it is to be tried, and is given. An error if
/// records cannot be read.
Result<std::optional<Candidate>> take_adopted(TaskState& state, const measure::Records& records,
                                              const space::Task& task, const codegen::Target& target);

}  // namespace hone::search
