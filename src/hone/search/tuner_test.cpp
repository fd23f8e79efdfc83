#include "hone/search/tuner.h"

#include <filesystem>
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

TEST_F(TunerTest, AllTasksHaveAShortRoundBeforeAnyHasALongOne) {
  options_.trials = 12;
  options_.search = "random";
  options_.cost_model = "none";
  const Result<TuneReport> report =
      tune({product_task(13, 48, 17), product_task(5, 64, 32), product_task(9, 32, 40)}, options_);
  ASSERT_TRUE(report) << report.error().message;
  for (const TaskProgress& task : report->progress.tasks) EXPECT_EQ(task.trials, 4) << task.name;
}

TEST_F(TunerTest, AFewTrialsReachAllTasks) {
  options_.trials = 6;
  options_.search = "random";
  options_.cost_model = "none";
  const Result<TuneReport> report =
      tune({product_task(13, 48, 17), product_task(5, 64, 32), product_task(9, 32, 40)}, options_);
  ASSERT_TRUE(report) << report.error().message;
  for (const TaskProgress& task : report->progress.tasks) EXPECT_EQ(task.trials, 2) << task.name;
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

}  // namespace
}  // namespace hone::search
