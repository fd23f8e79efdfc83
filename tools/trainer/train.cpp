#include "train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <sstream>

#include "hone/cost/evaluate.h"
#include "hone/cost/training_batches.h"

namespace hone::trainer {
namespace {

using torch::Tensor;
using Clock = std::chrono::steady_clock;

/// The sentences of items, as long as the longest of them if what fills them up does not count. `targets` are those of
/// the heads.
Tensor sentences_of(const cost::NetworkSpec& spec, const cost::TrainingSet& set,
                    std::span<const cost::TrainingItem> items, std::span<const std::size_t> targets) {
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

std::string to_bytes(const std::vector<Tensor>& tensors) {
  std::ostringstream out;
  torch::save(tensors, out);
  return std::move(out).str();
}

/// Copies tensors from bytes that to_bytes made.
void set_from_bytes(std::vector<Tensor>& tensors, const std::string& bytes) {
  const torch::NoGradGuard guard;
  std::istringstream in(bytes);
  std::vector<Tensor> read;
  torch::load(read, in);
  HONE_CHECK(read.size() == tensors.size(), "{} tensors for {}", read.size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].copy_(read[i]);
}

std::vector<Tensor> copies_of(const std::vector<Tensor>& tensors) {
  const torch::NoGradGuard guard;
  std::vector<Tensor> copies;
  for (const Tensor& tensor : tensors) copies.push_back(tensor.detach().clone());
  return copies;
}

/// The mean of what weights were lately, which scores better than what they are.
class Average {
 public:
  explicit Average(std::vector<Tensor> weights) : weights_(std::move(weights)), means_(copies_of(weights_)) {}

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

  void save(std::map<std::string, std::string>& parts) const {
    parts["means"] = to_bytes(means_);
    parts["steps"] = std::to_string(steps_);
  }
  void load(const std::map<std::string, std::string>& parts) {
    set_from_bytes(means_, parts.at("means"));
    steps_ = std::stoll(parts.at("steps"));
  }

 private:
  std::vector<Tensor> weights_, means_;
  std::int64_t steps_ = 0;
};

/// A network that is trained, epoch by epoch.
class Training {
 public:
  static Result<Training> begin(TorchNetwork& network, const Lesson& lesson) {
    Training training(network, lesson);
    HONE_TRY(cost::check_visible(lesson.data, lesson.samples, lesson.targets, training.labels_, lesson.options));
    if (training.shown_.empty())
      return error(ErrorCode::InvalidArgument, "all labels are held back or hidden, none is left to train on");
    return training;
  }

  bool is_over() const { return progress_.is_over(lesson_->options); }
  const cost::TrainingProgress& progress() const { return progress_; }

  Result<void> save(const Checkpoint& checkpoint) const {
    cost::TrainingState state{checkpoint.identity, progress_, {}};
    state.parts["weights"] = to_bytes(network_->parameters());
    state.parts["best"] = to_bytes(best_);
    average_.save(state.parts);
    std::ostringstream optimizer;
    torch::save(*optimizer_, optimizer);
    state.parts["optimizer"] = std::move(optimizer).str();
    return cost::write_training_state(checkpoint.file, state);
  }

  Result<void> load(const Checkpoint& checkpoint) {
    HONE_TRY(const cost::TrainingState state, cost::read_training_state(checkpoint.file, checkpoint.identity));
    std::vector<Tensor> weights = network_->parameters();
    set_from_bytes(weights, state.parts.at("weights"));
    set_from_bytes(best_, state.parts.at("best"));
    average_.load(state.parts);
    std::istringstream optimizer(state.parts.at("optimizer"));
    torch::load(*optimizer_, optimizer);
    progress_ = state.progress;
    for (int epoch = 0; epoch < progress_.epoch; ++epoch) next_batches();  // which leaves the generator where it was
    return {};
  }

  /// Trains one more epoch, and tells of it while the network has the weights that it is judged by.
  Result<void> run_epoch(const Listener& listener) {
    const Clock::time_point start = Clock::now();
    const double before_s = progress_.elapsed_s;
    const auto elapsed = [&] { return before_s + std::chrono::duration<double>(Clock::now() - start).count(); };
    cost::EpochReport report{.epoch = progress_.epoch + 1};
    report.loss = learn(report.epoch, [&](BatchReport batch) {
      const double done = report.epoch - 1 + static_cast<double>(batch.batch) / static_cast<double>(batch.batches);
      batch.left_s = elapsed() / done * (lesson_->options.epochs - done);
      listener.after_batch(batch);
    });
    if (!lesson_->options.is_steady) average_.swap();
    judge(report);
    progress_.elapsed_s = elapsed();
    const bool is_best = progress_.add(report);
    if (is_best) best_ = copies_of(network_->parameters());
    const Result<void> told = listener.after_epoch(report, progress_, is_best);
    if (!lesson_->options.is_steady) average_.swap();
    return told;
  }

  /// Leaves the network at its best epoch.
  void end() {
    const torch::NoGradGuard guard;
    const std::vector<Tensor> weights = network_->parameters();
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i].copy_(best_[i]);
  }

 private:
  Training(TorchNetwork& network, const Lesson& lesson)
      : network_(&network),
        lesson_(&lesson),
        labels_(cost::visible_labels(lesson.samples, lesson.targets, lesson.options)),
        rng_(Rng(lesson.options.seed).fork(/*salt=*/11)),
        optimizer_(std::make_unique<torch::optim::Adam>(
            network.parameters(), torch::optim::AdamOptions(lesson.options.rate).weight_decay(lesson.options.decay))),
        average_(network.parameters()),
        best_(copies_of(network.parameters())) {
    const auto [kept, held] = cost::split_samples(lesson.samples, lesson.options);
    held_ = cost::part_of(lesson.samples, held);
    shown_ = cost::items_of(network.spec().has_one_head, labels_, kept);
    checked_ = cost::items_of(network.spec().has_one_head, labels_, held);
  }

  std::vector<cost::TrainingBatch> next_batches() {
    return cost::make_batches(lesson_->samples, shown_, lesson_->options, rng_);
  }

  Tensor scores_of(const cost::TrainingBatch& batch) const {
    return network_->forward(sentences_of(network_->spec(), lesson_->samples, batch.items, lesson_->targets));
  }

  cost::BatchLoss loss_of(const Tensor& scores, const cost::TrainingBatch& batch) const {
    const Tensor values = scores.detach().contiguous();
    return cost::batch_loss(std::span(values.data_ptr<float>(), static_cast<std::size_t>(values.numel())),
                            static_cast<std::size_t>(scores.size(1)), batch, labels_, lesson_->options);
  }

  /// Goes once through what is shown, and returns the mean loss.
  double learn(int epoch, const std::function<void(BatchReport)>& told) {
    for (torch::optim::OptimizerParamGroup& group : optimizer_->param_groups())
      static_cast<torch::optim::AdamOptions&>(group.options()).lr(cost::rate_in(epoch, lesson_->options));
    const std::vector<cost::TrainingBatch> batches = next_batches();
    double sum = 0;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      optimizer_->zero_grad();
      const Tensor scores = scores_of(batches[i]);
      cost::BatchLoss found = loss_of(scores, batches[i]);
      scores.backward(torch::from_blob(found.gradient.data(), scores.sizes()));
      torch::nn::utils::clip_grad_norm_(network_->parameters(), lesson_->options.largest_gradient);
      optimizer_->step();
      if (!lesson_->options.is_steady) average_.add();
      sum += found.loss;
      told({epoch, i + 1, batches.size(), sum / static_cast<double>(i + 1), 0});
    }
    return sum / static_cast<double>(batches.size());
  }

