#include "hone/search/tuner.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "hone/search/presets.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::search {
namespace {

using ::testing::HasSubstr;

TuneTask product_task(std::int64_t m, std::int64_t n, std::int64_t k) {
  const tensor::Tensor a = tensor::placeholder("a", {m, k}), b = tensor::placeholder("b", {k, n});
  auto task = std::make_shared<space::Task>();
  task->algorithms = {{"direct", tensor::lower("product", {a, b}, {*tensor::matmul(a, b)})}};
  task->constants = {1};
  task->flops = 2.0 * static_cast<double>(m * n * k);
  return {task, "product", 2};
}

class TunerTest : public ::testing::Test {
 protected:
  TunerTest() {
    std::filesystem::create_directories(folder_);
    options_.measurer.target.threads = 1;
    options_.measurer.timing.min_repeat_ms = 0.05;
    options_.measurer.workers = 1;
    options_.records = &*records_;
  }
  ~TunerTest() override { std::filesystem::remove_all(folder_); }

  std::string target() const { return codegen::to_string(options_.measurer.target); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("hone-tuner-" + std::to_string(getpid()) + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  Result<measure::Records> records_ = [this] {
    std::filesystem::create_directories(folder_);
    return measure::Records::open((folder_ / "records.db").string());
  }();
  TunerOptions options_;
};

TEST_F(TunerTest, TriesCandidatesAndAdoptsOneOfThem) {
  options_.trials_per_task = 6;
  std::int64_t told = 0;
  options_.progress = [&](const TuneProgress& progress) { told = progress.trials; };
  const Result<TuneReport> report = tune({product_task(13, 48, 17), product_task(1, 32, 8)}, options_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->is_stopped);
  EXPECT_EQ(report->records_error, "");
  EXPECT_EQ(told, report->progress.trials);
  ASSERT_EQ(report->progress.tasks.size(), 2);
  for (const TaskProgress& task : report->progress.tasks) {
    EXPECT_TRUE(task.is_done);
    EXPECT_GE(task.trials, 1);
    EXPECT_LE(task.trials, 6);
    EXPECT_EQ(task.failures, 0);
    EXPECT_LE(task.best_ns, task.first_ns);
    const auto adopted = records_->adopted(task.key, target());
    ASSERT_TRUE(adopted && *adopted) << task.name;
    EXPECT_TRUE((*adopted)->is_checked);
    EXPECT_EQ((*adopted)->candidate, task.best);
    EXPECT_NE((*adopted)->trace, "[]");
    const std::optional<measure::Adoption> adoption = measure::find_adoption(**adopted);
    ASSERT_TRUE(adoption);
    EXPECT_TRUE(std::isfinite(adoption->first_ns));
    EXPECT_THAT(adoption->first, testing::HasSubstr("mapping"));
    EXPECT_GE(*records_->count({.task = task.key}), task.trials);
  }
  EXPECT_GT(report->progress.first_ns(), 0);
}

TEST_F(TunerTest, AllTasksHaveAShortRoundBeforeAnyHasALongOneHoweverFewTrialsThereAre) {
  options_.records = nullptr;  // trials of the run before would count
  options_.search = "random";
  options_.cost_model = "none";
  for (const std::int64_t each : {4, 2, 1}) {
    options_.trials = 3 * each;
    const Result<TuneReport> report =
        tune({product_task(13, 48, 17), product_task(5, 64, 32), product_task(9, 32, 40)}, options_);
    ASSERT_TRUE(report) << report.error().message;
    for (const TaskProgress& task : report->progress.tasks) EXPECT_EQ(task.trials, each) << task.name;
  }
}

TEST_F(TunerTest, OneSeedTriesTheSameOnAnyNumberOfWorkers) {
  options_.trials_per_task = 7;
  options_.batch = 3;
  options_.search = "random";
  options_.cost_model = "none";
  std::vector<std::map<std::string, std::set<std::string>>> tried;
  for (const int workers : {1, 2, 3}) {
    Result<measure::Records> records = measure::Records::open((folder_ / (std::to_string(workers) + ".db")).string());
    ASSERT_TRUE(records);
    options_.records = &*records;
    options_.measurer.workers = workers;
    const Result<TuneReport> report =
        tune({product_task(13, 48, 17), product_task(5, 64, 32), product_task(9, 32, 40)}, options_);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->progress.trials, 21);
    std::map<std::string, std::set<std::string>>& candidates = tried.emplace_back();
    for (const TaskProgress& task : report->progress.tasks) {
      EXPECT_EQ(task.trials, 7);
      EXPECT_TRUE(task.is_done);
      EXPECT_TRUE((*records->adopted(task.key, target())).has_value()) << task.name;
      const std::vector<measure::Record> found = records->find({.task = task.key}).value();
      for (const measure::Record& record : found)
        if (!measure::find_adoption(record)) candidates[task.key].insert(record.candidate);
      EXPECT_EQ(candidates[task.key].size(), 7u);
    }
  }
  EXPECT_EQ(tried[0], tried[1]);
  EXPECT_EQ(tried[0], tried[2]);
}

TEST_F(TunerTest, GoesOnWhereItStopped) {
  const TuneTask task = product_task(13, 48, 17);
  options_.trials = 4;
  const Result<TuneReport> first = tune({task}, options_);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->progress.trials, 4);
  options_.trials = 0;
  options_.trials_per_task = 9;
  const Result<TuneReport> second = tune({task}, options_);
  ASSERT_TRUE(second);
  const std::int64_t adopted = *records_->count({.task = first->progress.tasks[0].key}) - 9;
  EXPECT_GE(adopted, 1);  // each of them is one more record
  EXPECT_LE(second->progress.trials, 5);
  EXPECT_GE(second->progress.tasks[0].trials, 9);
}

TEST_F(TunerTest, StopsAtOnceWhenTold) {
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  options_.progress = [&](const TuneProgress& progress) { stop = progress.trials >= 3; };
  const Result<TuneReport> report = tune({product_task(13, 48, 17)}, options_);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->is_stopped);
  EXPECT_GE(report->progress.trials, 3);
  EXPECT_LT(report->progress.trials, 10);
  EXPECT_GE(*records_->count(), 3);
}

