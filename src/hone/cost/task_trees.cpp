#include "hone/cost/task_trees.h"

#include <algorithm>
#include <limits>

#include "hone/cost/metrics.h"
#include "hone/cost/objectives.h"

namespace hone::cost {

namespace {

constexpr TreeSettings kTaskTrees = {
    .depth = 3, .min_split_loss = 1e-4, .min_child_weight = 1, .learning_rate = 0.3, .l2 = 1};

/// The samples of one task in random order: trees that cannot tell two samples apart must not be praised for the order
/// in which these were measured.
struct Group {
  std::vector<std::size_t> items;
  std::vector<double> labels;
};

std::vector<Group> make_groups(const TaskFit& fit, std::span<const float> labels, Rng rng) {
  std::vector<Group> groups;
  std::optional<std::uint32_t> task;
  for (std::size_t i = 0; i < fit.chosen.size(); ++i) {
    const std::uint32_t its_task = fit.samples->samples()[fit.chosen[i]].task;
    if (task != its_task) groups.emplace_back();
    task = its_task;
    groups.back().items.push_back(i);
  }
  for (Group& group : groups) {
    for (std::size_t i = group.items.size(); i > 1; --i)
      std::swap(group.items[i - 1], group.items[static_cast<std::size_t>(rng.uniform(0, static_cast<int>(i) - 1))]);
    for (const std::size_t item : group.items) group.labels.push_back(labels[item]);
  }
  return groups;
}

/// The mean over all samples of their task's average recall.
double mean_recall(const std::vector<Group>& groups, std::span<const float> margins, std::span<const float> sums,
                   std::size_t up_to) {
  double sum = 0;
  std::vector<double> scores;
  for (const Group& group : groups) {
    scores.clear();
    for (const std::size_t item : group.items) scores.push_back(margins[item] + sums[item]);
    sum += average_recall(scores, group.labels, up_to) * static_cast<double>(group.items.size());
  }
  return sum / static_cast<double>(sums.size());
}

}  // namespace

void PaddedRows::add(std::span<const float> row) {
  const std::size_t kept = std::min(row.size(), matrix_.columns);
  matrix_.values.insert(matrix_.values.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(kept));
  matrix_.values.resize(matrix_.values.size() + matrix_.columns - kept);
}

Result<BoostedTrees> fit_tasks(const TaskFit& fit, TaskObjective objective, const FitLength& length,
                               std::uint64_t seed) {
  const auto samples = fit.samples->samples();
  std::size_t columns = 0;
  for (const std::size_t place : fit.chosen) columns = std::max(columns, samples[place].size);
  PaddedRows rows(columns);
  std::vector<float> labels;
  for (const std::size_t place : fit.chosen) {
    rows.add(fit.samples->values(samples[place]));
    labels.push_back(fit.samples->label(samples[place]));
  }
  if (columns == 0 || std::all_of(labels.begin(), labels.end(), [](float label) { return label == 0; }))
    return BoostedTrees();

  const Rng rng(seed);
  const std::vector<Group> groups = make_groups(fit, labels, rng.fork(1));
  std::vector<std::uint32_t> sizes;
  for (const Group& group : groups) sizes.push_back(static_cast<std::uint32_t>(group.items.size()));
  PairwiseRanks ranks(sizes, labels, rng.fork(2).next());
  TreeSettings settings = kTaskTrees;
  settings.max_rounds = length.max_rounds;
  settings.patience = length.patience;
  settings.seed = seed;
  int round = 0;
  double last = std::numeric_limits<double>::infinity();  // no trees at all are worse than any
  return BoostedTrees::fit(
      rows.matrix(), settings,
      [&](std::span<const float> sums, std::span<float> first, std::span<float> second) {
        if (objective == TaskObjective::Rank)
          ranks.gradient(sums, fit.margins, first, second);
        else
          squared_gradient(sums, fit.margins, labels, first, second);
      },
      [&](std::span<const float> sums) {
        if (round++ % 2 == 1) last = -mean_recall(groups, fit.margins, sums, length.recall_up_to);
        return last;
      });
}

}  // namespace hone::cost
