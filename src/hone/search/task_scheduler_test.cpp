#include "hone/search/task_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::search {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNever = std::numeric_limits<double>::infinity();

TaskScheduler make(std::vector<ScheduledTask> tasks, const SchedulerOptions& options = {}) {
  Result<TaskScheduler> scheduler = TaskScheduler::make(std::move(tasks), options);
  HONE_CHECK(scheduler.has_value(), "{}", scheduler.error().message);
  return *std::move(scheduler);
}

void tell_all(TaskScheduler& scheduler, std::size_t task, const std::vector<double>& history) {
  for (const double best : history) scheduler.tell(task, best, 64);
}

TEST(TaskScheduler, PrefersWhatPromisesMost) {
  TaskScheduler scheduler = make({{.weight = 1}, {.weight = 6}});
  tell_all(scheduler, 0, {10, 8, 6, 5, 4.5});
  tell_all(scheduler, 1, {3, 2.9, 2.9, 2.9, 2.8});
  EXPECT_NEAR(scheduler.gradient(0), -0.95333, 1e-5);
  EXPECT_NEAR(scheduler.gradient(1), -2.728, 1e-9);
  EXPECT_EQ(scheduler.next_task(), 1u);
  EXPECT_NEAR(scheduler.latency(), 4.5 + 6 * 2.8, 1e-12);
}

TEST(TaskScheduler, GoesOnWithAnotherWhileARoundIsUnderWay) {
  TaskScheduler scheduler = make({{}, {}, {}});
  EXPECT_EQ(scheduler.next_task(), 0u);
  EXPECT_EQ(scheduler.next_task(/*except=*/0), 1u);
  for (const std::size_t task : {0, 1, 2}) scheduler.tell(task, 10.0 * static_cast<double>(task + 1), 64);
  EXPECT_EQ(scheduler.next_task(), 2u);
  EXPECT_EQ(scheduler.next_task(/*except=*/2), 1u);
  scheduler.tell(1, 20, 0);
  scheduler.tell(0, 10, 0);
  EXPECT_EQ(scheduler.next_task(/*except=*/2), std::nullopt);
  EXPECT_EQ(scheduler.next_task(), 2u);
}

TEST(TaskScheduler, LooksBackOnlyAfterTheWindow) {
  TaskScheduler scheduler = make({{}});
  tell_all(scheduler, 0, {10, 8, 6});
  EXPECT_NEAR(scheduler.gradient(0), 0.8 * -6 / 3, 1e-12);
  scheduler.tell(0, 5, 64);
  EXPECT_NEAR(scheduler.gradient(0), 0.2 * (5 - 10) / 3.0 + 0.8 * -5 / 4, 1e-12);
}

TEST(TaskScheduler, GivesEachTaskARoundFirst) {
  TaskScheduler scheduler = make({{}, {.weight = 100}, {}});
  for (const std::size_t expected : {0, 1, 2}) {
    ASSERT_EQ(scheduler.next_task(), expected);
    ASSERT_EQ(scheduler.next_task(), expected);  // asking changes nothing
    scheduler.tell(expected, 1, 64);
  }
  EXPECT_EQ(scheduler.next_task(), 1u);
}

TEST(TaskScheduler, ShortRoundsAreNoWholeOnesWhenATaskIsGivenUp) {
  TaskScheduler scheduler = make({{}}, {.round = 16});
  for (const std::size_t trials : {4, 16, 16, 16}) {
    ASSERT_EQ(scheduler.next_task(), 0u) << "fewer than three whole rounds";
    scheduler.tell(0, kNever, trials);
  }
  EXPECT_FALSE(scheduler.next_task());
}

