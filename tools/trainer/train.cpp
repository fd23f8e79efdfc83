#include "train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <set>

#include "hone/cost/lambda_rank.h"
#include "hone/support/rng.h"

namespace hone::trainer {
namespace {

using torch::Tensor;

/// Programs of one task that are compared with each other.
constexpr std::size_t kGroup = 64;

/// What a network sees at a time: a sample, for all heads, or, where targets share one, as it is for one of them.
struct Item {
  std::size_t sample = 0;
  std::size_t head = 0;  ///< that counts; of all heads: 0
};

/// Items that go through the network together, in groups within which pairs are formed.
struct Batch {
  std::vector<Item> items;
  std::vector<std::size_t> groups;
};

template <typename Item>
void shuffle(std::vector<Item>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(i) - 1))]);
}

std::vector<Batch> make_batches(const cost::TrainingSet& set, std::vector<Item> items, const TrainOptions& options,
                                Rng& rng) {
  shuffle(items, rng);
  std::vector<std::vector<Item>> groups;
  if (options.pairs_within_tasks) {
    const auto key = [&](const Item& item) { return std::pair(set.tasks[item.sample], item.head); };
    std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) { return key(a) < key(b); });
    for (const Item& item : items) {
      const bool is_new = groups.empty() || groups.back().size() == kGroup || key(groups.back().front()) != key(item);
      if (is_new) groups.emplace_back();
      groups.back().push_back(item);
    }
    shuffle(groups, rng);
  } else {
    for (std::size_t begin = 0; begin < items.size(); begin += options.batch)
      groups.emplace_back(items.begin() + static_cast<std::ptrdiff_t>(begin),
                          items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), begin + options.batch)));
  }
  std::vector<Batch> batches;
  for (const std::vector<Item>& group : groups) {
    if (batches.empty() || batches.back().items.size() + group.size() > options.batch) batches.emplace_back();
    batches.back().items.insert(batches.back().items.end(), group.begin(), group.end());
    batches.back().groups.push_back(group.size());
  }
  return batches;
}

/// The sentences of items, as long as the longest of them if what fills them up does not count. `targets` are those of
/// the heads.
Tensor sentences_of(const cost::NetworkSpec& spec, const cost::TrainingSet& set, std::span<const Item> items,
                    std::span<const std::size_t> targets) {
  const auto rows = static_cast<std::int64_t>(set.shape.rows), columns = static_cast<std::int64_t>(set.shape.columns);
  Tensor all = torch::empty({static_cast<std::int64_t>(items.size()), rows, columns});
  const std::size_t size = set.shape.size();
  std::size_t longest = 1;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto [sample, head] = items[i];
    set.copy_sentence(sample, targets[head], std::span(all.data_ptr<float>() + i * size, size));
    longest = std::max(longest, set.first_rows[sample + 1] - set.first_rows[sample]);
  }
  return spec.is_masked ? all.slice(1, 0, std::min(static_cast<std::int64_t>(longest), rows)).contiguous() : all;
}

/// Labels that may be seen, one per head for each sample; NaN: none.
struct Labels {
  std::vector<float> numbers;
  std::size_t heads = 0;

  float at(std::size_t sample, std::size_t head) const { return numbers[sample * heads + head]; }
};

Labels visible_labels(const cost::TrainingSet& set, const std::vector<std::size_t>& targets,
                      const TrainOptions& options) {
  Labels labels{{}, targets.size()};
  Rng rng = Rng(options.label_seed.value_or(options.seed)).fork(/*salt=*/7);
  for (std::size_t i = 0; i < set.size(); ++i)
    for (std::size_t h = 0; h < targets.size(); ++h) {
      const bool is_hidden = h == 0 && !rng.chance(options.label_share);
      labels.numbers.push_back(is_hidden ? std::nanf("") : set.label(i, targets[h]));
    }
  return labels;
}

/// An error names a target of whose labels none may be seen, unless the others' are what is trained on.
Result<void> check_visible(const cost::Dataset& data, const cost::TrainingSet& set,
                           const std::vector<std::size_t>& targets, const Labels& labels, const TrainOptions& options) {
  std::size_t visible = 0;
  for (std::size_t i = 0; i < set.size(); ++i) visible += std::isnan(labels.at(i, 0)) ? 0 : 1;
  if (visible > 0 || (options.label_share == 0 && targets.size() > 1)) return {};
  return error(ErrorCode::InvalidArgument, "target '{}' has {} labels, of which a share of {:g} shows none",
               data.targets[targets[0]], set.count_labels(targets[0]), options.label_share);
}

/// Scores what was held back for the targets that have labels there, none of which are hidden: those that are hidden
/// choose nothing either.
void score_held(const TorchNetwork& network, const cost::Dataset& data, const cost::TrainingSet& held,
                const std::vector<std::size_t>& targets, const TrainOptions& options, EpochReport& report) {
  double top_1 = 0, top_5 = 0;
  for (std::size_t h = options.label_share < 1 ? 1 : 0; h < targets.size(); ++h) {
    if (held.count_labels(targets[h]) == 0) continue;
    const cost::TopScores top = cost::evaluate_tasks(data, held, targets[h], predict(network, held, targets[h], h));
    top_1 += top.top_1;
    top_5 += top.top_5;
    ++report.scored;
  }
  if (report.scored == 0) return;
  report.top_1 = top_1 / static_cast<double>(report.scored);
  report.top_5 = top_5 / static_cast<double>(report.scored);
}

