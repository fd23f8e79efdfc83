#include "hone/cost/task_model.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/cost/byte_reader.h"
#include "hone/cost/model_file.h"
#include "hone/cost/objectives.h"
#include "hone/cost/parallel_chunks.h"
#include "hone/cost/samples.h"
#include "hone/cost/task_trees.h"
#include "hone/cost/touch_features.h"
#include "hone/support/rng.h"

namespace hone::cost {

namespace {

constexpr std::size_t kPlan = 64, kLeastForeign = 500;
constexpr FitLength kLocal = {.max_rounds = 8000, .patience = 20, .recall_up_to = kPlan};
constexpr FitLength kGlobal = {.max_rounds = 400, .patience = 100, .recall_up_to = 2 * kPlan};

/// What was fitted for one task.
struct Fitted {
  BoostedTrees local, global;
  std::uint64_t foreign = 0;  ///< how many samples of other tasks `global` was fitted to
};

using Rows = std::vector<std::vector<float>>;

class TaskModel final : public CostModel {
 public:
  TaskModel(std::string_view name, TaskObjective objective, TaskFeatures features, const ModelOptions& options)
      : name_(name), objective_(objective), features_(features), options_(options), rng_(options.seed) {}

  std::string_view name() const override { return name_; }
  TransfersTo transfers_to() const override {
    return features_ == TaskFeatures::Knob ? TransfersTo::None : TransfersTo::Family;
  }

  bool is_trained(std::string_view task, std::string_view family) const override {
    const std::optional<std::uint32_t> id = samples_.find_task(task);
    return (id && fitted_[*id].local.size() > 0) || foreign_samples(task, family).size() >= kLeastForeign;
  }

  Result<std::vector<double>> predict(std::span<const Subject> subjects) override {
    std::vector<double> scores(subjects.size());
    for (double& score : scores) score = rng_.unit();
    if (subjects.empty()) return scores;
    HONE_TRY(const Rows rows, extract(subjects));
    std::vector<std::string> tasks;
    for (const Subject& subject : subjects)
      if (std::find(tasks.begin(), tasks.end(), subject.task) == tasks.end()) tasks.push_back(subject.task);
    for (const std::string& task : tasks) {
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < subjects.size(); ++i)
        if (subjects[i].task == task) places.push_back(i);
      HONE_TRY(score_task(subjects[places.front()], rows, places, scores));
    }
    return scores;
  }

  Result<void> update(std::span<const Subject> subjects, std::span<const double> seconds) override {
    TaskModel next = *this;
    HONE_TRY(next.add(subjects, seconds));
    std::vector<std::uint32_t> changed;
    for (const Subject& subject : subjects) changed.push_back(*next.samples_.find_task(subject.task));
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    for (const std::uint32_t task : changed) HONE_TRY(next.fit_local(task));
    *this = std::move(next);
    return {};
  }

  /// Trees of these tasks would be of no use: those of others look at the samples themselves.
  Result<void> learn_from_others(std::span<const Subject> subjects, std::span<const double> seconds) override {
    return add(subjects, seconds);
  }

  Result<void> save(const std::filesystem::path& file) const override {
    std::string fits;
    for (const Fitted& fitted : fitted_) {
      HONE_TRY(const std::string local, fitted.local.to_bytes());
      HONE_TRY(const std::string global, fitted.global.to_bytes());
      append_text(fits, local);
      append_text(fits, global);
      append(fits, fitted.foreign);
    }
    return write_model_file(file, identity(), {{"samples", samples_.to_bytes()}, {"fits", std::move(fits)}});
  }

  Result<void> load(const std::filesystem::path& file) override {
    HONE_TRY(const std::vector<Section> sections, read_model_file(file, identity()));
    HONE_TRY(const std::string_view sample_bytes, find_section(sections, "samples", file));
    HONE_TRY(const std::string_view fit_bytes, find_section(sections, "fits", file));
    HONE_TRY(SampleSet samples, SampleSet::from_bytes(sample_bytes));
    std::vector<Fitted> fitted(samples.tasks().size());
    ByteReader reader(fit_bytes);
    for (Fitted& one : fitted) {
      HONE_TRY(const std::string_view local, reader.text());
      HONE_TRY(const std::string_view global, reader.text());
      HONE_TRY(one.foreign, reader.number<std::uint64_t>());
      HONE_TRY(one.local, BoostedTrees::from_bytes(local));
      HONE_TRY(one.global, BoostedTrees::from_bytes(global));
    }
    samples_ = std::move(samples);
    fitted_ = std::move(fitted);
    return {};
  }

 private:
  /// Adds samples; after an error nothing has changed.
  Result<void> add(std::span<const Subject> subjects, std::span<const double> seconds) {
    HONE_TRY(check_samples(name(), subjects, seconds));
    HONE_TRY(const Rows rows, extract(subjects));
    for (std::size_t i = 0; i < subjects.size(); ++i) samples_.add(subjects[i], seconds[i], rows[i]);
    fitted_.resize(samples_.tasks().size());
    return {};
  }

  ModelIdentity identity() const {
    const std::string_view schema = features_ == TaskFeatures::Knob      ? kKnobSchema
                                    : features_ == TaskFeatures::Itervar ? kItervarSchema
                                                                         : kCurveSchema;
    return {std::string(name_), std::string(schema)};
  }

