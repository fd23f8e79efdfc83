#include "hone/cost/store_model.h"

#include <algorithm>
#include <cmath>

#include "hone/cost/byte_reader.h"
#include "hone/cost/model_file.h"
#include "hone/cost/objectives.h"
#include "hone/cost/parallel_chunks.h"
#include "hone/cost/samples.h"
#include "hone/cost/store_features.h"
#include "hone/cost/store_trees.h"
#include "hone/support/log.h"
#include "hone/support/rng.h"

namespace hone::cost {
namespace {

Result<const ir::Function*> program_of(const Subject& subject) {
  if (!subject.program)
    return error(ErrorCode::InvalidArgument, "ansor: a candidate of task '{}' comes without its program", subject.task);
  return subject.program;
}

/// Weighted means of what a prior says of the samples of a task, and of their labels.
struct TaskMeans {
  double weight = 0, expected = 0, label = 0;
};

std::vector<TaskMeans> means_of(const SampleSet& samples, std::span<const float> expected) {
  std::vector<TaskMeans> means(samples.tasks().size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const SampleSet::Sample& sample = samples.samples()[i];
    const double label = samples.label(sample), weight = weight_of(samples.label(sample));
    TaskMeans& mean = means[sample.task];
    mean.weight += weight;
    mean.expected += weight * expected[i];
    mean.label += weight * label;
  }
  for (TaskMeans& mean : means) {
    mean.expected /= mean.weight;
    mean.label /= mean.weight;
  }
  return means;
}

/// The slope of labels over what a prior says, within tasks. What is measured is what looked good, so that few samples
/// tell little of it: so many count as if they had the usual slope.
double slope_of(const SampleSet& samples, std::span<const float> expected) {
  constexpr double kUsual = 0.1, kUsualSamples = 16;
  const std::vector<TaskMeans> means = means_of(samples, expected);
  double both = kUsualSamples * kUsual, square = kUsualSamples;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const SampleSet::Sample& sample = samples.samples()[i];
    const double label = samples.label(sample), x = expected[i] - means[sample.task].expected;
    both += weight_of(samples.label(sample)) * x * (label - means[sample.task].label);
    square += weight_of(samples.label(sample)) * x * x;
  }
  return std::max(0.0, both / square);
}

/// What a prior says on the scale of labels.
std::vector<float> margins(const SampleSet& samples, std::span<const float> expected, double slope) {
  const std::vector<TaskMeans> means = means_of(samples, expected);
  std::vector<float> found;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const TaskMeans& mean = means[samples.samples()[i].task];
    found.push_back(static_cast<float>(mean.label + slope * (expected[i] - mean.expected)));
  }
  return found;
}

class StoreModel final : public CostModel {
 public:
  StoreModel(std::string_view name, std::unique_ptr<CostModel> prior, const ModelOptions& options)
      : name_(name), prior_(std::move(prior)), options_(options), rng_(options.seed) {}

  std::string_view name() const override { return name_; }
  TransfersTo transfers_to() const override { return TransfersTo::All; }

  bool is_trained(std::string_view task, std::string_view family) const override {
    return known_.trees.size() > 0 || (prior_ && prior_->is_trained(task, family));
  }

  Result<std::vector<double>> predict(std::span<const Subject> subjects) override {
    std::vector<double> scores(subjects.size());
    if (prior_) {
      HONE_TRY(scores, prior_->predict(subjects));
      for (double& score : scores) score *= known_.slope;
    } else if (known_.trees.size() == 0) {
      for (double& score : scores) score = rng_.unit();
    }
    if (known_.trees.size() == 0) return scores;
    HONE_TRY(for_chunks(subjects.size(), kChunk, options_.threads, [&](std::size_t begin, std::size_t end) {
      return score(subjects.subspan(begin, end - begin), std::span(scores).subspan(begin, end - begin));
    }));
    return scores;
  }

