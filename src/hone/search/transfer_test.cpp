#include "hone/search/transfer.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "hone/cost/synthetic_test.h"
#include "hone/ir/equal.h"
#include "hone/schedule/trace.h"
#include "hone/search/model_scorer.h"
#include "hone/space/candidate.h"

namespace hone::search {
namespace {

/// Matrix products of one size by tiles whose times a formula gives.
class TileSpace : public Space {
 public:
  explicit TileSpace(std::int64_t size) : naive_(cost::matmul(size, size, size)), size_(size) {
    const auto powers = [](int count) {
      std::vector<std::vector<std::int64_t>> options;
      for (int i = 0; i < count; ++i) options.push_back({std::int64_t{1} << i});
      return options;
    };
    sketches_ = {
        {"tiles", {{"rows", powers(5)}, {"lanes", powers(6)}, {"depth", powers(6)}, {"parallel", {{0}, {1}}}}}};
  }

  std::string_view name() const override { return "tiles"; }
  const std::vector<space::Sketch>& sketches() const override { return sketches_; }
  Candidate first() const override { return {0, {0, 0, 0, 0}}; }
  Result<schedule::Schedule> build(const Candidate& candidate) const override {
    schedule::Schedule schedule(naive_);
    for (const schedule::Step& step : tiles(candidate).trace()) HONE_TRY(schedule.apply(step));
    return schedule;
  }

  double seconds(const Candidate& candidate) const { return tiles(candidate).seconds(size_); }
  measure::TaskKey key() const { return measure::task_key(naive_, {}); }
  double best() const { return cost::Tiles{8, 16, 8, true}.seconds(size_); }

 private:
  cost::Tiles tiles(const Candidate& candidate) const {
    const auto value = [&](std::size_t knob) { return sketches_[0].knobs[knob].options[candidate.choices[knob]][0]; };
    return {value(0), value(1), value(2), value(3) == 1};
  }

  ir::Function naive_;
  std::int64_t size_;
  std::vector<space::Sketch> sketches_;
};

class TransferTest : public ::testing::Test {
 protected:
  /// Everything that there is to measure of two other sizes.
  TransferTest() {
    for (const std::int64_t size : {64, 256}) {
      const TileSpace space(size);
      std::vector<measure::Record> all;
      for (std::uint64_t i = 0; i < space::size_of(space); ++i) {
        const Candidate candidate = space::candidate_at(space, i);
        measure::Record& record = all.emplace_back();
        record.task = space.key();
        record.target = "cpu";
        record.candidate = space::to_json(space, candidate);
        record.trace = schedule::to_json(space.build(candidate).value().trace());
        record.status = measure::TrialStatus::Ok;
        record.samples_ns = {space.seconds(candidate) * 1e9};
      }
      EXPECT_TRUE(records_.insert_all(std::move(all)));
    }
  }
  ~TransferTest() override {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file_ + suffix);
  }

  /// How many trials it takes to come within a percent of the best.
  std::size_t trials_needed(std::string_view model_name, bool transfers, std::uint64_t seed) const {
    const TileSpace space(128);
    const auto model = cost::make_cost_model(model_name, {.seed = seed}).value();
    const measure::TaskKey key = space.key();
    const std::size_t learnt = transfers ? learn_from_records(*model, records_, "cpu", std::span(&key, 1)).value() : 0;
    EXPECT_EQ(learnt > 0, transfers);
    Builder builder(space);
    SearchSetup setup{.seed = seed, .scorer = model_scorer(space, builder, *model, {key.key, key.family})};
    setup.options.annealing.steps = 50;
    setup.options.annealing.plan = 16;
    const auto search = make_search("annealing", space, setup).value();
    for (std::size_t trials = 0;;) {
      const std::vector<Candidate> batch = search->ask(8);
      EXPECT_FALSE(batch.empty()) << "the best was never tried";
      std::vector<std::shared_ptr<const Built>> built = builder.build(batch);
      std::vector<cost::Subject> subjects;
      std::vector<double> seconds;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        ++trials;
        if (space.seconds(batch[i]) <= space.best() * 1.01) return trials;
        search->tell(batch[i], {space.seconds(batch[i]), {}});
        subjects.push_back(subject_of(space, batch[i], *built[i], {key.key, key.family}));
        seconds.push_back(space.seconds(batch[i]));
      }
      if (batch.empty()) return trials;
      EXPECT_TRUE(model->update(subjects, seconds));
    }
  }