TEST_F(TunerTest, CombinesAnySpaceSearchAndModel) {
  options_.trials_per_task = 6;
  options_.batch = 3;
  options_.search_options.evolutionary.population = 32;
  for (const char* space : {"mapping", "sketch", "template"})
    for (const char* search : {"exhaustive", "evolutionary", "droplet"})
      for (const char* model : {"none", "ansor", "rank-knob"}) {
        options_.space = space;
        options_.search = search;
        options_.cost_model = model;
        options_.records = nullptr;
        const Result<TuneReport> report = tune({product_task(13, 48, 17)}, options_);
        ASSERT_TRUE(report) << space << " " << search << " " << model << ": " << report.error().message;
        EXPECT_GE(report->progress.trials, 3) << space << " " << search << " " << model;
        EXPECT_TRUE(std::isfinite(report->progress.tasks[0].best_ns)) << space << " " << search << " " << model;
      }
}

TEST_F(TunerTest, KnowsPresets) {
  options_.records = nullptr;
  options_.trials = 3;
  options_.search_options.evolutionary.population = 32;
  options_.search_options.annealing.chains = 8;
  for (const Preset& preset : presets()) {
    ASSERT_TRUE(use_preset(preset.name, options_));
    EXPECT_EQ(options_.space, preset.space);
    const Result<TuneReport> report = tune({product_task(13, 48, 17)}, options_);
    ASSERT_TRUE(report) << preset.name << ": " << report.error().message;
    EXPECT_EQ(report->progress.trials, 3) << preset.name;
  }
  EXPECT_THAT(use_preset("tvm", options_).error().message,
              HasSubstr("no preset 'tvm', only: auto, hidet, autotvm, ansor, ansor-droplet"));
}

TEST_F(TunerTest, LearnsFromOtherTasksUnlessToldNotTo) {
  options_.trials = 5;
  const Result<TuneReport> first = tune({product_task(13, 48, 17)}, options_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->transferred, 0);
  const Result<TuneReport> second = tune({product_task(5, 16, 3)}, options_);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->transferred, 5);
  options_.transfer = false;
  const Result<TuneReport> third = tune({product_task(7, 16, 9)}, options_);
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_EQ(third->transferred, 0);
}

TEST_F(TunerTest, SaysWhatWasKnownBefore) {
  options_.trials = 4;
  const auto known = [&](const TuneTask& task) { return tune({task}, options_).value().progress.tasks[0].reused; };
  EXPECT_EQ(known(product_task(13, 48, 16)), "default");
  EXPECT_EQ(known(product_task(13, 48, 16)), "tuned");
  EXPECT_EQ(known(product_task(26, 48, 16)), "compatible");
  EXPECT_EQ(known(product_task(14, 48, 16)), "nearest");
  EXPECT_EQ(known(product_task(1, 960, 512)), "default");
}

