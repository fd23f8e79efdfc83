#include "hone/search/collect.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

#include "hone/ir/equal.h"
#include "hone/ir/text.h"
#include "hone/schedule/trace.h"
#include "hone/space/make_space.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::search {
namespace {

using ::testing::HasSubstr;

CollectTask collected_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const tensor::Tensor a = tensor::placeholder("a", {m, k}), b = tensor::placeholder("b", {k, n});
  auto task = std::make_shared<space::Task>();
  task->algorithms = {{"direct", tensor::lower("product", {a, b}, {*tensor::matmul(a, b)})}};
  task->constants = {1};
  task->flops = 2.0 * static_cast<double>(m * n * k);
  return {task, "MatMul", {{"resnet18", 2}}};
}

class CollectTest : public ::testing::Test {
 protected:
  CollectTest() {
    for (const char* target : {"cpu -threads=1", "cpu -mattr=+sse4.2 -threads=1"})
      options_.targets.push_back(codegen::parse_target(target).value());
    options_.programs = 9;
    options_.measurer.timing.min_repeat_ms = 0.05;
    options_.measurer.workers = 1;
  }
  ~CollectTest() override { std::filesystem::remove(file_); }

  Result<CollectProgress> run(const std::vector<CollectTask>& tasks) {
    HONE_TRY(cost::DatasetFile file, cost::DatasetFile::open(file_));
    return collect(tasks, file, options_);
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() /
      ("hone-collect-" + std::to_string(getpid()) + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  CollectOptions options_;
};

TEST_F(CollectTest, MeasuresTheSameProgramsOnEachTarget) {
  const Result<CollectProgress> end = run({collected_product(13, 48, 17), collected_product(32, 32, 8)});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->done, 2u);
  const cost::Dataset data = cost::read_dataset(file_).value();
  EXPECT_EQ(data.targets.size(), 2u);
  ASSERT_EQ(data.tasks.size(), 2u);
  EXPECT_EQ(end->measured, static_cast<std::int64_t>(2 * data.programs.size()));
  for (const cost::DatasetTask& task : data.tasks) EXPECT_GE(task.programs.size(), 9u) << task.done;
  std::set<std::string> hashes;
  std::set<std::size_t> drawn_for;
  for (const cost::DatasetProgram& program : data.programs) {
    for (const double seconds : program.seconds) EXPECT_TRUE(std::isfinite(seconds) && seconds > 0);
    drawn_for.insert(program.drawn_for);
    EXPECT_TRUE(hashes.insert(std::to_string(program.task) + program.hash).second) << "a program stands there twice";
    // The trace makes the program from the naive one that the file holds.
    const cost::DatasetTask& task = data.tasks[program.task];
    const ir::Function naive = ir::parse_function(task.algorithms[program.algorithm].text).value();
    const Result<schedule::Program> made = schedule::replay(naive, schedule::parse_trace(program.trace).value());
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(ir::to_string(ir::structural_hash(*made)), program.hash);
  }
  EXPECT_EQ(drawn_for.size(), 2u) << "programs come from the spaces of all targets";
}

TEST_F(CollectTest, LeavesOutTasksForTrainingButNoneForTesting) {
  CollectTask tested = collected_product(7, 16, 5);
  tested.networks = {{"vit", 1}, {"resnet50", 1}};
  options_.tasks = 1;
  options_.programs = 2;
  const Result<CollectProgress> end = run({collected_product(13, 48, 17), tested, collected_product(32, 32, 8)});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->tasks, 2u);
  const cost::Dataset data = cost::read_dataset(file_).value();
  ASSERT_EQ(data.tasks.size(), 2u);
  EXPECT_EQ(cost::is_test_task(data.tasks[0]) + cost::is_test_task(data.tasks[1]), 1);
}

TEST_F(CollectTest, GoesOnWhereItEnded) {
  const CollectTask task = collected_product(13, 48, 17);
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  options_.progress = [&](const CollectProgress& progress) { stop = progress.measured >= 5; };
  ASSERT_TRUE(run({task}));
  const std::size_t before = cost::read_dataset(file_)->programs.size();
  stop = false;
  options_.progress = {};
  ASSERT_TRUE(run({task}));
  const cost::Dataset data = cost::read_dataset(file_).value();
  EXPECT_GE(data.programs.size(), std::max<std::size_t>(9, before));
  for (const cost::DatasetProgram& program : data.programs)
    for (const double seconds : program.seconds) EXPECT_FALSE(std::isnan(seconds));
  const Result<CollectProgress> again = run({task});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->measured, 0) << "there is nothing left to do";
  EXPECT_EQ(again->done, 1u);
}

TEST_F(CollectTest, ATargetThatJoinsLaterIsMeasuredOnTasksThatAreDone) {
  const CollectTask task = collected_product(13, 48, 17);
  const codegen::Target joining = options_.targets.back();
  options_.targets.pop_back();
  ASSERT_TRUE(run({task}));
  ASSERT_TRUE(cost::DatasetFile::open(file_)->finish_task(0, "exhausted"));
  const std::size_t before = cost::read_dataset(file_)->programs.size();
  options_.targets.push_back(joining);
  ASSERT_TRUE(run({task}));
  const cost::Dataset data = cost::read_dataset(file_).value();
  EXPECT_EQ(data.programs.size(), before) << "no more are wanted";
  for (const cost::DatasetProgram& program : data.programs) EXPECT_FALSE(std::isnan(program.seconds[1]));
}

