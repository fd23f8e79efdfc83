#include "hone/cost/training_set.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/cost/evaluate.h"
#include "hone/ir/text.h"
#include "hone/schedule/trace.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::cost {
namespace {

using ::testing::HasSubstr;

/// Two targets; tasks of products, with programs that split one loop.
class TrainingSetTest : public ::testing::Test {
 protected:
  TrainingSetTest() {
    data_.targets = {"one", "two"};
    add_task("train a", "resnet18", 32);
    add_task("train b", "vgg16", 64);
    add_task("test", "resnet50", 48);
  }

  void add_task(const std::string& key, const std::string& network, std::int64_t size) {
    const tensor::Tensor a = tensor::placeholder("A", {size, 16}), b = tensor::placeholder("B", {16, 48});
    const std::string text = ir::to_text(tensor::lower("product", {a, b}, {*tensor::matmul(a, b)}));
    const std::string loop = naive_blocks(ir::parse_function(text).value()).value().blocks[0].axes[0].loop;
    data_.tasks.push_back({.key = key,
                           .family = "f",
                           .name = "MatMul",
                           .algorithms = {{"direct", text}},
                           .constants = {},
                           .flops = 1,
                           .networks = {{network, 2}}});
    for (const std::int64_t factor : {2, 4, 8}) {
      const schedule::Trace trace = {schedule::Split{loop, {0, factor}}};
      const auto seconds = 1e-6 * static_cast<double>(factor);
      data_.tasks.back().programs.push_back(data_.programs.size());
      data_.programs.push_back({.task = data_.tasks.size() - 1,
                                .algorithm = 0,
                                .hash = std::to_string(factor),
                                .drawn_for = 0,
                                .candidate = "{}",
                                .trace = schedule::to_json(trace),
                                .seconds = {seconds, factor == 8   ? kFailed
                                                     : factor == 4 ? kNotMeasured
                                                                   : seconds}});
    }
  }

  std::string message(Part part = Part::Training) const {
    const auto set = make_training_set(data_, "tlp2", part);
    return set ? "" : set.error().message;
  }

