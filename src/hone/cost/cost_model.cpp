#include "hone/cost/cost_model.h"

#include <fmt/ranges.h>

#include "hone/cost/blind_models.h"
#include "hone/cost/store_model.h"
#include "hone/cost/task_model.h"

namespace hone::cost {

namespace {

/// AutoTVM's models by name.
struct TaskModelName {
  std::string_view name;
  TaskObjective objective;
  TaskFeatures features;
};

constexpr TaskModelName kTaskModels[] = {
    {"rank-knob", TaskObjective::Rank, TaskFeatures::Knob},
    {"rank-itervar", TaskObjective::Rank, TaskFeatures::Itervar},
    {"rank-curve", TaskObjective::Rank, TaskFeatures::Curve},
    {"regression-knob", TaskObjective::Regression, TaskFeatures::Knob},
    {"regression-itervar", TaskObjective::Regression, TaskFeatures::Itervar},
    {"regression-curve", TaskObjective::Regression, TaskFeatures::Curve},
};
constexpr std::string_view kNames[] = {"none",
                                       "random",
                                       "ansor",
                                       "rank-knob",
                                       "rank-itervar",
                                       "rank-curve",
                                       "regression-knob",
                                       "regression-itervar",
                                       "regression-curve"};

}  // namespace

std::span<const std::string_view> cost_model_names() { return kNames; }

Result<std::unique_ptr<CostModel>> make_cost_model(std::string_view name, const ModelOptions& options) {
  if (options.threads < 0)
    return error(ErrorCode::InvalidArgument, "cost model '{}': {} threads; at least 1, or 0 for one per core", name,
                 options.threads);
  if (name == "none") return make_constant_model();
  if (name == "random") return make_random_model(options.seed);
  if (name == "ansor" || name == "auto") return make_store_model(options);
  for (const TaskModelName& known : kTaskModels)
    if (name == known.name) return make_task_model(known.name, known.objective, known.features, options);
  return error(ErrorCode::NotFound, "there is no cost model '{}', only: {}", name, fmt::join(cost_model_names(), ", "));
}

}  // namespace hone::cost
