#include "hone/cost/store_model.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "hone/cost/model_file.h"
#include "hone/cost/synthetic_test.h"

namespace hone::cost {
namespace {

using ::testing::HasSubstr;

TEST(StoreModel, TreesOverOtherFeaturesAreRefusedByName) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("hone_store_model_{}", ::getpid());
  ASSERT_TRUE(write_model_file(file, {"ansor", "tenset-164"}, {{"samples", ""}, {"trees", ""}}));
  const Result<void> status = make_store_model({})->load(file);
  std::filesystem::remove(file);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message,
              HasSubstr("features of the schema 'tenset-164', this model reads 'hone-store-164/1'"));
}

TEST(StoreModel, ACandidateWithoutItsProgramIsNamed) {
  const auto model = make_store_model({});
  const Result<void> status = model->update(std::vector<Subject>{{.task = "conv"}}, std::vector<double>{1});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("a candidate of task 'conv' comes without its program"));
}

TEST(StoreModel, OneTaskTeachesAboutAnother) {
  const Data small = make_data(64, 200, 1), large = make_data(256, 200, 2), others = make_data(128, 200, 3);
  const auto model = make_store_model({.seed = 1});
  ASSERT_TRUE(model->update(small.subjects, small.seconds));
  ASSERT_TRUE(model->update(large.subjects, large.seconds));
  EXPECT_GT(accuracy(*model, others), 0.8);
}

TEST(StoreModel, LabelsFollowTheBestOfEachTask) {
  // Times of another task, a thousand times longer, must not push the scores of the first together.
  const Data data = make_data(64, 150, 4);
  Data slow = make_data(128, 150, 5);
  for (double& seconds : slow.seconds) seconds *= 1000;
  const auto model = make_store_model({.seed = 1});
  ASSERT_TRUE(model->update(data.subjects, data.seconds));
  ASSERT_TRUE(model->update(slow.subjects, slow.seconds));
  EXPECT_GT(accuracy(*model, data), 0.85);
}

/// Knows everything about the synthetic schedules but what threads are worth, on a scale of its own.
class BlindToThreads : public CostModel {
 public:
  std::string_view name() const override { return "blind to threads"; }
  bool is_trained(std::string_view, std::string_view) const override { return true; }
  Result<std::vector<double>> predict(std::span<const Subject> subjects) override {
    std::vector<double> scores;
    for (const Subject& subject : subjects) {
      const Tiles tiles{static_cast<std::int64_t>(subject.knobs[0]), static_cast<std::int64_t>(subject.knobs[1]),
                        static_cast<std::int64_t>(subject.knobs[2])};
      scores.push_back(100 - 10 * std::log(tiles.seconds(64)));
    }
    return scores;
  }
  Result<void> update(std::span<const Subject>, std::span<const double>) override { return {}; }
  Result<void> save(const std::filesystem::path&) const override { return {}; }
  Result<void> load(const std::filesystem::path&) override { return {}; }
};

TEST(CorrectedModel, SaysWhatThePriorSaysUntilSomethingIsMeasured) {
  const Data data = make_data(64, 50, 1);
  const auto model = make_corrected_model("auto", std::make_unique<BlindToThreads>(), {.seed = 1});
  EXPECT_EQ(model->name(), "auto");
  EXPECT_TRUE(model->is_trained("matmul 64"));
  EXPECT_EQ(model->predict(data.subjects).value(), BlindToThreads().predict(data.subjects).value());
}

TEST(CorrectedModel, IsBetterThanThePriorAndThanTreesAlone) {
  const Data known = make_data(64, 32, 2), others = make_data(64, 300, 3);
  const auto corrected = make_corrected_model("auto", std::make_unique<BlindToThreads>(), {.seed = 1});
  const auto trees = make_store_model({.seed = 1});
  ASSERT_TRUE(corrected->update(known.subjects, known.seconds));
  ASSERT_TRUE(trees->update(known.subjects, known.seconds));
  BlindToThreads prior;
  EXPECT_GT(accuracy(*corrected, others), accuracy(prior, others) + 0.02);
  EXPECT_GT(accuracy(*corrected, others), accuracy(*trees, others) + 0.02);
}