  /// Sets what a report says of that which was held back: the loss on the labels that may be seen, and top-k scores for
  /// the targets none of whose labels are hidden.
  void judge(cost::EpochReport& report) const {
    const torch::NoGradGuard guard;
    Rng fixed(lesson_->options.seed);
    const auto batches = cost::make_batches(lesson_->samples, checked_, lesson_->options, fixed);
    for (const cost::TrainingBatch& batch : batches)
      report.validation_loss += loss_of(scores_of(batch), batch).loss / static_cast<double>(batches.size());
    report.is_checked = !batches.empty();
    if (!report.is_checked) report.validation_loss = report.loss;
    for (std::size_t h = lesson_->options.label_share < 1 ? 1 : 0; h < lesson_->targets.size(); ++h) {
      const std::size_t target = lesson_->targets[h];
      if (held_.count_labels(target) == 0) continue;
      const cost::TopScores top =
          cost::evaluate_tasks(lesson_->data, held_, target, predict(*network_, held_, target, h));
      report.top_1 += top.top_1;
      report.top_5 += top.top_5;
      ++report.scored;
    }
    if (report.scored == 0) return;
    report.top_1 /= static_cast<double>(report.scored);
    report.top_5 /= static_cast<double>(report.scored);
  }

  TorchNetwork* network_;
  const Lesson* lesson_;
  cost::VisibleLabels labels_;
  Rng rng_;  ///< of batches
  std::unique_ptr<torch::optim::Adam> optimizer_;
  Average average_;
  std::vector<Tensor> best_;
  cost::TrainingSet held_;
  std::vector<cost::TrainingItem> shown_, checked_;
  cost::TrainingProgress progress_;
};

}  // namespace

