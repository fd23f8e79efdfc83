#include "hone/runtime/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <thread>
#include <vector>

#include "hone/support/error.h"

namespace hone::runtime {
namespace {

/// How often a loop of `count` iterations on `pool` runs each of them.
std::vector<int> visits(ThreadPool& pool, std::int64_t count) {
  std::vector<int> visits_of(static_cast<std::size_t>(count));
  pool.parallel_for(count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++visits_of[static_cast<std::size_t>(i)];
  });
  return visits_of;
}

/// How often each iteration should be run.
std::vector<int> once(std::int64_t count) { return std::vector<int>(static_cast<std::size_t>(count), 1); }

/// The thread that runs each iteration. No thread ends its range before all have begun theirs: else the caller would
/// run them as well.
std::vector<std::thread::id> thread_of_each(ThreadPool& pool, std::int64_t count) {
  std::vector<std::thread::id> threads(static_cast<std::size_t>(count));
  std::atomic<std::int64_t> begun = 0;
  pool.parallel_for(count, [&](std::int64_t begin, std::int64_t end) {
    ++begun;
    while (begun < std::min<std::int64_t>(count, pool.threads())) std::this_thread::yield();
    for (std::int64_t i = begin; i < end; ++i) threads[static_cast<std::size_t>(i)] = std::this_thread::get_id();
  });
  return threads;
}

/// The number of threads of this process.
std::ptrdiff_t process_threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

/// Whether the process comes down to `limit` threads: the kernel lists a thread for a moment after it was joined.
bool has_few_threads_soon(std::ptrdiff_t limit) {
  for (int attempt = 0; attempt < 1000 && process_threads() > limit; ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return process_threads() <= limit;
}

/// The number of threads before a pool is made. A thread sanitizer adds one of its own to the first that is started.
std::ptrdiff_t threads_at_rest() {
  std::thread([] {}).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until the kernel has forgotten it
  return process_threads();
}

TEST(ThreadPool, RunsEveryIterationExactlyOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::int64_t count : {0, 1, 2, 3, 5, 7, 8, 97, 1009, 1000000})
      EXPECT_EQ(visits(pool, count), once(count)) << count << " iterations on " << threads << " threads";
  }
}

TEST(ThreadPool, ANegativeCountRunsNothing) {
  ThreadPool pool(2);
  bool was_called = false;
  pool.parallel_for(-5, [&](std::int64_t, std::int64_t) { was_called = true; });
  EXPECT_FALSE(was_called);
}

TEST(ThreadPool, NoThreadsAreOurMistake) {
  EXPECT_THROW(ThreadPool(0), InternalError);
  EXPECT_THROW(ThreadPool(-1), InternalError);
}

TEST(ThreadPool, GivesTheSameIterationsToTheSameThreadEachTime) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (const std::int64_t count : {1, 2, 7, 1009}) {
      const std::vector<std::thread::id> first = thread_of_each(pool, count);
      EXPECT_EQ(first.front(), std::this_thread::get_id());
      for (int repeat = 0; repeat < 20; ++repeat) EXPECT_EQ(thread_of_each(pool, count), first);
    }
  }
}

TEST(ThreadPool, UsesAllItsThreads) {
  ThreadPool pool(3);
  const std::vector<std::thread::id> threads = thread_of_each(pool, 7);
  EXPECT_NE(threads[0], threads[3]);
  EXPECT_NE(threads[3], threads[5]);
  EXPECT_NE(threads[0], threads[5]);
}

TEST(ThreadPool, RunsEachRangeOnceWhoeverIsFaster) {
  ThreadPool pool(3);
  for (int loop = 0; loop < 5000; ++loop) ASSERT_EQ(visits(pool, 3), once(3));
}

