// Promises that every learned model keeps, tried on schedules of matrix products whose times a formula gives.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <limits>
#include <unistd.h>

#include "hone/cost/cost_model.h"
#include "hone/cost/metrics.h"
#include "hone/cost/synthetic_test.h"

namespace hone::cost {
namespace {

using ::testing::HasSubstr;

class LearnedModels : public ::testing::TestWithParam<std::string_view> {
 protected:
  LearnedModels() : file_(std::filesystem::temp_directory_path() / fmt::format("hone_learned_{}", ::getpid())) {}
  ~LearnedModels() override { std::filesystem::remove(file_); }

  static std::unique_ptr<CostModel> make(std::uint64_t seed = 1, int threads = 0) {
    return make_cost_model(GetParam(), {.seed = seed, .threads = threads}).value();
  }

  std::filesystem::path file_;
};

INSTANTIATE_TEST_SUITE_P(All, LearnedModels, ::testing::ValuesIn(cost_model_names().subspan(2)), [](const auto& model) {
  std::string name(model.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(LearnedModels, RankWhatTheyHaveNotSeen) {
  const Data seen = make_data(128, 200, 1), others = make_data(128, 200, 2);
  const auto model = make();
  ASSERT_TRUE(model->update(seen.subjects, seen.seconds));
  EXPECT_TRUE(model->is_trained("matmul 128", "matmul"));
  const std::vector<double> scores = model->predict(others.subjects).value();
  EXPECT_GT(pairwise_accuracy(scores, others.throughput), 0.85);
  for (const double score : scores) EXPECT_TRUE(std::isfinite(score));
}

TEST_P(LearnedModels, KnowNothingBeforeTheFirstUpdate) {
  const Data data = make_data(64, 10, 1);
  const auto model = make();
  EXPECT_FALSE(model->is_trained("matmul 64", "matmul"));
  EXPECT_EQ(model->predict(data.subjects).value(), make()->predict(data.subjects).value());
}

TEST_P(LearnedModels, PredictTheSameFromAFile) {
  const Data seen = make_data(64, 100, 3), more = make_data(64, 50, 4), others = make_data(64, 50, 5);
  const auto model = make();
  ASSERT_TRUE(model->update(seen.subjects, seen.seconds));
  ASSERT_TRUE(model->save(file_));
  const auto again = make(/*seed=*/1);
  ASSERT_TRUE(again->load(file_));
  EXPECT_EQ(again->predict(others.subjects).value(), model->predict(others.subjects).value());
  // and what was learnt is not lost when more is learnt
  ASSERT_TRUE(model->update(more.subjects, more.seconds));
  ASSERT_TRUE(again->update(more.subjects, more.seconds));
  EXPECT_EQ(again->predict(others.subjects).value(), model->predict(others.subjects).value());
}

TEST_P(LearnedModels, PredictTheSameForOneSeedOnAnyNumberOfThreads) {
  const Data seen = make_data(64, 150, 6), others = make_data(64, 150, 7);
  const auto one = make(1, 1), four = make(1, 4);
  ASSERT_TRUE(one->update(seen.subjects, seen.seconds));
  ASSERT_TRUE(four->update(seen.subjects, seen.seconds));
  EXPECT_EQ(one->predict(others.subjects).value(), four->predict(others.subjects).value());
}

TEST_P(LearnedModels, FailuresAreLearntAndScoredBelowWhatRan) {
  Data seen = make_data(64, 120, 8);
  for (std::size_t i = 0; i < seen.seconds.size(); ++i)
    if (seen.candidates[i].knobs[1] > 8) seen.seconds[i] = kFailed;
  const auto model = make();
  ASSERT_TRUE(model->update(seen.subjects, seen.seconds));
  const std::vector<double> scores = model->predict(seen.subjects).value();
  const std::size_t best = best_first(scores).front();
  EXPECT_TRUE(std::isfinite(seen.seconds[best]));
}

TEST_P(LearnedModels, OnlyFailuresTeachNothingAndBreakNothing) {
  const Data data = make_data(64, 5, 9);
  const auto model = make();
  ASSERT_TRUE(model->update(data.subjects, std::vector<double>(5, kFailed)));
  EXPECT_FALSE(model->is_trained("matmul 64", "matmul"));
  EXPECT_EQ(model->predict(data.subjects).value().size(), 5u);
  ASSERT_TRUE(model->save(file_));
  EXPECT_TRUE(make()->load(file_));
}

TEST_P(LearnedModels, NothingIsAFineUpdateAndASingleSampleToo) {
  const Data data = make_data(64, 1, 10);
  const auto model = make();
  EXPECT_TRUE(model->update({}, {}));
  EXPECT_TRUE(model->predict({}).value().empty());
  EXPECT_TRUE(model->update(data.subjects, data.seconds));
  EXPECT_EQ(model->predict(data.subjects).value().size(), 1u);
}

TEST_P(LearnedModels, BadTimesChangeNothing) {
  const Data seen = make_data(64, 60, 11), others = make_data(64, 20, 12);
  const auto model = make();
  ASSERT_TRUE(model->update(seen.subjects, seen.seconds));
  const std::vector<double> before = model->predict(others.subjects).value();
  std::vector<double> bad = others.seconds;
  bad[7] = std::numeric_limits<double>::quiet_NaN();
  const Result<void> status = model->update(others.subjects, bad);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("candidate 7 of task 'matmul 64' took nan seconds"));
  EXPECT_EQ(model->predict(others.subjects).value(), before);
}

TEST_P(LearnedModels, AFileThatIsCutOrOfAnotherModelIsRefusedAndChangesNothing) {
  const Data seen = make_data(64, 30, 13);
  const auto model = make();
  ASSERT_TRUE(model->update(seen.subjects, seen.seconds));
  ASSERT_TRUE(model->save(file_));
  const std::vector<double> before = model->predict(seen.subjects).value();

  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) / 2);
  const Result<void> cut = model->load(file_);
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr(file_.string()));

  ASSERT_TRUE(make_cost_model("none").value()->save(file_));
  const Result<void> other = model->load(file_);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("written by the model 'none', not by '" + std::string(GetParam())));
  EXPECT_EQ(model->predict(seen.subjects).value(), before);
}

}  // namespace
}  // namespace hone::cost