TEST_F(CollectTest, AnotherMachineMeasuresWhatItDidNotDraw) {
  const codegen::Target here = options_.targets.front(), there = options_.targets.back();
  options_.targets = {there};
  ASSERT_TRUE(run({collected_product(13, 48, 17), collected_product(32, 32, 8)}));
  const std::size_t before = cost::read_dataset(file_)->programs.size();
  options_.targets = {here};
  options_.progress = [](const CollectProgress& progress) { EXPECT_GE(progress.left_s, 0); };
  const CollectTask known = collected_product(13, 48, 17);  // the other task is none of this machine's models
  ASSERT_TRUE(run({known}));
  const cost::Dataset data = cost::read_dataset(file_).value();
  EXPECT_EQ(data.programs.size(), before) << "there are enough of the task that is known here";
  for (const cost::DatasetProgram& program : data.programs)
    for (const double seconds : program.seconds) EXPECT_TRUE(std::isfinite(seconds)) << program.candidate;
  options_.programs = 2 * before;
  ASSERT_TRUE(run({known}));
  const cost::Dataset more = cost::read_dataset(file_).value();
  EXPECT_GT(more.programs.size(), before);
  EXPECT_EQ(more.programs.back().drawn_for, 1u) << "new ones come from the spaces of this machine";
  const auto mapping = space::make_space("mapping", *known.task, here).value();
  const std::string first = ir::to_string(ir::structural_hash(mapping->build(mapping->first())->program()));
  EXPECT_TRUE(std::ranges::any_of(more.programs, [&](const cost::DatasetProgram& program) {
    return program.hash == first;
  })) << "what the rules choose for this machine is among them";
}

TEST_F(CollectTest, NoTaskGetsMoreBeforeAllHaveSome) {
  options_.programs = 14;
  options_.first_pass = 4;
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  std::vector<std::size_t> passes;
  options_.progress = [&](const CollectProgress& progress) {
    if (passes.empty() || passes.back() != progress.wanted) passes.push_back(progress.wanted);
    EXPECT_GE(progress.left_s, 0);
    stop = progress.wanted > 4;  // when the first pass is over
  };
  ASSERT_TRUE(run({collected_product(13, 48, 17), collected_product(32, 32, 8)}));
  const cost::Dataset some = cost::read_dataset(file_).value();
  ASSERT_EQ(some.tasks.size(), 2u);
  for (const cost::DatasetTask& task : some.tasks) EXPECT_THAT(task.programs.size(), ::testing::Ge(4u));
  stop = false;
  options_.progress = [&](const CollectProgress& progress) {
    if (passes.back() != progress.wanted) passes.push_back(progress.wanted);
  };
  ASSERT_TRUE(run({collected_product(13, 48, 17), collected_product(32, 32, 8)}));
  EXPECT_THAT(passes, ::testing::ElementsAre(4, 8, 4, 8, 14));
  for (const cost::DatasetTask& task : cost::read_dataset(file_)->tasks)
    EXPECT_GE(task.programs.size(), 14u) << task.done;
}

TEST_F(CollectTest, ATaskThatTakesTooLongIsLeft) {
  options_.longest_ms = 1e-6;
  const Result<CollectProgress> end = run({collected_product(13, 48, 17)});
  ASSERT_TRUE(end);
  const cost::Dataset data = cost::read_dataset(file_).value();
  EXPECT_EQ(data.tasks[0].done, "slow");
  EXPECT_LT(data.programs.size(), 9u);
  for (const cost::DatasetProgram& program : data.programs) EXPECT_TRUE(std::isnan(program.seconds[1]));
}

TEST_F(CollectTest, ATaskWithNothingToDecideIsNotSlow) {
  const tensor::Tensor a = tensor::placeholder("a", {28, 192}), b = tensor::placeholder("b", {28, 192});
  const tensor::Tensor sum = tensor::compute(
      "sum", {{"i", 28}, {"j", 192}}, [&](const tensor::Indices& at) { return a(at[0], at[1]) + b(at[0], at[1]); });
  auto task = std::make_shared<space::Task>();
  task->algorithms = {{"direct", tensor::lower("sum", {a, b}, {sum})}};
  ASSERT_TRUE(run({{task, "Add", {{"resnet18", 1}}}}));
  EXPECT_EQ(cost::read_dataset(file_)->tasks.at(0).done, "exhausted");
}

TEST_F(CollectTest, SaysWhyTrialsFailed) {
  if (codegen::host_target().arch != codegen::Arch::X86_64) GTEST_SKIP() << "the target is an x86";
  options_.targets[1] = codegen::parse_target("cpu -mattr=+fma4 -threads=1").value();
  const Result<CollectProgress> end = run({collected_product(13, 48, 17)});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->failures, end->measured / 2);
  ASSERT_EQ(end->reasons.size(), 1u);
  const auto& [reason, failures] = *end->reasons.begin();
  EXPECT_EQ(reason, "compile error");
  EXPECT_EQ(failures.count, end->failures);
  EXPECT_THAT(failures.first_message, HasSubstr("needs fma4, which this machine lacks"));
}

TEST_F(CollectTest, WantsATarget) {
  options_.targets.clear();
  EXPECT_THAT(run({collected_product(4, 4, 4)}).error().message, HasSubstr("no target"));
}

}  // namespace
}  // namespace hone::search
