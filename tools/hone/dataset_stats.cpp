#include "dataset_stats.h"

#include <cmath>
#include <fmt/format.h>

#include "describe.h"

namespace hone::command {
namespace {

/// Programs of a part of the data set on one target.
struct Counts {
  std::size_t tasks = 0, failed_tasks = 0;  ///< with programs that were measured; of which none ran
  std::size_t measured = 0, failed = 0;
  std::size_t fast = 0, middling = 0;  ///< within 10 % of the best of their task, and within a factor of 2
};

Counts count(const cost::Dataset& data, std::size_t target, bool is_test) {
  Counts counts;
  for (std::size_t t = 0; t < data.tasks.size(); ++t) {
    if (cost::is_test_task(data.tasks[t]) != is_test) continue;
    const double best = data.best_seconds(t, target);
    const std::size_t before = counts.measured;
    for (const std::size_t place : data.tasks[t].programs) {
      const double seconds = data.programs[place].seconds[target];
      if (std::isnan(seconds)) continue;
      ++counts.measured;
      counts.failed += std::isfinite(seconds) ? 0 : 1;
      counts.fast += best / seconds >= 0.9 ? 1 : 0;
      counts.middling += best / seconds >= 0.5 ? 1 : 0;
    }
    const bool is_measured = counts.measured > before;
    counts.tasks += is_measured ? 1 : 0;
    counts.failed_tasks += is_measured && !std::isfinite(best) ? 1 : 0;
  }
  return counts;
}

}  // namespace

void show_stats(const cost::Dataset& data) {
  for (const auto& [name, text] : data.notes) fmt::print("{}: {}\n", name, text);
  std::map<std::string, std::size_t> networks;
  std::size_t test_tasks = 0, begun = 0, failed = 0;
  for (std::size_t t = 0; t < data.tasks.size(); ++t) {
    const cost::DatasetTask& task = data.tasks[t];
    begun += task.programs.empty() ? 0 : 1;
    failed += task.programs.empty() || data.has_run(t) ? 0 : 1;
    test_tasks += cost::is_test_task(task) ? 1 : 0;
    for (const auto& [network, calls] : task.networks) ++networks[network];
  }
  fmt::print("{} tasks, {} of them for testing, {} with programs{}; {} programs\n", data.tasks.size(), test_tasks,
             begun, failed == 0 ? "" : fmt::format(", {} with none that ran", failed), data.programs.size());
  Table table({"tasks", "all failed", "measured", "failed", "within 10 %", "within 2x", "part: target"});
  for (const bool is_test : {false, true})
    for (std::size_t t = 0; t < data.targets.size(); ++t) {
      const Counts counts = count(data, t, is_test);
      const auto share = [&](std::size_t part) {
        return counts.measured == 0
                   ? std::string("")
                   : fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(counts.measured));
      };
      table.add({fmt::format("{}", counts.tasks), fmt::format("{}", counts.failed_tasks),
                 fmt::format("{}", counts.measured), fmt::format("{}", counts.failed), share(counts.fast),
                 share(counts.middling), fmt::format("{}: {}", is_test ? "test" : "training", data.targets[t])});
    }
  fmt::print("{}", table.text());
  Table tasks({"tasks", "network"});
  for (const auto& [network, count] : networks)
    tasks.add({fmt::format("{}", count), cost::is_test_network(network) ? network + " (test)" : network});
  fmt::print("{}", tasks.text());
}

}  // namespace hone::command
