#include "hone/cost/training_batches.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/cost/lambda_rank.h"

namespace hone::cost {
namespace {

/// Programs of one task that are compared with each other.
constexpr std::size_t kGroup = 64;

template <typename Item>
void shuffle_items(std::vector<Item>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(i) - 1))]);
}

}  // namespace

VisibleLabels visible_labels(const TrainingSet& set, std::span<const std::size_t> targets,
                             const TrainingOptions& options) {
  VisibleLabels labels{{}, targets.size()};
  Rng rng = Rng(options.label_seed.value_or(options.seed)).fork(/*salt=*/7);
  for (std::size_t i = 0; i < set.size(); ++i)
    for (std::size_t h = 0; h < targets.size(); ++h) {
      const bool is_hidden = h == 0 && !rng.chance(options.label_share);
      labels.numbers.push_back(is_hidden ? std::nanf("") : set.label(i, targets[h]));
    }
  return labels;
}

Result<void> check_visible(const Dataset& data, const TrainingSet& set, std::span<const std::size_t> targets,
                           const VisibleLabels& labels, const TrainingOptions& options) {
  std::size_t visible = 0;
  for (std::size_t i = 0; i < set.size(); ++i) visible += std::isnan(labels.at(i, 0)) ? 0 : 1;
  constexpr std::size_t kFewestVisible = 2;  // with fewer, there is nothing to compare
  if (visible >= kFewestVisible || (options.label_share == 0 && targets.size() > 1)) return {};
  return error(ErrorCode::InvalidArgument,
               "target '{}' has {} labels, of which a share of {:g} shows {}, expected at least {}",
               data.targets[targets[0]], set.count_labels(targets[0]), options.label_share, visible, kFewestVisible);
}

std::pair<std::vector<std::size_t>, std::vector<std::size_t>> split_samples(const TrainingSet& set,
                                                                            const TrainingOptions& options) {
  std::vector<std::size_t> kept, held;
  Rng rng = Rng(options.seed).fork(/*salt=*/3);
  std::set<std::uint32_t> names(set.tasks.begin(), set.tasks.end());
  std::vector<std::uint32_t> tasks(names.begin(), names.end());
  shuffle_items(tasks, rng);
  const std::set<std::uint32_t> held_tasks(
      tasks.begin(),
      tasks.begin() + static_cast<std::ptrdiff_t>(std::ceil(static_cast<double>(tasks.size()) * options.held_back)));
  for (std::size_t i = 0; i < set.size(); ++i) {
    const bool is_held = options.validates_on_tasks ? held_tasks.contains(set.tasks[i]) : rng.chance(options.held_back);
    (is_held ? held : kept).push_back(i);
  }
  return {kept, held};
}

TrainingSet part_of(const TrainingSet& set, std::span<const std::size_t> places) {
  TrainingSet part{.shape = set.shape,
                   .schema = set.schema,
                   .targets = set.targets,
                   .target_rows = set.target_rows,
                   .first_rows = {0}};
  const std::size_t lead = set.targets * set.target_rows * set.shape.columns;
  for (const std::size_t i : places) {
    const auto first = set.leads.begin() + static_cast<std::ptrdiff_t>(i * lead);
    part.leads.insert(part.leads.end(), first, first + static_cast<std::ptrdiff_t>(lead));
    const auto begin = static_cast<std::ptrdiff_t>(set.first_rows[i] * set.shape.columns);
    const auto end = static_cast<std::ptrdiff_t>(set.first_rows[i + 1] * set.shape.columns);
    part.numbers.insert(part.numbers.end(), set.numbers.begin() + begin, set.numbers.begin() + end);
    part.first_rows.push_back(part.first_rows.back() + set.first_rows[i + 1] - set.first_rows[i]);
    for (std::size_t t = 0; t < set.targets; ++t) part.labels.push_back(set.label(i, t));
    part.tasks.push_back(set.tasks[i]);
    part.programs.push_back(set.programs[i]);
  }
  return part;
}

std::vector<TrainingItem> items_of(bool has_one_head, const VisibleLabels& labels,
                                   std::span<const std::size_t> samples) {
  std::vector<TrainingItem> items;
  for (const std::size_t sample : samples)
    for (std::size_t h = 0; h < labels.heads; ++h) {
      if (std::isnan(labels.at(sample, h))) continue;
      items.push_back({sample, has_one_head ? h : 0});
      if (!has_one_head) break;
    }
  return items;
}

std::vector<TrainingBatch> make_batches(const TrainingSet& set, std::vector<TrainingItem> items,
                                        const TrainingOptions& options, Rng& rng) {
  shuffle_items(items, rng);
  std::vector<std::vector<TrainingItem>> groups;
  if (options.pairs_within_tasks) {
    const auto key = [&](const TrainingItem& item) { return std::pair(set.tasks[item.sample], item.head); };
    std::stable_sort(items.begin(), items.end(),
                     [&](const TrainingItem& a, const TrainingItem& b) { return key(a) < key(b); });
    for (const TrainingItem& item : items) {
      const bool is_new = groups.empty() || groups.back().size() == kGroup || key(groups.back().front()) != key(item);
      if (is_new) groups.emplace_back();
      groups.back().push_back(item);
    }
    shuffle_items(groups, rng);
  } else {
    for (std::size_t begin = 0; begin < items.size(); begin += options.batch)
      groups.emplace_back(items.begin() + static_cast<std::ptrdiff_t>(begin),
                          items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), begin + options.batch)));
  }
  std::vector<TrainingBatch> batches;
  for (const std::vector<TrainingItem>& group : groups) {
    if (batches.empty() || batches.back().items.size() + group.size() > options.batch) batches.emplace_back();
    batches.back().items.insert(batches.back().items.end(), group.begin(), group.end());
    batches.back().groups.push_back(group.size());
  }
  return batches;
}

BatchLoss batch_loss(std::span<const float> scores, std::size_t heads, const TrainingBatch& batch,
                     const VisibleLabels& labels, const TrainingOptions& options) {
  BatchLoss result{0, std::vector<float>(scores.size())};
  for (std::size_t h = 0; h < heads; ++h) {
    std::vector<float> seen_scores, seen_labels;
    std::vector<std::size_t> seen, groups;
    std::size_t next = 0;
    for (const std::size_t size : batch.groups) {
      std::size_t count = 0;
      for (std::size_t i = 0; i < size; ++i, ++next) {
        const TrainingItem& item = batch.items[next];
        const float label = labels.at(item.sample, item.head + h);
        if (std::isnan(label)) continue;
        seen.push_back(next);
        seen_scores.push_back(scores[next * heads + h]);
        seen_labels.push_back(label);
        ++count;
      }
      groups.push_back(count);
    }
    if (seen.empty()) continue;
    if (options.loss == "mse") {
      const auto count = static_cast<float>(seen.size());
      for (std::size_t i = 0; i < seen.size(); ++i) {
        const float off = seen_scores[i] - seen_labels[i];
        result.loss += static_cast<double>(off * off / count);
        result.gradient[seen[i] * heads + h] = 2 * off / count;
      }
      continue;
    }
    const RankLoss rank = lambda_rank(seen_scores, seen_labels, groups);
    const auto share = 1 / static_cast<float>(groups.size());
    result.loss += rank.loss * static_cast<double>(share);
    for (std::size_t i = 0; i < seen.size(); ++i) result.gradient[seen[i] * heads + h] = rank.gradient[i] * share;
  }
  return result;
}

}  // namespace hone::cost
