#include "hone/runtime/parallel.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "hone/runtime/thread_pool.h"

namespace hone::runtime {
namespace {

/// A body as generated code has it: adds one to each element of its range.
void add_one(void* context, std::int64_t begin, std::int64_t end) {
  int* elements = static_cast<int*>(context);
  for (std::int64_t i = begin; i < end; ++i) ++elements[i];
}

void remember_thread(void* context, std::int64_t begin, std::int64_t) {
  static_cast<std::thread::id*>(context)[begin] = std::this_thread::get_id();
}

/// The same for two ranges, neither of which ends before both have begun.
struct Meeting {
  std::thread::id threads[2];
  std::atomic<int> begun = 0;
};

void meet(void* context, std::int64_t begin, std::int64_t end) {
  Meeting& meeting = *static_cast<Meeting*>(context);
  remember_thread(meeting.threads, begin, end);
  for (++meeting.begun; meeting.begun < 2;) std::this_thread::yield();
}

TEST(ParallelFor, RunsEveryIterationWithAndWithoutAPool) {
  ThreadPool pool(3);
  for (void* pool_or_null : {static_cast<void*>(&pool), static_cast<void*>(nullptr)})
    for (const std::int64_t count : {-1, 0, 1, 2, 7, 1009}) {
      std::vector<int> elements(1010);
      hone_parallel_for(pool_or_null, count, add_one, elements.data());
      for (std::int64_t i = 0; i < 1010; ++i) EXPECT_EQ(elements[static_cast<std::size_t>(i)], i < count ? 1 : 0);
    }
}

TEST(ParallelFor, UsesThePool) {
  ThreadPool pool(2);
  Meeting meeting;
  hone_parallel_for(&pool, 2, meet, &meeting);
  EXPECT_EQ(meeting.threads[0], std::this_thread::get_id());
  EXPECT_NE(meeting.threads[1], std::this_thread::get_id());
  EXPECT_NE(meeting.threads[1], std::thread::id());
}

TEST(ParallelFor, WithoutAPoolTheCallerRunsTheWholeRangeAtOnce) {
  std::thread::id threads[2];
  hone_parallel_for(nullptr, 2, remember_thread, threads);
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  EXPECT_EQ(threads[1], std::thread::id());
}

}  // namespace
}  // namespace hone::runtime