  Result<void> update(std::span<const Subject> subjects, std::span<const double> seconds) override {
    HONE_TRY(check_samples(name(), subjects, seconds));
    std::vector<std::vector<float>> features(subjects.size());
    HONE_TRY(
        for_chunks(subjects.size(), kChunk, options_.threads, [&](std::size_t begin, std::size_t end) -> Result<void> {
          StoreFeatures extractor;
          for (std::size_t i = begin; i < end; ++i) {
            HONE_TRY(const ir::Function* program, program_of(subjects[i]));
            HONE_TRY(extractor.extract(*program, features[i]));
          }
          return {};
        }));
    SampleSet samples = samples_;
    for (std::size_t i = 0; i < subjects.size(); ++i) samples.add(subjects[i], seconds[i], features[i]);
    std::vector<float> expected = expected_;
    if (prior_) {
      HONE_TRY(const std::vector<double> scores, prior_->predict(subjects));
      expected.insert(expected.end(), scores.begin(), scores.end());
    }
    return take(std::move(samples), std::move(expected));
  }

  Result<void> learn_from_others(std::span<const Subject> subjects, std::span<const double> seconds) override {
    HONE_TRY(update(subjects, seconds));
    others_ = samples_.samples().size();
    return {};
  }

  Result<void> save(const std::filesystem::path& file) const override {
    HONE_TRY(std::string trees, known_.trees.to_bytes());
    std::vector<Section> sections = {{"samples", samples_.to_bytes()}, {"trees", std::move(trees)}};
    if (prior_) {
      std::string bytes;
      append(bytes, known_.slope);
      append<std::uint64_t>(bytes, known_.samples);
      for (const float score : expected_) append(bytes, score);
      sections.push_back({"prior", std::move(bytes)});
    }
    return write_model_file(file, identity(), sections);
  }

  Result<void> load(const std::filesystem::path& file) override {
    HONE_TRY(const std::vector<Section> sections, read_model_file(file, identity()));
    HONE_TRY(const std::string_view sample_bytes, find_section(sections, "samples", file));
    HONE_TRY(SampleSet samples, SampleSet::from_bytes(sample_bytes));
    for (const SampleSet::Sample& sample : samples.samples())
      if (sample.size % kStoreFeatures != 0)
        return error(ErrorCode::ParseError, "model file '{}' has a sample of {} numbers, no multiple of {}",
                     file.string(), sample.size, kStoreFeatures);
    HONE_TRY(const std::string_view tree_bytes, find_section(sections, "trees", file));
    HONE_TRY(BoostedTrees trees, BoostedTrees::from_bytes(tree_bytes));
    if (trees.size() > 0 && trees.columns() != kStoreFeatures)
      return error(ErrorCode::ParseError, "model file '{}' has trees over {} features, not {}", file.string(),
                   trees.columns(), kStoreFeatures);
    Known known{.trees = std::move(trees), .samples = samples.samples().size()};
    std::vector<float> expected;
    if (prior_) {
      HONE_TRY(const std::string_view bytes, find_section(sections, "prior", file));
      HONE_TRY(expected, read_prior(bytes, samples.samples().size(), known, file));
    }
    samples_ = std::move(samples);
    expected_ = std::move(expected);
    known_ = std::move(known);
    others_ = 0;
    return {};
  }

 private:
  /// What was learnt at one time.
  struct Known {
    BoostedTrees trees = {};
    double slope = 1;         ///< of labels over what the prior says
    std::size_t samples = 0;  ///< that it rests on
  };

  ModelIdentity identity() const { return {std::string(name()), std::string(kStoreSchema)}; }

