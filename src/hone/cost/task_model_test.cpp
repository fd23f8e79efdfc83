#include "hone/cost/task_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "hone/cost/synthetic_test.h"

namespace hone::cost {
namespace {

/// A model that has seen two other sizes, 300 candidates each.
std::unique_ptr<CostModel> make_experienced(std::string_view name) {
  std::unique_ptr<CostModel> model = make_cost_model(name, {.seed = 1}).value();
  for (const std::int64_t size : {64, 256}) {
    const Data data = make_data(size, 300, static_cast<std::uint64_t>(size));
    EXPECT_TRUE(model->update(data.subjects, data.seconds));
  }
  return model;
}

class Transfer : public ::testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Transfer, Transfer,
                         ::testing::Values("rank-itervar", "rank-curve", "regression-itervar", "regression-curve"),
                         [](const auto& model) {
                           std::string name(model.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(Transfer, OtherTasksOfTheFamilyTellMuchAboutANewOne) {
  const auto model = make_experienced(GetParam());
  const Data data = make_data(128, 200, 1);
  EXPECT_TRUE(model->is_trained("matmul 128", "matmul"));
  EXPECT_GT(accuracy(*model, data), 0.8);
}

TEST_P(Transfer, AFewOwnSamplesHelpMoreBesideThoseOfOthers) {
  const Data few = make_data(128, 12, 2), others = make_data(128, 200, 3);
  const auto model = make_experienced(GetParam()), alone = make_cost_model(GetParam(), {.seed = 1}).value();
  ASSERT_TRUE(model->update(few.subjects, few.seconds));
  ASSERT_TRUE(alone->update(few.subjects, few.seconds));
  EXPECT_GT(accuracy(*model, others), accuracy(*alone, others));
}

TEST_P(Transfer, WithManyOwnSamplesTheOthersAreForgotten) {
  const Data many = make_data(128, 277, 4), others = make_data(128, 50, 5);
  const auto model = make_experienced(GetParam()), alone = make_cost_model(GetParam(), {.seed = 1}).value();
  ASSERT_TRUE(model->update(many.subjects, many.seconds));
  ASSERT_TRUE(alone->update(many.subjects, many.seconds));
  EXPECT_EQ(model->predict(others.subjects).value(), alone->predict(others.subjects).value());
}

TEST(TaskModel, WhatOthersTaughtSurvivesAFile) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("hone_transfer_{}", ::getpid());
  const Data few = make_data(128, 20, 6), others = make_data(128, 50, 7);
  const auto model = make_experienced("regression-itervar"),
             again = make_cost_model("regression-itervar", {.seed = 1}).value();
  ASSERT_TRUE(model->update(few.subjects, few.seconds));
  ASSERT_TRUE(model->save(file));
  ASSERT_TRUE(again->load(file));
  std::filesystem::remove(file);
  EXPECT_EQ(again->predict(others.subjects).value(), model->predict(others.subjects).value());
}

TEST(TaskModel, SamplesOfAnotherFamilyCountForNothing) {
  const auto model = make_experienced("regression-itervar");
  EXPECT_TRUE(model->is_trained("matmul 128", "matmul"));
  EXPECT_FALSE(model->is_trained("conv 128", "conv"));
  EXPECT_FALSE(model->is_trained("matmul 128", ""));
}

TEST(TaskModel, KnobsDoNotTransfer) {
  const auto model = make_experienced("rank-knob");
  EXPECT_TRUE(model->is_trained("matmul 64", "matmul"));
  EXPECT_FALSE(model->is_trained("matmul 128", "matmul"));
}

TEST(TaskModel, KnobsAndProgramsThatAreMissingOrWrongAreNamed) {
  const auto message = [](std::string_view name, const Subject& subject) {
    const auto scores = make_cost_model(name).value()->predict(std::span(&subject, 1));
    return scores ? "" : scores.error().message;
  };
  EXPECT_EQ(message("rank-knob", {.task = "t", .knobs = {1, 2}}), "");
  EXPECT_THAT(message("rank-knob", {.task = "t", .knobs = {1, NAN}}),
              ::testing::HasSubstr("rank-knob: a candidate of task 't' has a knob of nan"));
  EXPECT_THAT(message("rank-curve", {.task = "t"}),
              ::testing::HasSubstr("rank-curve: a candidate of task 't' comes without its program"));
}

TEST(TaskModel, TasksInOneCallAreScoredByTheirOwnTrees) {
  const Data small = make_data(64, 80, 8), large = make_data(256, 80, 9);
  const auto model = make_cost_model("rank-itervar", {.seed = 1}).value();
  ASSERT_TRUE(model->update(small.subjects, small.seconds));
  ASSERT_TRUE(model->update(large.subjects, large.seconds));
  std::vector<Subject> both;
  for (std::size_t i = 0; i < 80; ++i) both.insert(both.end(), {small.subjects[i], large.subjects[i]});
  const std::vector<double> scores = model->predict(both).value(), of_small = model->predict(small.subjects).value(),
                            of_large = model->predict(large.subjects).value();
  for (std::size_t i = 0; i < 80; ++i) {
    EXPECT_EQ(scores[2 * i], of_small[i]);
    EXPECT_EQ(scores[2 * i + 1], of_large[i]);
  }
}

}  // namespace
}  // namespace hone::cost
