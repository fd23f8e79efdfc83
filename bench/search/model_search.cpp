#include "model_search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/format.h>

#include "hone/model_tasks.h"

namespace hone::bench {

ModelSearch::Lead* ModelSearch::last(std::size_t task) {
  const auto found = std::find_if(leads.rbegin(), leads.rend(), [&](const Lead& lead) { return lead.task == task; });
  return found == leads.rend() ? nullptr : &*found;
}

std::optional<ModelSearch::Lead> ModelSearch::reached(double ns, const std::vector<search::TuneTask>& tasks,
                                                      const std::vector<bool>& counts) const {
  std::vector<double> of_task(tasks.size(), std::numeric_limits<double>::infinity());
  for (const Lead& lead : leads) {
    of_task[lead.task] = lead.ns;
    double sum = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) sum += counts[i] ? tasks[i].weight * of_task[i] : 0;
    if (sum <= ns) return lead;
  }
  return std::nullopt;
}

Result<std::vector<search::TuneTask>> tasks_of(const std::filesystem::path& file, const codegen::Target& target) {
  constexpr std::int64_t kSequence = 128;
  HONE_TRY(const auto found, hone::model_tasks(file, target, {{.name = "", .dims = {{"sequence", kSequence}}}}));
  if (!found[0]) return found[0].error();
  std::vector<search::TuneTask> tasks;
  for (const TaskUse& use : *found[0]) tasks.push_back({use.task, use.name, static_cast<double>(use.uses)});
  return tasks;
}

Result<ModelSearch> search_model(const std::vector<search::TuneTask>& tasks, const How& how, double enough_ns,
                                 const codegen::Target& target) {
  std::atomic<bool> stop = false;
  ModelSearch end{.leads = {}, .has_choice = std::vector<bool>(tasks.size())};
  search::TunerOptions tuner = tuner_options(how, target);
  tuner.stop = &stop;
  // What is adopted may be what rules choose, which a search may not be told of: a search's own trials count.
  std::vector<std::string> leading(tasks.size());
  tuner.progress = [&](const search::TuneProgress& progress) {
    if (stop) return;
    end.tried_ns = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const search::TaskProgress& task = progress.tasks[i];
      end.has_choice[i] = task.space_size > 1;
      if (!end.has_choice[i]) continue;
      end.tried_ns += task.weight * task.tried_ns;
      if (task.tried == leading[i]) continue;
      leading[i] = task.tried;
      end.leads.push_back({i, task.tried, progress.elapsed_s, progress.trials});
    }
    stop = end.tried_ns <= enough_ns;
  };
  HONE_TRY(const search::TuneReport report, search::tune(tasks, tuner));
  end.seconds = report.progress.elapsed_s;
  end.trials = report.progress.trials;
  return end;
}

Result<double> time_leads(const std::vector<search::TuneTask>& tasks, const std::vector<bool>& counts,
                          ModelSearch& search, ModelSearch& goal, const codegen::Target& target) {
  constexpr std::size_t kAtOnce = 7;
  double sum = 0;
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    if (!counts[task]) continue;
    ModelSearch::Lead* const rival = goal.last(task);
    std::vector<ModelSearch::Lead*> leads;
    for (ModelSearch::Lead& lead : search.leads)
      if (lead.task == task) leads.push_back(&lead);
    std::vector<double> rival_ns;
    for (std::size_t begin = 0; begin == 0 || begin < leads.size(); begin += kAtOnce) {
      const std::size_t end = std::min(begin + kAtOnce, leads.size());
      std::vector<std::string> candidates = {rival->candidate};
      for (std::size_t i = begin; i < end; ++i) candidates.push_back(leads[i]->candidate);
      HONE_TRY(const std::vector<double> times,
               time_in_turns({tasks[task].name, tasks[task].task}, candidates, target));
      if (!std::isfinite(times[0]))
        return error(ErrorCode::Unsupported, "{}: what led in the end runs no more", tasks[task].name);
      rival_ns.push_back(times[0]);
      // In units of the rival, so that groups are comparable whatever the machine did between them.
      for (std::size_t i = begin; i < end; ++i) leads[i]->ns = times[i - begin + 1] / times[0];
    }
    const double ns = *std::min_element(rival_ns.begin(), rival_ns.end());
    rival->ns = ns;
    for (ModelSearch::Lead* const lead : leads) lead->ns *= ns;
    sum += tasks[task].weight * ns;
  }
  return sum;
}

void print_difference(const std::vector<search::TuneTask>& tasks, const std::vector<bool>& counts, ModelSearch& search,
                      ModelSearch& goal) {
  constexpr double kWorthTelling = 0.002;
  double sum = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (counts[i]) sum += tasks[i].weight * goal.last(i)->ns;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!counts[i]) continue;
    const ModelSearch::Lead *const mine = search.last(i), *const lead = goal.last(i);
    if (!mine) {
      fmt::print(stderr, "  {} {}: nothing against {:.4f} ms\n", i, tasks[i].name, lead->ns * 1e-6);
      continue;
    }
    const double lost = tasks[i].weight * (mine->ns - lead->ns);
    if (std::abs(lost) > kWorthTelling * sum)
      fmt::print(stderr, "  {} {}: {:.4f} ms against {:.4f}, {:+.1f} % of the network; {} against {}\n", i,
                 tasks[i].name, mine->ns * 1e-6, lead->ns * 1e-6, 100 * lost / sum, mine->candidate, lead->candidate);
  }
}

}  // namespace hone::bench