  Dataset data_;
};

TEST_F(TrainingSetTest, HoldsSentencesAndLabels) {
  for (const char* language : {"tlp", "tlp2", "stores"}) {
    const TrainingSet set = make_training_set(data_, language, Part::Training).value();
    EXPECT_EQ(set.size(), 6u);
    EXPECT_EQ(set.first_rows.back() * set.shape.columns, set.numbers.size());
    EXPECT_FLOAT_EQ(set.label(1, 0), 0.5);
    EXPECT_TRUE(std::isnan(set.label(1, 1))) << "it was not measured";
    EXPECT_EQ(set.label(2, 1), 0) << "it failed";
    std::vector<float> first(set.shape.size(), 7), second(set.shape.size(), 7);
    set.copy_sentence(0, 0, first);
    set.copy_sentence(1, 0, second);
    EXPECT_NE(first, second) << language;
    EXPECT_EQ(first.back(), 0);
  }
  const TrainingSet test = make_training_set(data_, "tlp2", Part::Test).value();
  EXPECT_EQ(test.size(), 3u);
  EXPECT_EQ(test.tasks[0], 2u);
}

TEST_F(TrainingSetTest, SaysWhatAProgramIsOnEachTarget) {
  const ComputeUnit units[] = {{.lanes = 4, .registers = 16}, {.lanes = 16, .registers = 32}};
  const TrainingSet set = make_training_set(data_, "tlp2", Part::Training, units).value();
  const auto sentence = [&](std::size_t sample, std::size_t target) {
    std::vector<float> numbers(set.shape.size());
    set.copy_sentence(sample, target, numbers);
    return numbers;
  };
  for (std::size_t t = 0; t < 2; ++t) {
    const auto writer = make_sentence_writer("tlp2", units[t]).value();
    std::vector<float> written(set.shape.size());
    const DatasetProgram& program = data_.programs[set.programs[4]];
    const auto naive = naive_blocks(ir::parse_function(data_.tasks[program.task].algorithms[0].text).value()).value();
    writer->write(naive, schedule::parse_trace(program.trace).value(), written);
    EXPECT_EQ(sentence(4, t), written);
  }
  EXPECT_NE(sentence(4, 0), sentence(4, 1));
  EXPECT_THAT(make_training_set(data_, "tlp2", Part::Training, std::span(units).first(1)).error().message,
              HasSubstr("the vectors of 1 targets are given, the data set has 2"));
}

TEST_F(TrainingSetTest, LeavesOutTasksThatAllFailed) {
  for (const std::size_t program : data_.tasks[0].programs) data_.programs[program].seconds = {kFailed, kFailed};
  EXPECT_EQ(message(),
            "the data set has one task for training, at least 2 are needed; "
            "1 task is left out: no program ran on any target");
  data_.programs[3].trace = "[]x";
  EXPECT_THAT(message(), HasSubstr("; 1 program is left out: "));
  EXPECT_THAT(message(), HasSubstr("; 1 task is left out: "));
  for (DatasetProgram& program : data_.programs) program.seconds = {kFailed, kFailed};
  EXPECT_THAT(message(), HasSubstr("no task for training with a program that ran; 2 tasks are left out: "));
  EXPECT_THAT(message(Part::Test), HasSubstr("no task for testing"));
}

TEST_F(TrainingSetTest, TellsOfFailedTasksBesideOthers) {
  add_task("train c", "vgg16", 80);
  for (const std::size_t program : data_.tasks[3].programs) data_.programs[program].seconds = {kFailed, kNotMeasured};
  const TrainingSet set = make_training_set(data_, "stores", Part::Training).value();
  EXPECT_EQ(set.size(), 6u);
  EXPECT_EQ(set.failed_tasks, 1u);
  EXPECT_EQ(set.left_out_text(), "1 task is left out: no program ran on any target");
  EXPECT_EQ(make_training_set(data_, "stores", Part::Test)->left_out_text(), "");
}

TEST_F(TrainingSetTest, ATargetOnWhichNothingRanHasNoLabels) {
  for (const std::size_t program : data_.tasks[0].programs) data_.programs[program].seconds[1] = kFailed;
  const TrainingSet set = make_training_set(data_, "tlp2", Part::Training).value();
  EXPECT_TRUE(std::isnan(set.label(0, 1)));
  EXPECT_FALSE(std::isnan(set.label(3, 1)));
}

TEST_F(TrainingSetTest, WithoutLabelsOfATargetIsNotTrainedOn) {
  data_.targets.push_back("three");
  for (DatasetProgram& program : data_.programs) program.seconds.push_back(kNotMeasured);
  data_.programs[0].seconds[2] = 1e-6;
  const TrainingSet set = make_training_set(data_, "tlp2", Part::Training).value();
  EXPECT_EQ(set.count_labels(0), 6u);
  EXPECT_EQ(set.count_labels(2), 1u);
  EXPECT_TRUE(check_labels(data_, set, std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(check_labels(data_, set, std::vector<std::size_t>{0, 2}).error().message,
            "target 'three' has 1 labels for training, expected at least 2");
}

TEST_F(TrainingSetTest, LeavesOutProgramsItCannotRead) {
  data_.programs[0].trace = R"([{"step":"no such step"}])";
  const TrainingSet set = make_training_set(data_, "tlp2", Part::Training).value();
  EXPECT_EQ(set.size(), 5u);
  EXPECT_THAT(set.left_out_text(), HasSubstr("1 program is left out: "));
  EXPECT_THAT(set.left_out_text(), HasSubstr("no such step"));
  EXPECT_THAT(make_training_set(data_, "latin", Part::Training).error().message, HasSubstr("'latin'"));
}

TEST_F(TrainingSetTest, FavouritesAreWhatANetworkWouldRunAt) {
  const TrainingSet test = make_training_set(data_, "tlp2", Part::Test).value();
  const std::vector<double> right = {3, 2, 1}, wrong = {1, 3, 2};
  EXPECT_EQ(evaluate_tasks(data_, test, 0, right).top_1, 1);
  EXPECT_EQ(evaluate_tasks(data_, test, 0, wrong).top_1, 0.5) << "the favourite takes twice as long as the best";
  EXPECT_EQ(evaluate_tasks(data_, test, 0, wrong).top_5, 1);
  const std::vector<TopScores> networks = evaluate_networks(data_, test, 0, wrong, is_test_network);
  ASSERT_EQ(networks.size(), 2u);
  EXPECT_EQ(networks[0].network, "resnet50");
  EXPECT_EQ(networks[1].top_1, 0.5);
  const std::vector<TaskScore> tasks = evaluate_each_task(data_, test, 0, wrong);
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].top_1, 2 * tasks[0].best);
  EXPECT_EQ(tasks[0].top_5, tasks[0].best);
  const std::vector<double> failing = {1, 2, 3};
  EXPECT_LT(evaluate_tasks(data_, test, 1, failing).top_1, 1e-4) << "the favourite failed";
}

}  // namespace
}  // namespace hone::cost