  /// What the prior said of each sample; slope and number of samples go into `known`.
  static Result<std::vector<float>> read_prior(std::string_view bytes, std::size_t samples, Known& known,
                                               const std::filesystem::path& file) {
    ByteReader reader(bytes);
    HONE_TRY(known.slope, reader.number<double>());
    HONE_TRY(known.samples, reader.number<std::uint64_t>());
    std::vector<float> expected;
    for (std::size_t i = 0; i < samples; ++i) {
      HONE_TRY(const float score, reader.number<float>());
      expected.push_back(score);
    }
    const bool is_finite = std::isfinite(known.slope) && std::all_of(expected.begin(), expected.end(),
                                                                     [](float score) { return std::isfinite(score); });
    if (!is_finite || known.slope < 0 || known.samples > samples || !reader.at_end())
      return error(ErrorCode::ParseError, "model file '{}': the section 'prior' is damaged", file.string());
    return expected;
  }

  Result<void> score(std::span<const Subject> subjects, std::span<double> scores) const {
    StoreFeatures extractor;
    StoreRows rows{.rows = {.columns = kStoreFeatures}};
    for (const Subject& subject : subjects) {
      HONE_TRY(const ir::Function* program, program_of(subject));
      HONE_TRY(extractor.extract(*program, rows.rows.values));
      rows.first.push_back(static_cast<std::uint32_t>(rows.rows.rows()));
    }
    HONE_TRY(const std::vector<double> sums, sum_store_trees(known_.trees, rows));
    for (std::size_t i = 0; i < subjects.size(); ++i) scores[i] += sums[i];
    return {};
  }

  /// Replaces what is known, and fits trees to it if that is due.
  Result<void> take(SampleSet samples, std::vector<float> expected) {
    if (is_due(samples.samples().size())) {
      Known known{.samples = samples.samples().size()};
      if (prior_) known.slope = slope_of(samples, expected);
      HONE_TRY(known.trees, fit(samples, prior_ ? margins(samples, expected, known.slope) : std::vector<float>()));
      known_ = std::move(known);
    }
    samples_ = std::move(samples);
    expected_ = std::move(expected);
    return {};
  }

  /// Whether trees are to be fitted to so many samples. Ansor fits them after each round; on top of a prior it is done
  /// when enough is new, not counting what others taught at first.
  bool is_due(std::size_t samples) const {
    constexpr double kNewShare = 0.06;
    const double before = static_cast<double>(std::max(known_.samples, others_) - others_);
    return !prior_ || known_.samples == 0 || static_cast<double>(samples - others_) >= (1 + kNewShare) * before;
  }

  /// No trees if there is no candidate yet that ran.
  Result<BoostedTrees> fit(const SampleSet& samples, const std::vector<float>& margins) const {
    StoreRows rows{.rows = {.columns = kStoreFeatures, .values = {samples.values().begin(), samples.values().end()}}};
    std::vector<float> labels;
    float sum = 0;
    for (const SampleSet::Sample& sample : samples.samples()) {
      rows.first.push_back(rows.first.back() + static_cast<std::uint32_t>(sample.size / kStoreFeatures));
      labels.push_back(samples.label(sample));
      sum += labels.back();
    }
    if (sum == 0 || samples.values().empty()) return BoostedTrees();
    HONE_TRY(BoostedTrees trees, fit_store_trees(rows, labels, margins, options_.seed));
    log::debug("cost", "{} trees for {} rows of {} programs", trees.size(), rows.rows.rows(), labels.size());
    return trees;
  }

  std::string name_;
  std::unique_ptr<CostModel> prior_;
  ModelOptions options_;
  Rng rng_;
  SampleSet samples_;
  std::vector<float> expected_;  // what the prior said of each sample
  std::size_t others_ = 0;       // the first samples, which others taught
  Known known_;
};

}  // namespace

std::unique_ptr<CostModel> make_store_model(const ModelOptions& options) {
  return std::make_unique<StoreModel>("ansor", nullptr, options);
}

std::unique_ptr<CostModel> make_corrected_model(std::string_view name, std::unique_ptr<CostModel> prior,
                                                const ModelOptions& options) {
  return std::make_unique<StoreModel>(name, std::move(prior), options);
}

}  // namespace hone::cost
