#include "hone/tune.h"

#include "hone/network_model.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/support/log.h"
#include "hone/tasks.h"

namespace hone {

Result<search::TuneReport> tune(const Session& session, std::span<const Value> inputs, search::TunerOptions options) {
  HONE_TRY(options.measurer.target, codegen::parse_target(session.target()));
  options.make_model = [target = options.measurer.target, file = options.cost_model_file](
                           std::string_view name, const cost::ModelOptions& model) {
    return make_any_cost_model(name, model, target, file);
  };
  HONE_TRY(const std::vector<TaskUse> uses, session.tasks(inputs));
  std::vector<search::TuneTask> tasks;
  for (const TaskUse& use : uses) {
    HONE_TRY(const auto space, space::make_space(options.space, *use.task, options.measurer.target));
    if (space::size_of(*space) > 1) tasks.push_back({use.task, use.name, static_cast<double>(use.uses)});
  }
  return search::tune(tasks, options);
}

Result<search::TuneReport> tune(const Session& session, std::span<const Value> inputs, search::TunerOptions options,
                                const std::string& records_file) {
  Result<measure::Records> records = measure::Records::open(records_file);
  std::string problem;
  if (!records) {
    problem = records.error().message;
    log::warning("tune", "nothing will be stored: {}", problem);
    records = measure::Records::open(records_file, measure::Records::Mode::ReadOnly);  // what is known still helps
  }
  options.records = records ? &*records : nullptr;
  HONE_TRY(search::TuneReport report, tune(session, inputs, std::move(options)));
  if (!problem.empty()) report.records_error = problem;
  return report;
}

}  // namespace hone
