#include "hone/cost/store_model.h"

#include <numeric>

#include "hone/cost/model_file.h"
#include "hone/cost/objectives.h"
#include "hone/cost/parallel_chunks.h"
#include "hone/cost/samples.h"
#include "hone/cost/store_features.h"
#include "hone/support/log.h"
#include "hone/support/rng.h"

namespace hone::cost {

namespace {

Result<const ir::Function*> program_of(const Subject& subject) {
  if (!subject.program)
    return error(ErrorCode::InvalidArgument, "ansor: a candidate of task '{}' comes without its program", subject.task);
  return subject.program;
}

class StoreModel final : public CostModel {
 public:
  explicit StoreModel(const ModelOptions& options) : options_(options), rng_(options.seed) {}

  std::string_view name() const override { return "ansor"; }
  TransfersTo transfers_to() const override { return TransfersTo::All; }

  bool is_trained(std::string_view, std::string_view) const override { return trees_.size() > 0; }

  Result<std::vector<double>> predict(std::span<const Subject> subjects) override {
    std::vector<double> scores(subjects.size());
    if (!is_trained({}, {})) {
      for (double& score : scores) score = rng_.unit();
      return scores;
    }
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
    HONE_TRY(BoostedTrees trees, fit(samples));
    samples_ = std::move(samples);
    trees_ = std::move(trees);
    return {};
  }

  Result<void> save(const std::filesystem::path& file) const override {
    HONE_TRY(std::string trees, trees_.to_bytes());
    return write_model_file(file, identity(), {{"samples", samples_.to_bytes()}, {"trees", std::move(trees)}});
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
    samples_ = std::move(samples);
    trees_ = std::move(trees);
    return {};
  }

 private:
  ModelIdentity identity() const { return {std::string(name()), std::string(kStoreSchema)}; }

  Result<void> score(std::span<const Subject> subjects, std::span<double> scores) const {
    StoreFeatures extractor;
    std::vector<float> rows;
    std::vector<std::size_t> counts(subjects.size());
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      HONE_TRY(const ir::Function* program, program_of(subjects[i]));
      HONE_TRY(counts[i], extractor.extract(*program, rows));
    }
    HONE_TRY(const std::vector<float> sums, trees_.predict(rows, rows.size() / kStoreFeatures));
    std::size_t row = 0;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      scores[i] = std::accumulate(sums.begin() + static_cast<std::ptrdiff_t>(row),
                                  sums.begin() + static_cast<std::ptrdiff_t>(row + counts[i]), 0.0);
      row += counts[i];
    }
    return {};
  }

  /// No trees if there is no candidate yet that ran.
  Result<BoostedTrees> fit(const SampleSet& samples) const {
    std::vector<std::uint32_t> first_rows = {0};
    std::vector<float> labels;
    float sum = 0;
    for (const SampleSet::Sample& sample : samples.samples()) {
      first_rows.push_back(first_rows.back() + static_cast<std::uint32_t>(sample.size / kStoreFeatures));
      labels.push_back(samples.label(sample));
      sum += labels.back();
    }
    if (sum == 0 || samples.values().empty()) return BoostedTrees();
    const Matrix rows{.columns = kStoreFeatures, .values = {samples.values().begin(), samples.values().end()}};
    const SumOfRows objective(first_rows, labels);
    TreeSettings settings = kStoreTrees;
    settings.seed = options_.seed;
    HONE_TRY(BoostedTrees trees, BoostedTrees::fit(
                                     rows, settings,
                                     [&](std::span<const float> sums, std::span<float> first, std::span<float> second) {
                                       objective.gradient(sums, first, second);
                                     },
                                     [&](std::span<const float> sums) { return objective.loss(sums); }));
    log::debug("cost", "{} trees for {} rows of {} programs", trees.size(), rows.rows(), labels.size());
    return trees;
  }

  ModelOptions options_;
  Rng rng_;
  SampleSet samples_;
  BoostedTrees trees_;
};

}  // namespace

std::unique_ptr<CostModel> make_store_model(const ModelOptions& options) {
  return std::make_unique<StoreModel>(options);
}

}  // namespace hone::cost