TEST_F(TunerTest, WhatWasAdoptedInAnotherSpaceHasToBeBeaten) {
  const TuneTask task = product_task(13, 48, 17);
  options_.trials = 3;
  const TuneReport first = tune({task}, options_).value();
  const std::string key = first.progress.tasks[0].key;
  measure::Record unbeatable = (*records_->adopted(key, target())).value();
  unbeatable.uid.clear();
  unbeatable.time_ms = 0;
  unbeatable.samples_ns = {0.001};
  ASSERT_TRUE(records_->insert(unbeatable));
  options_.space = "sketch";
  options_.search = "random";
  const TuneReport second = tune({task}, options_).value();
  EXPECT_EQ(second.progress.tasks[0].trials, 3);
  EXPECT_EQ(second.progress.tasks[0].best, unbeatable.candidate);
  EXPECT_EQ((*records_->adopted(key, target()))->candidate, unbeatable.candidate);

  unbeatable.samples_ns = {1e9};  // not what it seems to be: it is timed again, in turns
  unbeatable.uid.clear();
  unbeatable.time_ms = 0;
  ASSERT_TRUE(records_->insert(unbeatable));
  options_.trials = 4;
  const TuneReport third = tune({task}, options_).value();
  EXPECT_LT(third.progress.tasks[0].best_ns, 1e8);
  EXPECT_EQ((*records_->adopted(key, target()))->candidate, third.progress.tasks[0].best);
}

TEST_F(TunerTest, TheDefaultHasToBeBeatenWhateverItsSpace) {
  TuneTask task = product_task(48, 256, 256);
  const auto mapping = space::make_space("mapping", *task.task, options_.measurer.target).value();
  task.standard = space::to_json(*mapping, mapping->first());
  options_.space = "ansor";
  options_.search = "random";
  options_.cost_model = "none";
  options_.tries_rules_first = false;
  options_.trials = 2;
  const TuneReport report = tune({task}, options_).value();
  const TaskProgress& known = report.progress.tasks[0];
  EXPECT_EQ(known.trials, 2);
  const measure::Record adopted = (*records_->adopted(known.key, target())).value();
  EXPECT_EQ(adopted.candidate, known.best);
  EXPECT_NE(adopted.trace, "[]");
  const measure::Adoption adoption = measure::find_adoption(adopted).value();
  EXPECT_EQ(adoption.first, task.standard);
  EXPECT_EQ(adoption.first_ns, known.first_ns) << "it was timed in turns with what was tried";
  EXPECT_LE(known.best_ns, known.first_ns);

  task.standard = R"({"space":"mapping","sketch":"no such one","decisions":{}})";
  options_.records = nullptr;
  EXPECT_TRUE(tune({task}, options_)) << "then the space says what the default is";
}

TEST_F(TunerTest, BeginsWithTheDefaultIfItIsInTheSpace) {
  TuneTask task = product_task(13, 48, 17);
  const auto mapping = space::make_space("mapping", *task.task, options_.measurer.target).value();
  space::Candidate standard = mapping->first();
  standard.choices[0] = 3;
  task.standard = space::to_json(*mapping, standard);
  options_.trials = 1;
  const TuneReport report = tune({task}, options_).value();
  EXPECT_EQ(report.progress.tasks[0].best, task.standard);
  EXPECT_TRUE(std::isfinite(report.progress.tasks[0].first_ns));
}

TEST_F(TunerTest, NeedsNoRecords) {
  options_.records = nullptr;
  options_.trials = 2;
  const Result<TuneReport> report = tune({product_task(5, 16, 3)}, options_);
  ASSERT_TRUE(report);
  EXPECT_GE(report->progress.trials, 1);
}

TEST_F(TunerTest, TellsIfRecordsCannotBeWritten) {
  options_.trials = 2;
  ASSERT_TRUE(tune({product_task(5, 16, 3)}, options_));
  Result<measure::Records> read_only =
      measure::Records::open((folder_ / "records.db").string(), measure::Records::Mode::ReadOnly);
  ASSERT_TRUE(read_only);
  options_.records = &*read_only;
  const Result<TuneReport> report = tune({product_task(7, 48, 3)}, options_);
  ASSERT_TRUE(report);
  EXPECT_GE(report->progress.trials, 1);
  EXPECT_THAT(report->records_error, HasSubstr("records.db"));
}

TEST_F(TunerTest, NamesWhatThereIs) {
  options_.space = "moon";
  EXPECT_THAT(tune({product_task(5, 16, 3)}, options_).error().message,
              HasSubstr("no space 'moon', only: auto, mapping, sketch"));
  options_.space = "mapping";
  options_.search = "dowsing";
  EXPECT_THAT(tune({product_task(5, 16, 3)}, options_).error().message, HasSubstr("dowsing"));
  options_.search = "random";
  options_.cost_model = "oracle";
  EXPECT_THAT(tune({product_task(5, 16, 3)}, options_).error().message, HasSubstr("oracle"));
}

