// How many trials a second the tuner makes, everything included.

#include <fmt/format.h>

#include "claims.h"
#include "tasks.h"

#include "hone/network_model.h"
#include "hone/search/presets.h"
#include "hone/search/tuner.h"

namespace hone::bench {
namespace {

struct Speed {
  double trials = 0, seconds = 0, failed = 0;
};

Result<Speed> tune_tasks(const std::vector<NamedTask>& tasks, std::string_view preset, const codegen::Target& target,
                         double seconds, std::uint64_t seed) {
  std::vector<search::TuneTask> all;
  for (const NamedTask& task : tasks) all.push_back({task.task, task.name, 1});
  search::TunerOptions options;
  HONE_TRY(search::use_preset(preset, options));
  options.make_model = [&](std::string_view name, const cost::ModelOptions& made) {
    return make_any_cost_model(name, made, target, "");
  };
  options.measurer.target = target;
  options.seconds = seconds;
  options.seed = seed;
  HONE_TRY(const search::TuneReport report, search::tune(all, options));
  Speed speed{static_cast<double>(report.progress.trials), report.progress.elapsed_s, 0};
  for (const search::TaskProgress& task : report.progress.tasks) speed.failed += static_cast<double>(task.failures);
  return speed;
}

}  // namespace

Result<Report> throughput_claim(const ClaimOptions& options) {
  const double seconds = options.seconds > 0 ? options.seconds : 60;
  Report report{
      .claim = "throughput",
      .title = "Trials per second",
      .how = fmt::format(
          "The tuner on all convolutions of ResNet-50 at once for {:g} s: candidates are chosen, "
          "compiled, compared with a reference and timed in up to eight samples of 0.75 ms; "
          "rounds of 16 (the first of a task has 4 trials), while the next is chosen and the cost model learns. "
          "Bar: 20 a second on two cores.",
          seconds),
      .columns = {"preset", "threads of kernels", "trials", "failed", "trials/s"},
      .rows = {},
      .results = {}};
  for (const int threads : {1, 2}) {
    codegen::Target target = options.target;
    target.threads = threads;
    HONE_TRY(const std::vector<NamedTask> tasks, model_tasks(options.models / "resnet50.onnx", target, "Conv"));
    for (const char* preset : {"ansor", "auto"}) {
      if (!options.wants(preset)) continue;
      HONE_TRY(const Speed speed, tune_tasks(tasks, preset, target, seconds, options.seed));
      report.rows.push_back({preset, std::to_string(threads), fmt::format("{}", speed.trials),
                             fmt::format("{}", speed.failed), fmt::format("{:.1f}", speed.trials / speed.seconds)});
      report.results.push_back(fmt::format("{} on {} tasks, {} threads: {:.1f} trials a second (bar 20)", preset,
                                           tasks.size(), threads, speed.trials / speed.seconds));
    }
  }
  return report;
}

}  // namespace hone::bench