  Result<std::vector<float>> extract(const Subject& subject) const {
    if (features_ == TaskFeatures::Knob) {
      for (const double knob : subject.knobs)
        if (!std::isfinite(knob))
          return error(ErrorCode::InvalidArgument, "{}: a candidate of task '{}' has a knob of {}, not finite", name_,
                       subject.task, knob);
      return std::vector<float>(subject.knobs.begin(), subject.knobs.end());
    }
    if (!subject.program)
      return error(ErrorCode::InvalidArgument, "{}: a candidate of task '{}' comes without its program", name_,
                   subject.task);
    HONE_TRY(const TouchAnalysis analysis, TouchAnalysis::analyze(*subject.program));
    return features_ == TaskFeatures::Itervar ? itervar_features(analysis) : curve_features(analysis);
  }

  Result<Rows> extract(std::span<const Subject> subjects) const {
    Rows rows(subjects.size());
    HONE_TRY(
        for_chunks(subjects.size(), kChunk, options_.threads, [&](std::size_t begin, std::size_t end) -> Result<void> {
          for (std::size_t i = begin; i < end; ++i) { HONE_TRY(rows[i], extract(subjects[i])); }
          return {};
        }));
    return rows;
  }

  /// The samples of the family's other tasks, by task; none if they would say nothing about this one.
  std::vector<std::size_t> foreign_samples(std::string_view task, std::string_view family) const {
    std::vector<std::size_t> places;
    if (features_ == TaskFeatures::Knob || family.empty()) return places;
    const auto samples = samples_.samples();
    const auto tasks = samples_.tasks();
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (tasks[samples[i].task].family == family && tasks[samples[i].task].name != task) places.push_back(i);
    std::stable_sort(places.begin(), places.end(),
                     [&](std::size_t a, std::size_t b) { return samples[a].task < samples[b].task; });
    return places;
  }

  /// Trees over the other tasks of the family, fitted anew when there are twice as many samples as before.
  Result<void> fit_global(std::string_view task, std::string_view family, Fitted& fitted) const {
    TaskFit fit{.samples = &samples_, .chosen = foreign_samples(task, family), .margins = {}};
    if (fit.chosen.size() < std::max<std::size_t>(kLeastForeign, 2 * fitted.foreign)) return {};
    fit.margins.resize(fit.chosen.size());
    HONE_TRY(fitted.global, fit_tasks(fit, objective_, kGlobal, options_.seed));
    fitted.foreign = fit.chosen.size();
    return {};
  }

  /// What the other tasks of the family say of rows, discounted as the task's own samples become more.
  Result<std::vector<float>> margins(const Fitted& fitted, std::size_t own_samples, const PaddedRows& rows) const {
    const double discount = transfer_discount(own_samples);
    if (fitted.global.size() == 0 || discount == 0) return std::vector<float>(rows.matrix().rows());
    HONE_TRY(std::vector<float> sums, fitted.global.predict(rows.matrix()));
    for (float& sum : sums) sum *= static_cast<float>(discount);
    return sums;
  }

  Result<void> fit_local(std::uint32_t id) {
    const SampleSet::Task& task = samples_.tasks()[id];
    Fitted& fitted = fitted_[id];
    if (transfer_discount(task.samples) > 0) HONE_TRY(fit_global(task.name, task.family, fitted));
    TaskFit fit{.samples = &samples_, .chosen = {}, .margins = {}};
    PaddedRows rows(fitted.global.columns());
    for (std::size_t i = 0; i < samples_.samples().size(); ++i)
      if (samples_.samples()[i].task == id) {
        fit.chosen.push_back(i);
        rows.add(samples_.values(samples_.samples()[i]));
      }
    HONE_TRY(fit.margins, margins(fitted, task.samples, rows));
    fit.margins.resize(fit.chosen.size());
    HONE_TRY(fitted.local, fit_tasks(fit, objective_, kLocal, options_.seed));
    return {};
  }

  /// Replaces the scores at `places`, all of one task, unless nothing was learnt that concerns them.
  Result<void> score_task(const Subject& subject, const Rows& rows, std::span<const std::size_t> places,
                          std::vector<double>& scores) {
    const std::optional<std::uint32_t> id = samples_.find_task(subject.task);
    const std::size_t own_samples = id ? samples_.tasks()[*id].samples : 0;
    Fitted* fitted = id ? &fitted_[*id] : &unseen_[subject.task];
    if (!id) HONE_TRY(fit_global(subject.task, subject.family, *fitted));
    if (fitted->local.size() == 0 && (fitted->global.size() == 0 || transfer_discount(own_samples) == 0)) return {};
    PaddedRows local_rows(fitted->local.columns()), global_rows(fitted->global.columns());
    for (const std::size_t place : places) {
      local_rows.add(rows[place]);
      global_rows.add(rows[place]);
    }
    HONE_TRY(std::vector<float> sums, margins(*fitted, own_samples, global_rows));
    sums.resize(places.size());
    if (fitted->local.size() > 0) {
      HONE_TRY(const std::vector<float> own, fitted->local.predict(local_rows.matrix()));
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += own[i];
    }
    for (std::size_t i = 0; i < places.size(); ++i) scores[places[i]] = sums[i];
    return {};
  }

  std::string_view name_;
  TaskObjective objective_;
  TaskFeatures features_;
  ModelOptions options_;
  Rng rng_;
  SampleSet samples_;
  std::vector<Fitted> fitted_;            // by task
  std::map<std::string, Fitted> unseen_;  // of tasks that have no sample yet
};

}  // namespace

std::unique_ptr<CostModel> make_task_model(std::string_view name, TaskObjective objective, TaskFeatures features,
                                           const ModelOptions& options) {
  return std::make_unique<TaskModel>(name, objective, features, options);
}

}  // namespace hone::cost
