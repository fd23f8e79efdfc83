#include "hone/tune.h"

#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/tasks.h"

namespace hone {

Result<search::TuneReport> tune(const Session& session, std::span<const Value> inputs, search::TunerOptions options) {
  HONE_TRY(options.measurer.target, codegen::parse_target(session.target()));
  HONE_TRY(const std::vector<TaskUse> uses, session.tasks(inputs));
  std::vector<search::TuneTask> tasks;
  for (const TaskUse& use : uses) {
    HONE_TRY(const auto space, space::make_space(options.space, *use.task, options.measurer.target));
    if (space::size_of(*space) > 1) tasks.push_back({use.task, use.name, static_cast<double>(use.uses)});
  }
  return search::tune(tasks, options);
}

}  // namespace hone
