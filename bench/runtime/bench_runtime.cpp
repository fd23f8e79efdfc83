/// Measures what a parallel loop costs beyond its iterations: the thread pool, OpenMP, and threads started per loop.
///
///     bench_runtime [threads = 2] [spin_us = the pool's default]
///
/// Prints a table to stderr and one JSON line per figure to stdout.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "baselines.h"

#include "hone/runtime/spin_wait.h"
#include "hone/runtime/thread_pool.h"

namespace hone::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

struct Setup {
  int threads = 2;
  runtime::ThreadPoolOptions pool;
};

void busy_wait(nanoseconds time) {
  const Clock::time_point end = Clock::now() + time;
  while (Clock::now() < end) runtime::cpu_pause();
}

/// Keeps the core busy with work that takes longer if the thread does not get the core, unlike busy_wait.
void busy_work(std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) asm volatile("" ::"r"(i));
}

/// Steps of busy_work that take a microsecond.
std::int64_t steps_per_us() {
  constexpr std::int64_t kSteps = 1000000;
  std::int64_t best_ns = 1 << 30;
  for (int i = 0; i < 10; ++i) {
    const Clock::time_point begin = Clock::now();
    busy_work(kSteps);
    best_ns = std::min(best_ns, std::int64_t{std::chrono::nanoseconds(Clock::now() - begin).count()});
  }
  return kSteps * 1000 / best_ns;
}

/// The time of each of `calls` calls, with `gap` of serial work before each.
std::vector<std::int64_t> time_calls(int calls, nanoseconds gap, const std::function<void()>& call) {
  for (int i = 0; i < 20; ++i) call();  // warm up
  std::vector<std::int64_t> times_ns;
  times_ns.reserve(static_cast<std::size_t>(calls));
  for (int i = 0; i < calls; ++i) {
    if (gap.count() > 0) busy_wait(gap);
    const Clock::time_point begin = Clock::now();
    call();
    times_ns.push_back(std::chrono::duration_cast<nanoseconds>(Clock::now() - begin).count());
  }
  return times_ns;
}

void print(const std::string& name, const Setup& setup, std::vector<std::int64_t> times_ns) {
  std::sort(times_ns.begin(), times_ns.end());
  const long long minimum = times_ns.front();
  const long long median = times_ns[times_ns.size() / 2];
  const long long p99 = times_ns[times_ns.size() * 99 / 100];
  const char* commit = std::getenv("HONE_COMMIT");
  std::printf(
      "{\"name\": \"%s\", \"threads\": %d, \"spin_ns\": %lld, \"median_ns\": %lld, \"min_ns\": %lld, "
      "\"p99_ns\": %lld, \"commit\": \"%s\"}\n",
      name.c_str(), setup.threads, static_cast<long long>(setup.pool.spin.count()), median, minimum, p99,
      commit ? commit : "unknown");
  std::fprintf(stderr, "%-40s %10.2f %10.2f %10.2f\n", name.c_str(), static_cast<double>(median) * 1e-3,
               static_cast<double>(minimum) * 1e-3, static_cast<double>(p99) * 1e-3);
}

void empty_body(void*, std::int64_t, std::int64_t) {}

/// Measures `loop`, which runs one iteration of no work per thread: everything measured is overhead.
void bench_overhead(const Setup& setup, const std::string& name, int most_calls, const std::function<void()>& loop) {
  const auto calls = [&](int wanted) { return std::min(wanted, most_calls); };
  print(name + "/back_to_back", setup, time_calls(calls(20000), microseconds(0), loop));
  print(name + "/after_20us", setup, time_calls(calls(5000), microseconds(20), loop));
  print(name + "/after_1ms", setup, time_calls(calls(500), microseconds(1000), loop));
}

/// Loops of `work` in all, as seen by one of several threads that call at once.
void bench_callers(const Setup& setup, int callers, microseconds work, int calls) {
  runtime::ThreadPool pool(setup.threads, setup.pool);
  const std::int64_t steps = work.count() * steps_per_us();
  std::vector<std::vector<std::int64_t>> times_ns(static_cast<std::size_t>(callers));
  std::vector<std::thread> threads;
  threads.reserve(times_ns.size());
  for (std::vector<std::int64_t>& mine : times_ns)
    threads.emplace_back([&] {
      mine = time_calls(calls, nanoseconds(0), [&] {
        pool.parallel_for(steps, [](std::int64_t begin, std::int64_t end) { busy_work(end - begin); });
      });
    });
  for (std::thread& thread : threads) thread.join();

  std::vector<std::int64_t> all;
  for (const std::vector<std::int64_t>& mine : times_ns) all.insert(all.end(), mine.begin(), mine.end());
  print("pool/" + std::to_string(callers) + "_callers_at_once_" + std::to_string(work.count()) + "us", setup, all);
}

}  // namespace

int run(const Setup& setup) {
  std::fprintf(stderr, "%-40s %10s %10s %10s   (us, %d threads)\n", "", "median", "minimum", "p99", setup.threads);
  {
    runtime::ThreadPool pool(setup.threads, setup.pool);
    bench_overhead(setup, "pool", 20000, [&] { pool.parallel_for(setup.threads, empty_body, nullptr); });
  }
  for (const int callers : {1, 2, 4}) {
    bench_callers(setup, callers, microseconds(20), 5000);
    bench_callers(setup, callers, microseconds(500), 500);
  }
  bench_overhead(setup, "spawn", 500, [&] { spawning_for(setup.threads, setup.threads, empty_body, nullptr); });
  if (has_openmp())  // last, because its threads stay, and spin for a while
    bench_overhead(setup, "openmp", 20000, [&] { openmp_for(setup.threads, setup.threads, empty_body, nullptr); });
  return 0;
}

}  // namespace hone::bench

int main(int argc, char** argv) {
  hone::bench::Setup setup;
  if (argc > 1) setup.threads = std::atoi(argv[1]);
  if (argc > 2) setup.pool.spin = std::chrono::microseconds(std::atoi(argv[2]));
  if (setup.threads < 1 || argc > 3) {
    std::fprintf(stderr, "usage: bench_runtime [threads, at least 1] [spin_us]\n");
    return 2;
  }
  return hone::bench::run(setup);
}