TEST(TaskScheduler, GivesUpTasksThatNeverRun) {
  TaskScheduler scheduler = make({{}, {}});
  std::vector<std::size_t> order;
  for (int i = 0; i < 8; ++i) {
    order.push_back(*scheduler.next_task());
    scheduler.tell(order.back(), order.back() == 0 ? kNever : 1, 64);
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 0, 0, 1, 1, 1, 1));
  EXPECT_EQ(scheduler.latency(), 1);
  TaskScheduler hopeless = make({{}});
  for (int i = 0; i < 3; ++i) hopeless.tell(0, kNever, 64);
  EXPECT_FALSE(hopeless.next_task());
}

TEST(TaskScheduler, KeepsToItsBudget) {
  TaskScheduler scheduler = make({{}, {}, {}}, {.trials = 100});
  std::size_t rounds = 0;
  while (const std::optional<std::size_t> task = scheduler.next_task()) {
    EXPECT_EQ(scheduler.round_trials(), rounds < 3 ? 33u : 1u);
    scheduler.tell(*task, 1, scheduler.round_trials());
    ++rounds;
  }
  EXPECT_EQ(rounds, 4u);
  EXPECT_EQ(scheduler.trials_used(), 100u);
  EXPECT_EQ(scheduler.round_trials(), 0u);
}

TEST(TaskScheduler, WithFewerTrialsThanTasksServesTheFirst) {
  TaskScheduler scheduler = make({{}, {}, {}}, {.trials = 2});
  std::vector<std::size_t> order;
  while (const std::optional<std::size_t> task = scheduler.next_task()) {
    order.push_back(*task);
    scheduler.tell(*task, 1, scheduler.round_trials());
  }
  EXPECT_THAT(order, ElementsAre(0, 1));
}

TEST(TaskScheduler, StopsAtTheTarget) {
  TaskScheduler scheduler = make({{.weight = 2}, {.weight = 1}}, {.target_seconds = 3});
  scheduler.tell(0, 1.5, 64);
  scheduler.tell(1, 1, 64);
  EXPECT_EQ(scheduler.next_task(), 0u);
  scheduler.tell(0, 1, 64);
  EXPECT_FALSE(scheduler.next_task());
}

TEST(TaskScheduler, LeavesTasksAloneThatGainNothing) {
  TaskScheduler scheduler = make({{.weight = 100}, {}}, {.early_stop = 128});
  scheduler.tell(0, 1, 64);
  scheduler.tell(1, 1, 64);
  std::vector<std::size_t> order;
  while (const std::optional<std::size_t> task = scheduler.next_task()) {
    order.push_back(*task);
    scheduler.tell(*task, 1, 64);
  }
  EXPECT_THAT(order, ElementsAre(0, 0, 1, 1));
}

TEST(TaskScheduler, LeavesTasksAloneWhoseSearchIsOver) {
  TaskScheduler scheduler = make({{.weight = 100}, {}});
  scheduler.tell(0, 1, 64);
  scheduler.tell(1, 1, 64);
  scheduler.tell(0, 1, 0);
  EXPECT_EQ(scheduler.next_task(), 1u);
  scheduler.tell(1, 1, 0);
  EXPECT_FALSE(scheduler.next_task());
  EXPECT_FALSE(make({}).next_task());
}

TEST(TaskScheduler, ExpectsOfATaskWhatItsFamilyReached) {
  // Alone, the second task promises to fall from 8 to 4; its family runs at 1 flop a second, so that 2 are in reach.
  for (const bool is_family : {false, true}) {
    TaskScheduler scheduler =
        make({{.flops = 1, .family = "conv"}, {.flops = 1, .family = is_family ? "conv" : "pool"}});
    tell_all(scheduler, 0, {1, 1});
    tell_all(scheduler, 1, {8, 8});
    EXPECT_NEAR(scheduler.gradient(1), 0.8 * ((is_family ? 2 : 4) - 8), 1e-12);
    EXPECT_NEAR(scheduler.gradient(0), 0.8 * (0.5 - 1), 1e-12);  // the fastest gains nothing from its family
  }
}