TEST(CorrectedModel, LearnsAgainWhenEnoughIsNew) {
  const Data known = make_data(64, 100, 2), few = make_data(64, 5, 4), others = make_data(64, 50, 3);
  const auto model = make_corrected_model("auto", std::make_unique<BlindToThreads>(), {.seed = 1});
  ASSERT_TRUE(model->update(known.subjects, known.seconds));
  const std::vector<double> before = model->predict(others.subjects).value();
  ASSERT_TRUE(model->update(few.subjects, few.seconds));
  EXPECT_EQ(model->predict(others.subjects).value(), before);
  ASSERT_TRUE(model->update(few.subjects, few.seconds));
  EXPECT_NE(model->predict(others.subjects).value(), before);
}

TEST(CorrectedModel, LearnsFromItsFirstTrialsHoweverMuchOthersTaught) {
  const Data taught = make_data(256, 100, 5), few = make_data(64, 4, 4), others = make_data(64, 50, 3);
  const auto model = make_corrected_model("auto", std::make_unique<BlindToThreads>(), {.seed = 1});
  ASSERT_TRUE(model->learn_from_others(taught.subjects, taught.seconds));
  const std::vector<double> before = model->predict(others.subjects).value();
  ASSERT_TRUE(model->update(few.subjects, few.seconds));
  EXPECT_NE(model->predict(others.subjects).value(), before);
}

TEST(CorrectedModel, LearnsWithinTasksHoweverUnlikeTheyAre) {
  const Data known = make_data(64, 64, 2), others = make_data(64, 300, 3);
  Data slow = make_data(256, 64, 5);
  for (double& seconds : slow.seconds) seconds *= 1000;
  for (std::size_t i = 0; i < 8; ++i) slow.seconds[i] = kFailed;
  const auto model = make_corrected_model("auto", std::make_unique<BlindToThreads>(), {.seed = 1});
  ASSERT_TRUE(model->update(slow.subjects, slow.seconds));
  ASSERT_TRUE(model->update(known.subjects, known.seconds));
  BlindToThreads prior;
  EXPECT_GT(accuracy(*model, others), accuracy(prior, others) + 0.02);
}

TEST(CorrectedModel, RanksAsThePriorDoesIfAllFailed) {
  const Data known = make_data(64, 16, 2), others = make_data(64, 50, 3);
  const auto model = make_corrected_model("auto", std::make_unique<BlindToThreads>(), {.seed = 1});
  ASSERT_TRUE(model->update(known.subjects, std::vector<double>(known.subjects.size(), kFailed)));
  BlindToThreads prior;
  EXPECT_EQ(accuracy(*model, others), accuracy(prior, others));
}

/// Says what no model may say.
class Broken final : public BlindToThreads {
 public:
  Result<std::vector<double>> predict(std::span<const Subject> subjects) override {
    return std::vector<double>(subjects.size(), std::numeric_limits<double>::quiet_NaN());
  }
};

TEST(CorrectedModel, DoesNotLearnFromScoresThatAreNoNumbers) {
  const Data known = make_data(64, 16, 2);
  const auto model = make_corrected_model("auto", std::make_unique<Broken>(), {.seed = 1});
  const Result<void> status = model->update(known.subjects, known.seconds);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("the loss is no number"));
}

TEST(CorrectedModel, IsTheSameAfterItWasWrittenAndRead) {
  const Data known = make_data(64, 100, 2), few = make_data(64, 4, 4), others = make_data(64, 50, 3);
  const auto model = make_corrected_model("auto", std::make_unique<BlindToThreads>(), {.seed = 1});
  ASSERT_TRUE(model->update(known.subjects, known.seconds));
  ASSERT_TRUE(model->update(few.subjects, few.seconds)) << "too few to fit trees again";
  const auto file = std::filesystem::temp_directory_path() / fmt::format("hone_corrected_model_{}", ::getpid());
  ASSERT_TRUE(model->save(file));
  const auto read = make_corrected_model("auto", std::make_unique<BlindToThreads>(), {.seed = 1});
  ASSERT_TRUE(read->load(file));
  const Result<void> as_trees = make_store_model({})->load(file);
  std::filesystem::remove(file);
  EXPECT_EQ(read->predict(others.subjects).value(), model->predict(others.subjects).value());
  ASSERT_FALSE(as_trees);
  EXPECT_THAT(as_trees.error().message, HasSubstr("auto"));
  for (CostModel* one : {model.get(), read.get()}) ASSERT_TRUE(one->update(few.subjects, few.seconds));
  EXPECT_EQ(read->predict(others.subjects).value(), model->predict(others.subjects).value()) << "it goes on learning";
}

}  // namespace
}  // namespace hone::cost