TEST(ThreadPool, ANestedLoopRunsSeriallyInItsThread) {
  ThreadPool outer(3), inner(2);
  for (ThreadPool* nested : {&outer, &inner}) {
    std::vector<int> visits_of(3 * 5);
    outer.parallel_for(3, [&](std::int64_t begin, std::int64_t end) {
      const std::thread::id self = std::this_thread::get_id();
      for (std::int64_t i = begin; i < end; ++i)
        nested->parallel_for(5, [&](std::int64_t inner_begin, std::int64_t inner_end) {
          EXPECT_EQ(std::this_thread::get_id(), self);
          for (std::int64_t k = inner_begin; k < inner_end; ++k) ++visits_of[static_cast<std::size_t>(i * 5 + k)];
        });
    });
    EXPECT_EQ(visits_of, once(3 * 5));
  }
}

TEST(ThreadPool, IsParallelAgainAfterANestedLoop) {
  ThreadPool pool(2);
  pool.parallel_for(2, [&](std::int64_t, std::int64_t) { visits(pool, 10); });
  const std::vector<std::thread::id> threads = thread_of_each(pool, 2);
  EXPECT_NE(threads[0], threads[1]);
}

TEST(ThreadPool, ServesManyCallersAtOnce) {
  for (const int threads : {2, 3, 8}) {
    ThreadPool pool(threads);
    constexpr std::int64_t kCallers = 6;
    std::vector<std::thread> callers;
    callers.reserve(kCallers);
    for (std::int64_t caller = 0; caller < kCallers; ++caller)
      callers.emplace_back([&pool, caller] {
        for (std::int64_t loop = 0; loop < 200; ++loop) {
          const std::int64_t count = 1 + (caller * 31 + loop * 7) % 101;
          EXPECT_EQ(visits(pool, count), once(count));
        }
      });
    for (std::thread& caller : callers) caller.join();
  }
}

TEST(ThreadPool, WakesThreadsThatSleep) {
  const ThreadPoolOptions sleeps_at_once{.spin = std::chrono::nanoseconds(0)};
  for (const int threads : {2, 3}) {
    ThreadPool pool(threads, sleeps_at_once);
    for (int loop = 0; loop < 2000; ++loop) EXPECT_EQ(visits(pool, 5), once(5));
  }
}

TEST(ThreadPool, WaitsForAWorkerThatTakesLong) {
  ThreadPool pool(2);
  std::vector<int> done(2);
  pool.parallel_for(2, [&](std::int64_t begin, std::int64_t) {
    if (begin == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the caller sleeps by then
    done[static_cast<std::size_t>(begin)] = 1;
  });
  EXPECT_EQ(done, once(2));
}

TEST(ThreadPool, PinnedWorkersRunEveryIteration) {
  ThreadPool pool(3, {.pin_workers = true});
  EXPECT_EQ(visits(pool, 1009), once(1009));
}

TEST(ThreadPool, AThousandPoolsComeAndGo) {
  const std::ptrdiff_t threads_before = threads_at_rest();
  for (int i = 0; i < 1000; ++i) {
    ThreadPool pool(1 + i % 4);
    if (i % 2 == 0) { EXPECT_EQ(visits(pool, i % 13), once(i % 13)); }
  }
  EXPECT_TRUE(has_few_threads_soon(threads_before)) << process_threads() << " instead of " << threads_before;
}

TEST(ThreadPool, LeavesNoThreadsBehind) {
  const std::ptrdiff_t threads_before = threads_at_rest();
  {
    ThreadPool pool(8);
    EXPECT_GE(process_threads(), 8);
    EXPECT_EQ(visits(pool, 100), once(100));
  }
  EXPECT_TRUE(has_few_threads_soon(threads_before)) << process_threads() << " instead of " << threads_before;
}

TEST(ThreadPoolDeathTest, AnExceptionThatLeavesABodyEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto throwing_loop = [](std::int64_t throwing_rank) {
    ThreadPool pool(2);
    pool.parallel_for(2, [&](std::int64_t begin, std::int64_t) {
      if (begin == throwing_rank) throw 1;
    });
  };
  EXPECT_DEATH(throwing_loop(0), "terminate");
  EXPECT_DEATH(throwing_loop(1), "terminate");
}

}  // namespace
}  // namespace hone::runtime