TEST_F(TunerTest, EndsWhenTheKernelsAreAsFastAsAskedFor) {
  const std::vector<TuneTask> tasks = {product_task(13, 48, 17), product_task(5, 64, 32)};
  options_.space = "sketch";
  options_.search = "random";
  options_.cost_model = "none";
  options_.trials = 40;
  options_.target_seconds = 1e-12;
  Result<measure::Records> other = measure::Records::open((folder_ / "other.db").string());
  ASSERT_TRUE(other);
  options_.records = &*other;
  const TuneReport never = tune(tasks, options_).value();
  EXPECT_FALSE(never.is_target_reached);

  options_.target_seconds = 1;
  options_.records = &*records_;
  const TuneReport soon = tune(tasks, options_).value();
  EXPECT_TRUE(soon.is_target_reached);
  EXPECT_LT(soon.progress.trials, never.progress.trials);
  for (const TaskProgress& task : soon.progress.tasks) EXPECT_TRUE(std::isfinite(task.best_ns)) << task.name;

  const TuneReport at_once = tune(tasks, options_).value();
  EXPECT_TRUE(at_once.is_target_reached);
  EXPECT_EQ(at_once.progress.trials, 0);
}

TEST_F(TunerTest, TheTargetIsOfAllCallsInARun) {
  TuneTask task = product_task(13, 48, 17);
  options_.search = "random";
  options_.cost_model = "none";
  options_.trials = 4;
  const double ns = tune({task}, options_).value().progress.tasks[0].best_ns;
  options_.trials = 1;
  task.weight = 1000;
  options_.target_seconds = 100 * ns * 1e-9;
  EXPECT_FALSE(tune({task}, options_).value().is_target_reached);
  options_.target_seconds = 10'000 * ns * 1e-9;
  EXPECT_TRUE(tune({task}, options_).value().is_target_reached);
}

/// Knows how many trials it was shown.
class Counter final : public cost::CostModel {
 public:
  explicit Counter(std::vector<std::int64_t>& begun_with) : begun_with_(begun_with) {}

  std::string_view name() const override { return "counter"; }
  bool is_trained(std::string_view, std::string_view) const override { return shown_ > 0; }
  Result<std::vector<double>> predict(std::span<const cost::Subject> subjects) override {
    if (!std::exchange(is_asked_, true)) begun_with_.push_back(shown_);
    return std::vector<double>(subjects.size());
  }
  Result<void> update(std::span<const cost::Subject> subjects, std::span<const double>) override {
    shown_ += static_cast<std::int64_t>(subjects.size());
    return {};
  }
  Result<void> save(const std::filesystem::path& file) const override {
    std::ofstream(file) << shown_;
    return {};
  }
  Result<void> load(const std::filesystem::path& file) override {
    std::ifstream(file) >> shown_;
    return {};
  }

 private:
  std::vector<std::int64_t>& begun_with_;
  std::int64_t shown_ = 0;
  bool is_asked_ = false;
};

TEST_F(TunerTest, TheCostModelBeginsWithWhatWasSaved) {
  const TuneTask task = product_task(13, 48, 17);
  std::vector<std::int64_t> begun_with;
  options_.make_model = [&](std::string_view, const cost::ModelOptions&) -> Result<std::unique_ptr<cost::CostModel>> {
    return std::make_unique<Counter>(begun_with);
  };
  const auto saved = [&] {
    std::int64_t shown = 0;
    std::ifstream(options_.save_cost_model) >> shown;
    return shown;
  };
  options_.save_cost_model = (folder_ / "learnt").string();
  options_.trials = 5;
  ASSERT_TRUE(tune({task}, options_));
  const std::int64_t first = saved();
  EXPECT_GE(first, 4);

  options_.learnt_file = options_.save_cost_model;
  options_.trials = 3;
  options_.tries_rules_first = false;  // the model is asked at once
  begun_with.clear();
  ASSERT_TRUE(tune({task}, options_));
  EXPECT_EQ(begun_with, std::vector<std::int64_t>{first});
  EXPECT_GT(saved(), first);
  EXPECT_LE(saved(), first + 3) << "what is in the records as well is not shown twice";
}

TEST_F(TunerTest, TreesThatWereSavedAreOfTheirModelAlone) {
  options_.save_cost_model = (folder_ / "learnt").string();
  options_.trials = 6;
  ASSERT_TRUE(tune({product_task(13, 48, 17)}, options_));
  const auto model = cost::make_cost_model("ansor").value();
  ASSERT_TRUE(model->load(options_.save_cost_model));
  EXPECT_TRUE(model->is_trained("any"));

  options_.learnt_file = options_.save_cost_model;
  options_.cost_model = "rank-knob";
  EXPECT_THAT(tune({product_task(13, 48, 17)}, options_).error().message,
              HasSubstr("written by the model 'ansor', not by 'rank-knob'"));
  options_.cost_model = "ansor";
  options_.save_cost_model = (folder_ / "none" / "learnt").string();
  EXPECT_THAT(tune({product_task(13, 48, 17)}, options_).error().message,
              HasSubstr("the cost model cannot be saved: "));
}

}  // namespace
}  // namespace hone::search
