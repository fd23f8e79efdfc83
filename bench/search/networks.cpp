// How long searches that networks guide need for what boosted trees find.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/format.h>

#include "claims.h"

#include "hone/model_tasks.h"
#include "hone/network_model.h"
#include "hone/search/tuner.h"

namespace hone::bench {
namespace {

/// When a search is over.
struct Until {
  std::int64_t trials = 0;  ///< 0: no limit
  double seconds = 0;       ///< 0: no limit
  double ns = 0;            ///< of one run of all kernels
};

struct Searched {
  double ns = 0;  ///< of one run of all kernels at the end
  double seconds = 0;
  std::int64_t trials = 0;
};

Result<std::vector<search::TuneTask>> tasks_of(const std::filesystem::path& file, const codegen::Target& target) {
  constexpr std::int64_t kSequence = 128;
  HONE_TRY(const auto found, hone::model_tasks(file, target, {{.name = "", .dims = {{"sequence", kSequence}}}}));
  if (!found[0]) return found[0].error();
  std::vector<search::TuneTask> tasks;
  for (const TaskUse& use : *found[0]) tasks.push_back({use.task, use.name, static_cast<double>(use.uses)});
  return tasks;
}

Result<Searched> search_network(const std::vector<search::TuneTask>& tasks, const std::string& model,
                                const std::string& file, const Until& until, const ClaimOptions& options) {
  std::atomic<bool> stop = false;
  Searched end;
  search::TunerOptions tuner;
  tuner.measurer.target = options.target;
  tuner.space = "sketch";
  tuner.search = "evolutionary";
  tuner.cost_model = model;
  tuner.make_model = [&](std::string_view name, const cost::ModelOptions& made) {
    return make_any_cost_model(name, made, options.target, file);
  };
  tuner.trials = until.trials;
  tuner.seconds = until.seconds;
  tuner.seed = options.seed;
  tuner.stop = &stop;
  tuner.progress = [&](const search::TuneProgress& progress) {
    const bool is_whole = std::all_of(progress.tasks.begin(), progress.tasks.end(),
                                      [](const search::TaskProgress& task) { return std::isfinite(task.best_ns); });
    if (stop || !is_whole || progress.best_ns() > until.ns) return;
    stop = true;
    end = {progress.best_ns(), progress.elapsed_s, progress.trials};
  };
  HONE_TRY(const search::TuneReport report, search::tune(tasks, tuner));
  if (!stop) end = {report.progress.best_ns(), report.progress.elapsed_s, report.progress.trials};
  return end;
}

}  // namespace

Result<Report> tlp_claim(const ClaimOptions& options) {
  if (options.networks.empty())
    return error(ErrorCode::InvalidArgument, "the claim tlp needs --network FILE, as hone cost-model train writes it");
  const std::int64_t trials = options.trials > 0 ? options.trials : 1000;
  Report report{
      .claim = "tlp",
      .title = "TLP: search time to the latency that boosted trees reach",
      .how = fmt::format("The sketch space, evolutionary search over all tasks of a network that no model was "
                         "trained on: {} trials with Ansor's boosted trees, which learn as they go; how long "
                         "does the same search need for that latency (the sum over kernels and calls) with a "
                         "network that was trained before and does not learn? It gets as long as the trees at "
                         "most. Bars: 9.1 times less with TLP, 4.7 with MTL-TLP on 7 % of the labels.",
                         trials),
      .columns = {"network", "trees ms", "trees s"},
      .rows = {},
      .results = {}};
  for (const std::string& file : options.networks) {
    const std::string name = std::filesystem::path(file).stem().string();
    report.columns.insert(report.columns.end(), {name + " ms", name + " trials", name + " s", "ratio"});
  }
  std::vector<std::vector<double>> ratios(options.networks.size());
  for (const char* network : {"resnet50", "mobilenet_v2", "resnext50", "bert_base", "bert_tiny"}) {
    if (!options.wants(network)) continue;
    HONE_TRY(const std::vector<search::TuneTask> tasks,
             tasks_of(options.models / (std::string(network) + ".onnx"), options.target));
    HONE_TRY(const Searched trees, search_network(tasks, "gbt", "", {.trials = trials}, options));
    std::vector<std::string> row = {network, fmt::format("{:.3f}", trees.ns * 1e-6),
                                    fmt::format("{:.1f}", trees.seconds)};
    for (std::size_t i = 0; i < options.networks.size(); ++i) {
      HONE_TRY(const Searched led,
               search_network(tasks, "tlp", options.networks[i], {.seconds = trees.seconds, .ns = trees.ns}, options));
      const bool is_reached = led.ns <= trees.ns;
      ratios[i].push_back(is_reached ? trees.seconds / led.seconds : 1);
      row.insert(row.end(), {fmt::format("{:.3f}", led.ns * 1e-6), std::to_string(led.trials),
                             is_reached ? fmt::format("{:.1f}", led.seconds) : "not reached",
                             is_reached ? fmt::format("{:.1f}", ratios[i].back()) : "< 1"});
    }
    for (const std::string& cell : row) fmt::print(stderr, "{}  ", cell);
    fmt::print(stderr, "\n");
    report.rows.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < options.networks.size(); ++i)
    report.results.push_back(fmt::format("{}: {:.1f} times less time, those that never got there counted as 1",
                                         options.networks[i], geometric_mean(ratios[i])));
  return report;
}

}  // namespace hone::bench
