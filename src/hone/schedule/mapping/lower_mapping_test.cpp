#include "hone/schedule/mapping/lower_mapping.h"

#include <gtest/gtest.h>
#include <numeric>

#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"

namespace hone::schedule {
namespace {

using namespace ir;

/// A function that writes the tasks of all workers: row w of `tasks` lists those of worker w, each as one number, and
/// `done[w]` counts them. There are `workers` workers, as many as the mapping has or more.
Function recording(const Mapping& mapping, std::int64_t workers, std::int64_t most) {
  const Expr tasks = buffer("tasks", kIndex, std::vector<std::int64_t>{workers, most});
  const Expr done = buffer("done", kIndex, std::vector<std::int64_t>{workers});
  const Expr worker = var("worker");
  Bounds bounds;
  bounds.add_extent(worker, imm(workers));
  const Index grid = mapping.grid();
  const Stmt body = for_each_task(mapping, worker, "task", bounds, [&](const std::vector<Expr>& task) {
    Expr number = imm(0);
    for (std::size_t axis = 0; axis < task.size(); ++axis) number = number * grid[axis] + task[axis];
    const Expr place = load(done, {worker});
    return seq({store(tasks, {worker, place}, number), store(done, {worker}, place + 1)});
  });
  const Stmt loop = make(For{.var = worker, .extent = imm(workers), .body = body});
  return {.name = "record", .params = {tasks, done}, .body = loop};
}

void expect_same_tasks(const Mapping& mapping, std::int64_t idle_workers) {
  const Index grid = mapping.grid();
  const std::int64_t most = std::accumulate(grid.begin(), grid.end(), std::int64_t{1}, std::multiplies<>());
  const std::int64_t workers = mapping.workers() + idle_workers;
  const Function function = recording(mapping, workers, most);
  const Result<void> verified = verify(function);
  ASSERT_TRUE(verified) << verified.error().message << "\n" << to_text(function);
  std::vector<Array> arrays{Array(kIndex, {workers, most}), Array(kIndex, {workers})};
  const Result<void> ran = interpret(function, arrays);
  ASSERT_TRUE(ran) << ran.error().message << "\n" << to_text(function);
  for (std::int64_t worker = 0; worker < workers; ++worker) {
    std::vector<std::int64_t> expected, found;
    for (const Index& task : worker < mapping.workers() ? mapping.tasks_of(worker) : std::vector<Index>()) {
      std::int64_t number = 0;
      for (std::size_t axis = 0; axis < grid.size(); ++axis) number = number * grid[axis] + task[axis];
      expected.push_back(number);
    }
    for (std::int64_t i = 0; i < arrays[1].int_at(worker); ++i) found.push_back(arrays[0].int_at(worker * most + i));
    EXPECT_EQ(found, expected) << schedule::to_text(mapping) << ", worker " << worker << "\n" << to_text(function);
  }
}

TEST(ForEachTask, DoesTheTasksOfEachWorkerInOrder) {
  Rng rng(/*seed=*/5);
  for (int trial = 0; trial < 150; ++trial) {
    const std::size_t rank = static_cast<std::size_t>(rng.uniform(0, 3));
    Mapping mapping = repeat(Index(rank, 1));
    for (std::int64_t parts = rng.uniform(1, 3); parts > 0; --parts) {
      Index shape(rank);
      for (std::int64_t& extent : shape) extent = rng.uniform(1, 3);
      std::vector<std::int64_t> ranks(rank);
      std::iota(ranks.begin(), ranks.end(), 0);
      if (rng.chance(0.5)) std::reverse(ranks.begin(), ranks.end());
      mapping = mapping * (rng.chance(0.5) ? spatial(shape, ranks) : repeat(shape, ranks));
    }
    if (rng.chance(0.5)) {
      Index limit = mapping.grid();
      for (std::int64_t& extent : limit) extent = rng.uniform(0, extent);
      mapping = *within(mapping, limit);
    }
    expect_same_tasks(mapping, rng.uniform(0, 2));
  }
}

TEST(ForEachTask, SplitsTheWorkerByDivisionsAndHasALoopPerAxisOfARepeat) {
  const Expr worker = var("w");
  Bounds bounds;
  bounds.add_extent(worker, imm(8));
  const Expr out = buffer("out", kIndex, std::vector<std::int64_t>{8, 9});
  const auto number = [&](const std::vector<Expr>& task) { return store(out, task, imm(1)); };
  EXPECT_EQ(to_text(for_each_task(spatial({2, 4}) * repeat({4, 3}), worker, "t", bounds, number)),
            "for t.0 in 0..4 {\n"
            "  for t.1 in 0..3 {\n"
            "    out[w // 4 * 4 + t.0, w % 4 * 3 + t.1] = 1\n"
            "  }\n"
            "}\n");
}

TEST(ForEachTask, GuardsOnlyWhatCanHappen) {
  const Expr worker = var("w");
  Bounds bounds;
  bounds.add_extent(worker, imm(4));
  const Expr out = buffer("out", kIndex, std::vector<std::int64_t>{10});
  const auto number = [&](const std::vector<Expr>& task) { return store(out, task, imm(1)); };
  EXPECT_EQ(to_text(for_each_task(*within(repeat({3}) * spatial({4}), {10}), worker, "t", bounds, number)),
            "for t.0 in 0..3 {\n"
            "  if t.0 * 4 + w < 10 {\n"
            "    out[t.0 * 4 + w] = 1\n"
            "  }\n"
            "}\n");
  EXPECT_EQ(to_text(for_each_task(spatial({3}), worker, "t", bounds, number)),
            "if w < 3 {\n"
            "  out[w] = 1\n"
            "}\n");
}

TEST(ForEachWorker, RunsWorkersAsTheIterationsOfALoop) {
  const Expr out = buffer("out", kIndex, std::vector<std::int64_t>{6});
  EXPECT_EQ(to_text(for_each_worker(spatial({2}) * repeat({3}), ForKind::Parallel, "core",
                                    [&](const std::vector<Expr>& task) { return store(out, task, imm(1)); })),
            "for core in 0..2 parallel {\n"
            "  for core.0 in 0..3 {\n"
            "    out[core * 3 + core.0] = 1\n"
            "  }\n"
            "}\n");
}

}  // namespace
}  // namespace hone::schedule
