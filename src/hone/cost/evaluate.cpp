#include "hone/cost/evaluate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/cost/metrics.h"

namespace hone::cost {
namespace {

/// A program that failed is as bad as one with the smallest label that counts.
constexpr double kSmallestLabel = 1e-5;

/// The latencies of the samples of each task in the order of their scores.
std::map<std::uint32_t, TaskLatencies> latencies_by_task(const Dataset& data, const TrainingSet& samples,
                                                         std::size_t target, std::span<const double> scores) {
  std::map<std::uint32_t, TaskLatencies> found;
  for (std::size_t begin = 0, end = 0; begin < samples.size(); begin = end) {
    while (end < samples.size() && samples.tasks[end] == samples.tasks[begin]) ++end;
    const double best = data.best_seconds(samples.tasks[begin], target);
    std::vector<double> measured, seconds;
    for (std::size_t i = begin; i < end; ++i) {
      const double label = samples.label(i, target);
      if (std::isnan(label)) continue;
      measured.push_back(scores[i]);
      seconds.push_back(best / std::max(label, kSmallestLabel));
    }
    if (seconds.empty()) continue;
    TaskLatencies& task = found[samples.tasks[begin]];
    task.weight = 1;
    for (const std::size_t place : best_first(measured)) task.seconds.push_back(seconds[place]);
  }
  return found;
}

TopScores scores_of(std::string network, const std::vector<TaskLatencies>& tasks) {
  return {std::move(network), top_k_score(tasks, 1), top_k_score(tasks, 5), tasks.size()};
}

}  // namespace

std::vector<TopScores> evaluate_networks(const Dataset& data, const TrainingSet& samples, std::size_t target,
                                         std::span<const double> scores, bool (*is_wanted)(std::string_view network)) {
  std::map<std::string, std::vector<TaskLatencies>> networks;
  std::vector<TaskLatencies> all;
  for (const auto& [task, latencies] : latencies_by_task(data, samples, target, scores))
    for (const auto& [network, calls] : data.tasks[task].networks) {
      if (!is_wanted(network)) continue;
      networks[network].push_back({calls, latencies.seconds});
      all.push_back({calls, latencies.seconds});
    }
  std::vector<TopScores> found;
  for (const auto& [network, tasks] : networks) found.push_back(scores_of(network, tasks));
  found.push_back(scores_of("", all));
  return found;
}

TopScores evaluate_tasks(const Dataset& data, const TrainingSet& samples, std::size_t target,
                         std::span<const double> scores) {
  std::vector<TaskLatencies> all;
  for (const auto& [task, latencies] : latencies_by_task(data, samples, target, scores)) {
    // In units of the best, so that long tasks do not hide the others.
    TaskLatencies scaled = latencies;
    const double best = data.best_seconds(task, target);
    for (double& seconds : scaled.seconds) seconds /= best;
    all.push_back(std::move(scaled));
  }
  return scores_of("", all);
}

std::vector<TaskScore> evaluate_each_task(const Dataset& data, const TrainingSet& samples, std::size_t target,
                                          std::span<const double> scores) {
  std::vector<TaskScore> found;
  for (const auto& [task, latencies] : latencies_by_task(data, samples, target, scores)) {
    const auto begin = latencies.seconds.begin();
    const auto five = begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(5, latencies.seconds.size()));
    found.push_back({task, data.best_seconds(task, target), *begin, *std::min_element(begin, five)});
  }
  return found;
}

}  // namespace hone::cost