void fit_scale(TorchNetwork& network, const cost::TrainingSet& samples) {
  if (network.spec().body != "sum") return;
  Tensor scale = torch::ones({static_cast<std::int64_t>(samples.shape.columns)});
  auto* factor = scale.data_ptr<float>();
  std::vector<float> largest(samples.shape.columns, 0);
  for (std::size_t i = 0; i < samples.numbers.size(); ++i)
    largest[i % samples.shape.columns] = std::max(largest[i % samples.shape.columns], std::abs(samples.numbers[i]));
  for (std::size_t c = 0; c < largest.size(); ++c) factor[c] = largest[c] > 0 ? 1 / largest[c] : 1;
  network.set_scale(scale);
}

std::vector<double> predict(const TorchNetwork& network, const cost::TrainingSet& samples, std::size_t target,
                            std::size_t head, std::size_t most) {
  const torch::NoGradGuard guard;
  const std::size_t count = std::min(most, samples.size());
  constexpr std::size_t kAtOnce = 256;
  std::vector<double> scores;
  for (std::size_t begin = 0; begin < count; begin += kAtOnce) {
    std::vector<cost::TrainingItem> items(std::min(kAtOnce, count - begin));
    for (std::size_t i = 0; i < items.size(); ++i) items[i].sample = begin + i;
    const Tensor found = network.forward(sentences_of(network.spec(), samples, items, std::span(&target, 1)))
                             .select(1, network.spec().has_one_head ? 0 : static_cast<std::int64_t>(head))
                             .contiguous();
    scores.insert(scores.end(), found.data_ptr<float>(), found.data_ptr<float>() + found.numel());
  }
  return scores;
}

Result<cost::TrainingProgress> train(TorchNetwork& network, const Lesson& lesson, const Checkpoint& checkpoint,
                                     const Listener& listener) {
  HONE_TRY(Training training, Training::begin(network, lesson));
  if (checkpoint.resumes && std::filesystem::exists(checkpoint.file)) {
    HONE_TRY(training.load(checkpoint));
    fmt::print("goes on after epoch {} of {}\n", training.progress().epoch, lesson.options.epochs);
  }
  HONE_TRY(training.save(checkpoint));  // now, so that what cannot be written is known before an epoch is spent
  while (!training.is_over()) {
    HONE_TRY(training.run_epoch(listener));
    HONE_TRY(training.save(checkpoint));
    if (!training.is_over() && listener.is_enough())
      return error(ErrorCode::InvalidArgument, "ended after epoch {} of {}, as asked", training.progress().epoch,
                   lesson.options.epochs);
  }
  training.end();
  return training.progress();
}

}  // namespace hone::trainer