TEST(TaskScheduler, IgnoresFamiliesOfTasksWithoutFlops) {
  TaskScheduler scheduler = make({{.flops = 1, .family = "f"}, {.flops = 0, .family = "f"}});
  tell_all(scheduler, 0, {1});
  tell_all(scheduler, 1, {8, 8});
  EXPECT_NEAR(scheduler.gradient(1), 0.8 * -4, 1e-12);
}

TEST(TaskScheduler, LetsATaskLeaveItsFamilyThatStaysSlow) {
  TaskScheduler scheduler = make({{.flops = 1, .family = "conv"}, {.flops = 1, .family = "conv"}});
  tell_all(scheduler, 0, {1});
  tell_all(scheduler, 1, {8, 8, 8, 8, 8, 8});
  EXPECT_NEAR(scheduler.gradient(1), 0.8 * (2 - 8), 1e-12);
  tell_all(scheduler, 1, {8});
  EXPECT_NEAR(scheduler.gradient(1), 0.8 * -8 / 7, 1e-12);
}

TEST(TaskScheduler, DrawsAmongEqualsBySeed) {
  const auto order = [](std::uint64_t seed) {
    std::string tasks;
    for (std::uint64_t i = 0; i < 20; ++i) {  // the first draw of each seed
      TaskScheduler scheduler = make({{}, {}, {}}, {.seed = seed * 100 + i});
      for (std::size_t task = 0; task < 3; ++task) scheduler.tell(task, 1, 64);
      EXPECT_EQ(scheduler.next_task(), scheduler.next_task());
      tasks += std::to_string(*scheduler.next_task());
    }
    return tasks;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_THAT(order(1), HasSubstr("0"));
  EXPECT_THAT(order(1), HasSubstr("1"));
  EXPECT_THAT(order(1), HasSubstr("2"));
}

TEST(TaskScheduler, GoesOnFromEarlierRuns) {
  TaskScheduler scheduler = make({{}, {}, {}});
  scheduler.restore(1, 2, 130);
  scheduler.restore(2, kNever, 500);
  EXPECT_NEAR(scheduler.gradient(1), 0.8 * -2 / 3, 1e-12);  // as after three rounds
  EXPECT_EQ(scheduler.next_task(), 0u);
  scheduler.tell(0, 0.1, 64);
  EXPECT_EQ(scheduler.next_task(), 2u);
  scheduler.tell(2, 0.1, 64);
  EXPECT_EQ(scheduler.next_task(), 1u);
  EXPECT_EQ(scheduler.trials_used(), 128u);
}

TEST(TaskScheduler, NeverForgetsABetterTime) {
  TaskScheduler scheduler = make({{}});
  tell_all(scheduler, 0, {1, 2});
  EXPECT_EQ(scheduler.latency(), 1);
}

TEST(TaskScheduler, RefusesWhatIsOutOfRange) {
  const auto message = [](const ScheduledTask& task, const SchedulerOptions& options) {
    const Result<TaskScheduler> scheduler = TaskScheduler::make({{}, task}, options);
    return scheduler ? std::string() : scheduler.error().message;
  };
  EXPECT_EQ(message({}, {}), "");
  EXPECT_THAT(message({.weight = -1}, {}), HasSubstr("the weight of task 1 is -1"));
  EXPECT_THAT(message({.flops = kNever}, {}), HasSubstr("task 1 has inf flops"));
  EXPECT_THAT(message({}, {.round = 0}), HasSubstr("round is 0"));
  EXPECT_THAT(message({}, {.window = 0}), HasSubstr("window is 0"));
  EXPECT_THAT(message({}, {.alpha = 2}), HasSubstr("alpha is 2, but must be in 0..1"));
  EXPECT_THAT(message({}, {.beta = 0}), HasSubstr("beta is 0"));
  EXPECT_THAT(message({}, {.target_seconds = -1}), HasSubstr("target_seconds is -1"));
}

}  // namespace
}  // namespace hone::search
