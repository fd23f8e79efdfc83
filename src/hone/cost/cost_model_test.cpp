#include "hone/cost/cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace hone::cost {
namespace {

using ::testing::HasSubstr;

TEST(CostModel, EveryNameMakesAModelOfThatName) {
  for (const std::string_view name : cost_model_names()) {
    const auto model = make_cost_model(name);
    ASSERT_TRUE(model) << name;
    EXPECT_EQ((*model)->name(), name);
    EXPECT_FALSE((*model)->is_trained("matmul")) << name;
  }
}

TEST(CostModel, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  const auto model = make_cost_model("tea-leaves");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("no cost model 'tea-leaves', only: none, random"));
}

TEST(CostModel, ANegativeNumberOfThreadsIsAnError) {
  const auto model = make_cost_model("random", {.threads = -2});
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("-2 threads"));
}

TEST(BlindModels, TheSameSeedGivesTheSameScores) {
  const std::vector<Subject> subjects(5, Subject{.task = "matmul"});
  const auto scores = [&](std::uint64_t seed) {
    return make_cost_model("random", {.seed = seed}).value()->predict(subjects).value();
  };
  EXPECT_EQ(scores(1), scores(1));
  EXPECT_NE(scores(1), scores(2));
}

TEST(BlindModels, ScoresOfNoneAreEqualAndOfNothingAreEmpty) {
  const auto model = make_cost_model("none").value();
  const std::vector<Subject> subjects(3, Subject{.task = "matmul"});
  EXPECT_EQ(model->predict(subjects).value(), std::vector<double>(3, 0.0));
  EXPECT_TRUE(model->predict({}).value().empty());
}

TEST(BlindModels, TimesThatAreNoTimesAreErrorsThatNameThem) {
  const auto model = make_cost_model("none").value();
  const std::vector<Subject> subjects(2, Subject{.task = "matmul"});
  const auto message = [&](std::vector<double> seconds) {
    const Result<void> status = model->update(subjects, seconds);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(message({1e-3, kFailed}), "");
  EXPECT_THAT(message({1e-3}), HasSubstr("2 candidates come with 1 times"));
  EXPECT_THAT(message({1e-3, std::numeric_limits<double>::quiet_NaN()}),
              HasSubstr("candidate 1 of task 'matmul' took nan"));
  EXPECT_THAT(message({0.0, 1.0}), HasSubstr("candidate 0 of task 'matmul' took 0 seconds"));
  EXPECT_THAT(message({-1.0, 1.0}), HasSubstr("took -1 seconds"));
}

}  // namespace
}  // namespace hone::cost
