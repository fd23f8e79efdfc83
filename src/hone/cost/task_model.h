/// AutoTVM's cost models: trees for each task, beginning with what was learnt from other tasks of its family.
#pragma once

#include "hone/cost/cost_model.h"

namespace hone::cost {

/// What trees are fitted to: the order of candidates, or their speed as a share of the best.
enum class TaskObjective : std::uint8_t { Rank, Regression };
/// What is known of a candidate: its decisions, its loops, or how its loops touch memory. Only the last means the same
/// for every task of a family, and so does the second where the loops are the same; decisions do not.
enum class TaskFeatures : std::uint8_t { Knob, Itervar, Curve };

/// `name` is what the model calls itself, a literal. The score of a candidate is that of the trees of its task, plus,
/// while the task has few samples, that of trees fitted to at least 500 samples of its family's other tasks.
std::unique_ptr<CostModel> make_task_model(std::string_view name, TaskObjective objective, TaskFeatures features,
                                           const ModelOptions& options);

}  // namespace hone::cost