/// All that there is to see of samples; those of which no label may be seen are left out.
std::vector<Item> items_of(const cost::NetworkSpec& spec, const Labels& labels, std::span<const std::size_t> samples) {
  std::vector<Item> items;
  for (const std::size_t sample : samples)
    for (std::size_t h = 0; h < labels.heads; ++h) {
      if (std::isnan(labels.at(sample, h))) continue;
      items.push_back({sample, spec.has_one_head ? h : 0});
      if (!spec.has_one_head) break;
    }
  return items;
}

/// The loss of a batch, and its gradient by the scores.
struct BatchLoss {
  double loss = 0;
  Tensor gradient;
};

BatchLoss loss_of(const Tensor& scores, const Batch& batch, const Labels& labels, const TrainOptions& options) {
  const Tensor values = scores.detach().contiguous();
  BatchLoss result{0, torch::zeros_like(values)};
  const auto* score = values.data_ptr<float>();
  auto* gradient = result.gradient.data_ptr<float>();
  const auto heads = static_cast<std::size_t>(scores.size(1));
  for (std::size_t h = 0; h < heads; ++h) {
    std::vector<float> seen_scores, seen_labels;
    std::vector<std::size_t> seen, groups;
    std::size_t next = 0;
    for (const std::size_t size : batch.groups) {
      std::size_t count = 0;
      for (std::size_t i = 0; i < size; ++i, ++next) {
        const Item& item = batch.items[next];
        const float label = labels.at(item.sample, item.head + h);
        if (std::isnan(label)) continue;
        seen.push_back(next);
        seen_scores.push_back(score[next * heads + h]);
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
        gradient[seen[i] * heads + h] = 2 * off / count;
      }
      continue;
    }
    const cost::RankLoss rank = cost::lambda_rank(seen_scores, seen_labels, groups);
    const auto share = 1 / static_cast<float>(groups.size());
    result.loss += rank.loss * static_cast<double>(share);
    for (std::size_t i = 0; i < seen.size(); ++i) gradient[seen[i] * heads + h] = rank.gradient[i] * share;
  }
  return result;
}

/// What is trained on, and what is held back.
std::pair<std::vector<std::size_t>, std::vector<std::size_t>> split(const cost::TrainingSet& set,
                                                                    const TrainOptions& options) {
  std::vector<std::size_t> kept, held;
  Rng rng = Rng(options.seed).fork(/*salt=*/3);
  std::set<std::uint32_t> names(set.tasks.begin(), set.tasks.end());
  std::vector<std::uint32_t> tasks(names.begin(), names.end());
  shuffle(tasks, rng);
  const std::set<std::uint32_t> held_tasks(
      tasks.begin(),
      tasks.begin() + static_cast<std::ptrdiff_t>(std::ceil(static_cast<double>(tasks.size()) * options.held_back)));
  for (std::size_t i = 0; i < set.size(); ++i) {
    const bool is_held = options.validates_on_tasks ? held_tasks.contains(set.tasks[i]) : rng.chance(options.held_back);
    (is_held ? held : kept).push_back(i);
  }
  return {kept, held};
}