  const std::string file_ =
      (std::filesystem::temp_directory_path() / ("hone-transfer-" + std::to_string(getpid()) + ".db")).string();
  measure::Records records_ = measure::Records::open(file_).value();
};

TEST_F(TransferTest, OtherSizesHalveTheTrialsThatASearchNeeds) {
  for (const char* model : {"rank-curve", "rank-itervar", "regression-curve", "ansor"}) {
    std::size_t alone = 0, with_others = 0;
    for (const std::uint64_t seed : {1, 2, 3}) {
      alone += trials_needed(model, /*transfers=*/false, seed);
      with_others += trials_needed(model, /*transfers=*/true, seed);
    }
    EXPECT_LE(2 * with_others, alone) << model;
    std::printf("%s: %zu trials alone, %zu with other sizes, of three runs\n", model, alone, with_others);
  }
}

/// Makes the programs that it is shown from what they are said to be made of.
class Replaying final : public cost::CostModel {
 public:
  std::string_view name() const override { return "replaying"; }
  bool is_trained(std::string_view, std::string_view) const override { return false; }
  cost::TransfersTo transfers_to() const override { return cost::TransfersTo::All; }
  Result<std::vector<double>> predict(std::span<const cost::Subject>) override { return std::vector<double>(); }
  Result<void> update(std::span<const cost::Subject> subjects, std::span<const double>) override {
    for (const cost::Subject& subject : subjects) {
      HONE_CHECK(subject.naive && subject.trace && subject.program, "a subject of '{}' is not whole", subject.task);
      HONE_TRY(const schedule::Program made, schedule::replay(*subject.naive, *subject.trace));
      same += ir::structural_hash(made) == ir::structural_hash(*subject.program) ? 1 : 0;
    }
    return {};
  }
  Result<void> save(const std::filesystem::path&) const override { return {}; }
  Result<void> load(const std::filesystem::path&) override { return {}; }

  std::size_t same = 0;
};

TEST_F(TransferTest, WhatIsShownSaysWhatItIsMadeOf) {
  Replaying model;
  const measure::TaskKey key = TileSpace(128).key();
  const std::size_t learnt = learn_from_records(model, records_, "cpu", std::span(&key, 1)).value();
  EXPECT_EQ(learnt, 512u);
  EXPECT_EQ(model.same, learnt);
}

TEST_F(TransferTest, OnlyWhatTeachesSomethingIsShown) {
  const measure::TaskKey key = TileSpace(128).key(), known = TileSpace(64).key();
  const auto learnt = [&](std::string_view model, const measure::TaskKey& task, const std::string& target = "cpu",
                          const TransferOptions& options = {}) {
    return learn_from_records(*cost::make_cost_model(model).value(), records_, target, std::span(&task, 1), options)
        .value();
  };
  EXPECT_EQ(learnt("rank-curve", key), 720);
  EXPECT_EQ(learnt("rank-curve", known), 360) << "what is tuned now is no other task";
  EXPECT_EQ(learnt("rank-knob", key), 0) << "decisions of other sizes mean something else";
  EXPECT_EQ(learnt("none", key), 0);
  EXPECT_EQ(learnt("rank-curve", key, "cpu -mcpu=znver4"), 0) << "times of another target";
  measure::TaskKey stranger = key;
  stranger.family = "of something else";
  EXPECT_EQ(learnt("rank-curve", stranger), 0);
  EXPECT_EQ(learnt("ansor", stranger), 512);
  EXPECT_EQ(learnt("ansor", key, "cpu", {.most_of_all = 100}), 100);
  EXPECT_EQ(learnt("rank-itervar", key, "cpu", {.most_of_family = 10}), 10);
}

}  // namespace
}  // namespace hone::search
