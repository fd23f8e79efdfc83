// A short exploration and Droplet Search against a long evolutionary search.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

#include "claims.h"
#include "runs.h"

#include "hone/space/candidate.h"
#include "hone/space/make_space.h"

namespace hone::bench {
namespace {

/// Tasks of the models with something to decide; every n-th of them unless all are wanted.
Result<std::vector<NamedTask>> droplet_tasks(const ClaimOptions& options) {
  constexpr std::size_t kChosenPerModel = 3;
  std::vector<NamedTask> tasks;
  for (const char* model : {"resnet18", "mobilenet_v2", "bert_base"}) {
    HONE_TRY(std::vector<NamedTask> all, model_tasks(options.models / fmt::format("{}.onnx", model), options.target));
    std::vector<NamedTask> open;
    for (NamedTask& task : all) {
      HONE_TRY(const auto space, space::make_space("sketch", *task.task, options.target));
      if (space::size_of(*space) > 1) open.push_back(std::move(task));
    }
    const std::size_t step = options.all ? 1 : std::max<std::size_t>(1, open.size() / kChosenPerModel);
    for (std::size_t i = 0; i < open.size(); i += step)
      if (options.wants(open[i].name)) tasks.push_back(open[i]);
  }
  return tasks;
}

/// The fastest trials of a run. An error if all failed.
Result<std::vector<std::string>> fastest(const NamedTask& task, const Run& run, std::size_t count) {
  std::vector<Tried> trials = run.trials;
  std::erase_if(trials, [](const Tried& trial) { return !std::isfinite(trial.ns); });
  if (trials.empty())
    return error(ErrorCode::NotFound, "none of {} trials of '{}' succeeded", run.trials.size(), task.name);
  std::stable_sort(trials.begin(), trials.end(), [](const Tried& a, const Tried& b) { return a.ns < b.ns; });
  std::vector<std::string> candidates;
  for (std::size_t i = 0; i < std::min(count, trials.size()); ++i) candidates.push_back(trials[i].candidate);
  return candidates;
}

/// How many times as fast the best of a run `of` is as the best of a run `than`. The fastest few of both are timed in
/// turns, since the fastest single trial may be a lucky one.
Result<double> speedup(const NamedTask& task, const Run& than, const Run& of, const codegen::Target& target) {
  constexpr std::size_t kFew = 3;
  HONE_TRY(std::vector<std::string> rivals, fastest(task, than, kFew));
  HONE_TRY(const std::vector<std::string> others, fastest(task, of, kFew));
  const std::size_t count = rivals.size();
  rivals.insert(rivals.end(), others.begin(), others.end());
  HONE_TRY(const std::vector<double> times, time_in_turns(task, rivals, target));
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(count);
  const double before = *std::min_element(times.begin(), middle), now = *std::min_element(middle, times.end());
  if (!std::isfinite(before) || !std::isfinite(now))
    return error(ErrorCode::NotFound, "what was fastest of '{}' failed when it was timed in turns", task.name);
  return before / now;
}

// 300 of 2,000 and, as published, 100.
std::int64_t explore_of(std::int64_t trials) { return trials * 3 / 20; }
std::int64_t exploit_of(std::int64_t trials) { return trials / 20; }

constexpr std::size_t kSpeedupCell = 5, kTimeCell = 6;

/// The row of a task.
Result<std::vector<std::string>> compare(const NamedTask& task, std::int64_t trials, const ClaimOptions& options) {
  How how{.space = "sketch",
          .search = "evolutionary",
          .cost_model = "ansor",
          .trials = explore_of(trials) + exploit_of(trials),
          .explore = static_cast<std::size_t>(explore_of(trials)),
          .seed = options.seed};
  how.tries_rules_first = !options.published;
  HONE_TRY(const Run droplet, run(task, how, options.target));
  how.explore = 0;
  how.trials = trials;
  if (options.published) how.space = "ansor";
  HONE_TRY(const Run alone, run(task, how, options.target));
  HONE_TRY(const double faster, speedup(task, alone, droplet, options.target));
  const double time = droplet.elapsed_s / alone.elapsed_s;
  fmt::print(stderr, "{}: {:.3f} times as fast in {:.2f} of the time\n", task.name, faster, time);
  return std::vector<std::string>{task.name,
                                  fmt::format("{:.0f}", alone.elapsed_s),
                                  std::to_string(alone.trials.size()),
                                  fmt::format("{:.0f}", droplet.elapsed_s),
                                  std::to_string(droplet.trials.size()),
                                  fmt::format("{:.3f}", faster),
                                  fmt::format("{:.3f}", time)};
}

}  // namespace

Result<Report> droplet_claim(const ClaimOptions& options) {
  const std::int64_t trials = options.trials > 0 ? options.trials : 2000;
  Report report{.claim = options.published ? "droplet-published" : "droplet",
                .title = options.published ? "Droplet: explore, then exploit, against Ansor as published"
                                           : "Droplet: explore, then exploit",
                .how = {},
                .columns = {"task", "long s", "long trials", "droplet s", "droplet trials", "speedup", "time"},
                .rows = {},
                .results = {}};
  HONE_TRY(RowFile file, RowFile::open(options.rows,
                                       {{"trials", std::to_string(trials)},
                                        {"against", options.published ? "ansor" : "sketch"},
                                        {"seed", std::to_string(options.seed)},
                                        {"target", codegen::to_string(options.target)}},
                                       report.columns.size()));
  HONE_TRY(const std::vector<NamedTask> tasks, droplet_tasks(options));
  std::vector<double> speedups, times;
  const auto begin = std::chrono::steady_clock::now();
  for (const NamedTask& task : tasks) {
    const std::vector<std::string>* row = file.find(task.name);
    if (!row) {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      if (options.stop_after_s > 0 && elapsed.count() > options.stop_after_s) continue;
      HONE_TRY(std::vector<std::string> made, compare(task, trials, options));
      HONE_TRY(file.add(std::move(made)));
      row = file.find(task.name);
    }
    HONE_TRY(speedups.emplace_back(), number_in(*row, kSpeedupCell));
    HONE_TRY(times.emplace_back(), number_in(*row, kTimeCell));
    report.rows.push_back(*row);
  }
  report.how = fmt::format(
      "In the sketch space, on {} of {} tasks of ResNet-18, MobileNet-v2 and BERT-base: {} trials of evolutionary "
      "search with Ansor's model and then at most {} of Droplet Search from the best, fewer if two batches of 16 had "
      "nothing better, against {} trials of "
      "evolutionary search alone (not 10,000, which take too long){} The fastest three of each are timed in turns. "
      "Bars: 1.1 times as fast in a quarter of "
      "the time, as geometric means.",
      speedups.size(), tasks.size(), explore_of(trials), exploit_of(trials), trials,
      options.published
          ? " in Ansor's space as published: tiles that divide extents, direct convolutions. Neither is told what the "
            "rules of hone would choose."
          : ". Both begin with what the rules of hone choose, as `hone tune` does.");
  const double faster = geometric_mean(speedups), shorter = geometric_mean(times);
  report.results = {fmt::format("kernels {:.2f} times as fast over {} of {} tasks (bar 1.1): {}", faster,
                                speedups.size(), tasks.size(), faster >= 1.1 ? "met" : "missed"),
                    fmt::format("in {:.2f} of the time (bar 0.25): {}", shorter, shorter <= 0.25 ? "met" : "missed")};
  return report;
}

}  // namespace hone::bench