/// The samples at these places alone, those of a task one after the other.
cost::TrainingSet part_of(const cost::TrainingSet& set, const std::vector<std::size_t>& places) {
  cost::TrainingSet part{.shape = set.shape,
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

/// Brings each feature to at most 1, for networks that read features as they are.
void fit_scale(TorchNetwork& network, const cost::TrainingSet& set) {
  if (network.spec().body != "sum") return;
  Tensor scale = torch::ones({static_cast<std::int64_t>(set.shape.columns)});
  auto* factor = scale.data_ptr<float>();
  std::vector<float> largest(set.shape.columns, 0);
  for (std::size_t i = 0; i < set.numbers.size(); ++i)
    largest[i % set.shape.columns] = std::max(largest[i % set.shape.columns], std::abs(set.numbers[i]));
  for (std::size_t c = 0; c < largest.size(); ++c) factor[c] = largest[c] > 0 ? 1 / largest[c] : 1;
  network.set_scale(scale);
}

/// The mean of what weights were lately, which scores better than what they are.
class Average {
 public:
  explicit Average(std::vector<Tensor> weights) : weights_(std::move(weights)) {
    const torch::NoGradGuard guard;
    for (const Tensor& weight : weights_) means_.push_back(weight.clone());
  }

  void add() {
    constexpr double kKept = 0.99;
    const torch::NoGradGuard guard;
    const double kept = std::min(kKept, static_cast<double>(steps_) / static_cast<double>(steps_ + 10));
    ++steps_;
    for (std::size_t i = 0; i < means_.size(); ++i) means_[i].mul_(kept).add_(weights_[i], 1 - kept);
  }

  /// Makes the weights the means, or what they were again.
  void swap() {
    const torch::NoGradGuard guard;
    for (std::size_t i = 0; i < means_.size(); ++i) {
      const Tensor weight = weights_[i].clone();
      weights_[i].copy_(means_[i]);
      means_[i].copy_(weight);
    }
  }

 private:
  std::vector<Tensor> weights_, means_;
  std::int64_t steps_ = 0;
};

/// The rate of learning in an epoch: it falls along half a wave of a cosine.
double rate_in(int epoch, const TrainOptions& options) {
  if (options.is_steady) return options.rate;
  constexpr double kLeft = 0.02;
  const double done = static_cast<double>(epoch - 1) / options.epochs;
  return options.rate * (kLeft + (1 - kLeft) * (1 + std::cos(std::numbers::pi * done)) / 2);
}

}  // namespace

std::vector<double> predict(const TorchNetwork& network, const cost::TrainingSet& samples, std::size_t target,
                            std::size_t head, std::size_t most) {
  const torch::NoGradGuard guard;
  const std::size_t count = std::min(most, samples.size());
  constexpr std::size_t kAtOnce = 256;
  std::vector<double> scores;
  for (std::size_t begin = 0; begin < count; begin += kAtOnce) {
    std::vector<Item> items(std::min(kAtOnce, count - begin));
    for (std::size_t i = 0; i < items.size(); ++i) items[i].sample = begin + i;
    const Tensor found = network.forward(sentences_of(network.spec(), samples, items, std::span(&target, 1)))
                             .select(1, network.spec().has_one_head ? 0 : static_cast<std::int64_t>(head))
                             .contiguous();
    scores.insert(scores.end(), found.data_ptr<float>(), found.data_ptr<float>() + found.numel());
  }
  return scores;
}

Result<EpochReport> train(TorchNetwork& network, const cost::Dataset& data, const cost::TrainingSet& samples,
                          const std::vector<std::size_t>& targets, const TrainOptions& options,
                          const std::function<void(const EpochReport&)>& told) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto [kept, held] = split(samples, options);
  const cost::TrainingSet validation = part_of(samples, held);
  const Labels labels = visible_labels(samples, targets, options);
  HONE_TRY(check_visible(data, samples, targets, labels, options));
  const std::vector<Item> shown = items_of(network.spec(), labels, kept);
  const std::vector<Item> checked = items_of(network.spec(), labels, held);
  if (shown.empty())
    return error(ErrorCode::InvalidArgument, "all labels are held back or hidden, none is left to train on");
  fit_scale(network, samples);
  torch::optim::Adam optimizer(network.parameters(),
                               torch::optim::AdamOptions(options.rate).weight_decay(options.decay));
  cost::Weights best_weights = network.weights();
  EpochReport best;
  best.validation_loss = std::numeric_limits<double>::infinity();
  Rng rng = Rng(options.seed).fork(/*salt=*/11);
  Average average(network.parameters());
  for (int epoch = 1, barren = 0; epoch <= options.epochs && barren < options.patience; ++epoch, ++barren) {
    EpochReport report{.epoch = epoch, .epochs = options.epochs};
    for (torch::optim::OptimizerParamGroup& group : optimizer.param_groups())
      static_cast<torch::optim::AdamOptions&>(group.options()).lr(rate_in(epoch, options));
    const std::vector<Batch> batches = make_batches(samples, shown, options, rng);
    for (const Batch& batch : batches) {
      optimizer.zero_grad();
      const Tensor scores = network.forward(sentences_of(network.spec(), samples, batch.items, targets));
      const BatchLoss found = loss_of(scores, batch, labels, options);
      scores.backward(found.gradient);
      torch::nn::utils::clip_grad_norm_(network.parameters(), options.largest_gradient);
      optimizer.step();
      if (!options.is_steady) average.add();
      report.loss += found.loss / static_cast<double>(batches.size());
    }
    if (!options.is_steady) average.swap();
    Rng fixed(options.seed);
    const std::vector<Batch> checks = make_batches(samples, checked, options, fixed);
    for (const Batch& batch : checks) {
      const torch::NoGradGuard guard;
      const Tensor scores = network.forward(sentences_of(network.spec(), samples, batch.items, targets));
      report.validation_loss += loss_of(scores, batch, labels, options).loss / static_cast<double>(checks.size());
    }
    report.is_checked = !checks.empty();
    if (!report.is_checked) report.validation_loss = report.loss;
    score_held(network, data, validation, targets, options, report);
    report.elapsed_s = std::chrono::duration<double>(Clock::now() - start).count();
    report.left_s = report.elapsed_s / epoch * (options.epochs - epoch);
    report.is_best = report.is_checked ? report.validation_loss < best.validation_loss : std::isfinite(report.loss);
    if (report.is_best) {
      best = report;
      best_weights = network.weights();
      barren = -1;
    }
    told(report);
    if (!options.is_steady) average.swap();
  }
  network.set_weights(best_weights);
  return best;
}

}  // namespace hone::trainer
