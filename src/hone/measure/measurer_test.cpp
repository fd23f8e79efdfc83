#include "hone/measure/measurer.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "hone/ir/text.h"
#include "hone/measure/timing.h"
#include "hone/measure/worker_process.h"
#include "hone/schedule/primitives.h"
#include "hone/support/rng.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::measure {
namespace {

ir::Function function(std::string_view text) { return ir::parse_function(text).value(); }

MeasureInput input(std::string_view text, std::shared_ptr<const TaskData> data = nullptr) {
  return {split_packing(function(text)), std::move(data)};
}

constexpr const char* kDouble = R"(
func twice(A: f32[1000], B: f32[1000]) {
  for i in 0..1000 {
    block B {
      vi: spatial(1000) = i
      B[vi] = A[vi] * 2f32
    }
  }
})";

/// Stores a terabyte away.
constexpr const char* kCrash = R"(
func crash(A: f32[1000], B: f32[1000]) {
  for i in 0..1000 {
    B[i * 1000000000 + 250000000000] = A[i]
  }
})";

constexpr const char* kHang = R"(
func hang(A: f32[1000], B: f32[1000]) {
  for i in 0..1000000000 {
    for j in 0..1000000000 {
      B[j % 1000] = B[j % 1000] * A[i % 1000] + 1f32
    }
  }
})";

constexpr const char* kHungry = R"(
func hungry(A: f32[1000], B: f32[1000]) {
  alloc T: f32[8000000000]
  for i in 0..8000000000 {
    T[i] = A[i % 1000]
  }
  for j in 0..1000 {
    B[j] = T[j * 8000000]
  }
})";

constexpr const char* kNan = R"(
func nan(A: f32[1000], B: f32[1000]) {
  for i in 0..1000 {
    B[i] = (A[i] - A[i]) / (A[i] - A[i])
  }
})";

constexpr const char* kWrong = R"(
func wrong(A: f32[1000], B: f32[1000]) {
  for i in 0..999 {
    B[i] = A[i] * 2f32
  }
  B[999] = 7f32
})";

MeasurerOptions quick_options(int threads = 1) {
  MeasurerOptions options;
  options.target.threads = threads;
  options.timing.repeats = 3;
  options.timing.min_repeat_ms = 0.2;
  return options;
}

Measurer start(const MeasurerOptions& options = quick_options()) { return Measurer::start(options).value(); }

std::shared_ptr<const TaskData> checked(std::string_view reference) {
  TaskData data;
  data.reference = split_packing(function(reference));
  return std::make_shared<const TaskData>(std::move(data));
}

TEST(Measurer, AProgramIsTimed) {
  Measurer measurer = start();
  const MeasureResult result = measurer.measure(std::vector{input(kDouble, checked(kDouble))}).at(0);
  EXPECT_EQ(result.status, TrialStatus::Ok) << result.message;
  EXPECT_EQ(result.samples_ns.size(), 3u);
  EXPECT_GT(result.min_ns(), 10);
  EXPECT_LT(result.min_ns(), 1e6);
  for (const double ns : result.samples_ns) EXPECT_GE(ns, result.min_ns());
  EXPECT_GE(static_cast<double>(result.calls) * result.samples_ns[0], 0.2e6) << "the number of calls was not grown";
  EXPECT_GT(result.compile_ms, 0);
  EXPECT_TRUE(result.is_checked);
}

TEST(Measurer, EachKindOfFaultCostsOneTrialAndIsTold) {
  MeasurerOptions options = quick_options();
  options.run_timeout_ms = 1500;
  options.memory_bytes = std::int64_t{1} << 30;
  Measurer measurer = start(options);
  const auto data = checked(kDouble);
  const std::vector<std::pair<const char*, TrialStatus>> cases = {
      {kDouble, TrialStatus::Ok},    {kCrash, TrialStatus::Crash},    {kDouble, TrialStatus::Ok},
      {kHang, TrialStatus::Timeout}, {kDouble, TrialStatus::Ok},      {kHungry, TrialStatus::OutOfMemory},
      {kDouble, TrialStatus::Ok},    {kNan, TrialStatus::NotANumber}, {kWrong, TrialStatus::WrongAnswer},
      {kDouble, TrialStatus::Ok},
  };
  std::vector<MeasureInput> batch;
  for (const auto& [text, status] : cases) batch.push_back(input(text, data));
  if (!kHasMemoryLimit) batch[5] = batch[0];  // a sanitizer would hand out what is asked for
  const std::vector<MeasureResult> results = measurer.measure(batch);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const TrialStatus expected = i == 5 && !kHasMemoryLimit ? TrialStatus::Ok : cases[i].second;
    EXPECT_EQ(to_string(results[i].status), to_string(expected)) << i << ": " << results[i].message;
  }
  EXPECT_EQ(results[3].message, "running took more than 1500 ms");
  if (kHasMemoryLimit) {  // sanitizers say more
    EXPECT_EQ(results[1].message, "the worker was killed by signal 11 (Segmentation fault)");
    EXPECT_EQ(results[5].message, "the kernel could not allocate its scratch memory");
  }
  EXPECT_EQ(results[7].message.find("output 'B': element 0 is nan, expected is "), 0u) << results[7].message;
  EXPECT_EQ(results[8].message.find("output 'B': element 999 is 7, expected is "), 0u) << results[8].message;
}

TEST(Measurer, WhatDoesNotCompileIsTold) {
  Measurer measurer = start();
  MeasureInput unbound = input(kDouble);
  unbound.program.main.params.pop_back();
  const MeasureResult result = measurer.measure(std::vector{unbound}).at(0);
  EXPECT_EQ(result.status, TrialStatus::CompileError);
  EXPECT_FALSE(result.message.empty());
  EXPECT_EQ(measurer.started_workers(), 1) << "an error costs no process";
}

TEST(Measurer, NanIsFoundWithoutAReferenceAndAllowedOnRequest) {
  Measurer measurer = start();
  TaskData tolerant;
  tolerant.allows_nan = true;
  const std::vector<MeasureResult> results =
      measurer.measure(std::vector{input(kNan), input(kNan, std::make_shared<const TaskData>(tolerant))});
  EXPECT_EQ(results[0].status, TrialStatus::NotANumber);
  EXPECT_EQ(results[0].message, "output 'B': element 0 is nan");
  EXPECT_EQ(results[1].status, TrialStatus::Ok) << results[1].message;
  EXPECT_FALSE(results[1].is_checked);
}

TEST(Measurer, ExpectedBytesAreComparedWith) {
  Measurer measurer = start();
  std::vector<float> in(1000), out(1000);
  for (int i = 0; i < 1000; ++i) out[i] = 2 * (in[i] = static_cast<float>(i) - 500);
  const auto bytes = [](const std::vector<float>& v) {
    return std::string(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(float));
  };
  TaskData right;
  right.fills = {Fill{.bytes = bytes(in)}};
  right.expected = {bytes(out)};
  TaskData wrong = right;
  out[17] += 5;
  wrong.expected = {bytes(out)};
  TaskData too_few = right;
  too_few.fills[0]->bytes.pop_back();
  const std::vector<MeasureResult> results = measurer.measure(std::vector{
      input(kDouble, std::make_shared<const TaskData>(right)), input(kDouble, std::make_shared<const TaskData>(wrong)),
      input(kDouble, std::make_shared<const TaskData>(too_few))});
  EXPECT_EQ(results[0].status, TrialStatus::Ok) << results[0].message;
  EXPECT_TRUE(results[0].is_checked);
  EXPECT_EQ(results[1].message, "output 'B': element 17 is -966, expected is -961; 1 of 1000 elements are wrong");
  EXPECT_EQ(results[2].status, TrialStatus::RunError);
  EXPECT_EQ(results[2].message, "parameter 'A': an argument of 4000 bytes is given 3999 bytes");
}

TEST(Measurer, IndicesComeFromTheRangeThatIsGiven) {
  constexpr const char* kGather = R"(
func gather(T: f32[10, 4], I: i64[100], B: f32[100, 4]) {
  for i in 0..100 {
    for j in 0..4 {
      B[i, j] = T[I[i], j]
    }
  }
})";
  Measurer measurer = start();
  TaskData data;
  data.fills = {std::nullopt, Fill{.low = 0, .high = 9}};
  data.reference = split_packing(function(kGather));
  const MeasureResult result =
      measurer.measure(std::vector{input(kGather, std::make_shared<const TaskData>(data))}).at(0);
  EXPECT_EQ(result.status, TrialStatus::Ok) << result.message;
}

/// A matrix product of two constants, both packed ahead of time, on several threads.
MeasureInput packed_matmul(std::int64_t size) {
  const tensor::Tensor a = tensor::placeholder("A", {size, size}), b = tensor::placeholder("B", {size, size});
  const ir::Function naive = tensor::lower("matmul", {a, b}, {tensor::matmul(a, b).value()});
  ir::Function scheduled = schedule::transform_layout(naive, "A", "(m, k) -> (k, m)").value();
  scheduled = schedule::transform_layout(scheduled, "B", "(k, n) -> (n // 8, k, n % 8)").value();
  scheduled = schedule::parallel(scheduled, "ax0").value();
  TaskData data;
  data.reference = split_packing(naive);
  return {split_packing(scheduled), std::make_shared<const TaskData>(std::move(data))};
}

TEST(Measurer, PackedConstantsAndThreadsAreCheckedToo) {
  for (const int threads : {1, 2}) {
    Measurer measurer = start(quick_options(threads));
    MeasureInput matmul = packed_matmul(61);
    if (threads == 2) {  // the reference may pack as well
      TaskData packed;
      packed.reference = matmul.program;
      matmul.data = std::make_shared<const TaskData>(std::move(packed));
    }
    ASSERT_EQ(matmul.program.packed.size(), 2u);
    for (const MeasureResult& result : measurer.measure(std::vector(6, matmul))) {
      EXPECT_EQ(result.status, TrialStatus::Ok) << result.message;
      EXPECT_TRUE(result.is_checked);
      EXPECT_LT(result.largest_error, 1e-5);
    }
  }
}

TEST(Measurer, ComparedProgramsTakeTurnsInOneWorker) {
  Measurer measurer = start();
  constexpr const char* kSlow = R"(
func slow(A: f32[1000], B: f32[1000]) {
  for i in 0..1000 {
    B[i] = A[i] * 2f32
  }
  for r in 0..50 {
    for j in 0..1000 {
      B[j] = B[j] + B[j]
    }
    for k in 0..1000 {
      B[k] = B[k] / 2f32
    }
  }
})";
  const auto data = checked(kDouble);
  const auto [fast, slow] = measurer.compare(input(kDouble, data), input(kSlow, data));
  EXPECT_EQ(fast.status, TrialStatus::Ok) << fast.message;
  EXPECT_EQ(slow.status, TrialStatus::Ok) << slow.message;
  EXPECT_EQ(fast.samples_ns.size(), 3u);
  EXPECT_EQ(slow.samples_ns.size(), 3u);
  EXPECT_LT(fast.min_ns(), slow.min_ns());
  const auto [good, bad] = measurer.compare(input(kDouble, data), input(kWrong, data));
  EXPECT_EQ(good.status, TrialStatus::Ok);
  EXPECT_EQ(bad.status, TrialStatus::WrongAnswer);
  EXPECT_EQ(measurer.started_workers(), 1);
}

TEST(Measurer, FlushedCachesAreSlowerAndSaidSo) {
  constexpr const char* kCopy = R"(
func copy(A: f32[500000], B: f32[500000]) {
  for i in 0..31250 {
    for j in 0..16 vectorized {
      B[i * 16 + j] = A[i * 16 + j]
    }
  }
})";
  MeasurerOptions options = quick_options();
  options.timing.repeats = 5;
  Measurer measurer = start(options);
  const MeasureResult warm = measurer.measure(std::vector{input(kCopy)}).at(0);
  options.timing.cache = CacheState::Flushed;
  measurer.set_timing(options.timing);
  const MeasureResult flushed = measurer.measure(std::vector{input(kCopy)}).at(0);
  ASSERT_TRUE(warm.is_ok() && flushed.is_ok()) << warm.message << flushed.message;
  EXPECT_EQ(warm.cache, CacheState::Warm);
  EXPECT_EQ(flushed.cache, CacheState::Flushed);
  EXPECT_EQ(flushed.calls, 1);
  EXPECT_LT(warm.min_ns(), flushed.min_ns());
}

TEST(Measurer, AHopelessProgramIsCalledTwice) {
  MeasurerOptions options = quick_options();
  options.timing.hopeless_ns = 1;
  Measurer measurer = start(options);
  const MeasureResult result = measurer.measure(std::vector{input(kDouble)}).at(0);
  EXPECT_EQ(result.status, TrialStatus::Ok);
  EXPECT_EQ(result.samples_ns.size(), 2u);
}

TEST(Measurer, WhatWaitsIsPreparedAgainWhenItsWorkerDiesOfAnother) {
  MeasurerOptions options = quick_options(codegen::host_target().threads);  // timed in bursts
  options.workers = 1;
  options.run_timeout_ms = 3000;
  Measurer measurer = start(options);
  const auto data = checked(kDouble);
  std::vector<MeasureInput> batch(9, input(kDouble, data));
  batch[1] = batch[7] = input(kCrash, data);
  const std::vector<MeasureResult> results = measurer.measure(batch);
  for (std::size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(to_string(results[i].status), i == 1 || i == 7 ? "crash" : "ok") << i << ": " << results[i].message;
  EXPECT_EQ(measurer.started_workers(), 3);
}

TEST(Measurer, WorkGoesOnBesideTrialsAndWakesTheSource) {
  Measurer measurer = start();
  const auto data = checked(kDouble);
  int rounds = 0, left = 0, ok = 0, told = 0;
  std::atomic<int> worked = 0;
  bool is_thinking = false;
  const Result<void> ended = measurer.run_jobs(
      [&]() -> std::optional<MeasureJob> {
        if (left == 0 && !is_thinking && rounds < 4) {
          ++rounds;
          is_thinking = true;
          measurer.meanwhile([&] { ++worked; },
                             [&] {
                               is_thinking = false;
                               left = 3;
                               ++told;
                             },
                             /*cores=*/rounds % 2 == 0 ? 1 : 1000);
        }
        if (left == 0) return std::nullopt;
        --left;
        return MeasureJob{{input(kDouble, data), input(kDouble, data)}, quick_options().timing};
      },
      [&](std::size_t, const std::vector<MeasureResult>& results) {
        for (const MeasureResult& result : results) ok += result.is_ok() ? 1 : 0;
      });
  EXPECT_TRUE(ended);
  EXPECT_EQ(worked, 4);
  EXPECT_EQ(told, 4);
  EXPECT_EQ(ok, 24);
}

TEST(Measurer, WorkersKilledFromOutsideAtRandomMomentsCostOneTrialEach) {
  Measurer measurer = start();
  const auto data = checked(kDouble);
  std::atomic<bool> is_over = false;
  std::mutex mutex;
  std::vector<pid_t> pids = measurer.worker_pids();
  int kills = 0;
  std::thread killer([&] {
    Rng rng(/*seed=*/5);
    while (!is_over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(rng.uniform(1, 60)));
      const std::scoped_lock lock(mutex);
      if (pids.empty()) continue;
      if (::kill(rng.choose(pids), SIGKILL) == 0) ++kills;
      pids.clear();  // until the measurer says who is there now
    }
  });
  int ok = 0, crashed = 0, others = 0, left = 10'000;
  const Clock::time_point begin = Clock::now();
  const Result<void> ended = measurer.run(
      [&]() -> std::optional<MeasureInput> {
        const std::scoped_lock lock(mutex);
        if (kills >= 25 || --left < 0 || Clock::now() - begin > std::chrono::seconds(30)) return std::nullopt;
        pids = measurer.worker_pids();
        return input(kDouble, data);
      },
      [&](std::size_t, const MeasureResult& result) {
        const bool is_killed =
            result.status == TrialStatus::Crash && result.message == "the worker was killed by signal 9 (Killed)";
        ++(result.is_ok() ? ok : is_killed ? crashed : others);
      });
  is_over = true;
  EXPECT_TRUE(ended);
  killer.join();
  EXPECT_GE(kills, 20);
  EXPECT_EQ(others, 0);
  EXPECT_LE(crashed, kills);
  EXPECT_GT(ok, 0);
  EXPECT_EQ(measurer.measure(std::vector{input(kDouble, data)}).at(0).status, TrialStatus::Ok);
}

TEST(Measurer, ToldToStopItAsksForNoMore) {
  std::atomic<bool> stop = false;
  MeasurerOptions options = quick_options();
  options.stop = &stop;
  Measurer measurer = start(options);
  int asked = 0, ok = 0, left = 0;
  const Result<void> ended = measurer.run(
      [&]() -> std::optional<MeasureInput> {  // never ends
        ++asked;
        return input(kDouble);
      },
      [&](std::size_t, const MeasureResult& result) {
        if (result.is_ok() && ++ok == 5) stop = true;
        if (result.status == TrialStatus::NotRun) ++left;
      });
  EXPECT_TRUE(ended);
  EXPECT_EQ(ok + left, asked);
  EXPECT_LT(ok, 10);
  const MeasureResult late = measurer.measure(std::vector(3, input(kDouble))).at(2);
  EXPECT_EQ(late.status, TrialStatus::NotRun);
  EXPECT_EQ(late.message, "the measurer was told to stop");
  stop = false;
  EXPECT_EQ(measurer.measure(std::vector{input(kDouble)}).at(0).status, TrialStatus::Ok);
}

TEST(Measurer, AnExceptionOfTheCallerLeavesItUsable) {
  Measurer measurer = start();
  const auto fail = [](std::size_t, const MeasureResult&) { throw std::runtime_error("the caller's"); };
  EXPECT_THROW((void)measurer.run([] { return input(kDouble); }, fail), std::runtime_error);
  EXPECT_EQ(measurer.measure(std::vector{input(kDouble)}).at(0).status, TrialStatus::Ok);
}

TEST(Measurer, WhenNoWorkerCanBeStartedAnyMoreThatIsSaid) {
  const std::filesystem::path program =
      std::filesystem::temp_directory_path() / ("hone_worker." + std::to_string(::getpid()));
  std::filesystem::copy_file(find_worker_program().value(), program);
  MeasurerOptions options = quick_options();
  options.worker_program = program.string();
  options.workers = 1;
  Measurer measurer = start(options);
  std::filesystem::remove(program);
  const std::vector<MeasureResult> results =
      measurer.measure(std::vector{input(kDouble), input(kCrash), input(kDouble), input(kDouble)});
  EXPECT_EQ(results[0].status, TrialStatus::Ok);
  EXPECT_EQ(results[1].status, TrialStatus::Crash);
  for (const std::size_t i : {2, 3}) {
    EXPECT_EQ(results[i].status, TrialStatus::NotRun);
    EXPECT_EQ(results[i].message,
              "cannot start '" + program.string() + "': the system refuses: No such file or directory");
  }
}

TEST(Measurer, WorkersAreStartedAnewAfterSomeTrials) {
  MeasurerOptions options = quick_options();
  options.trials_per_worker = 3;
  options.workers = 1;
  Measurer measurer = start(options);
  for (const MeasureResult& result : measurer.measure(std::vector(9, input(kDouble, checked(kDouble)))))
    EXPECT_EQ(result.status, TrialStatus::Ok) << result.message;
  EXPECT_EQ(measurer.started_workers(), 3);
}

TEST(Measurer, AWorkerKilledFromOutsideWhileItStartsIsStartedAgain) {
  const std::string program =
      (std::filesystem::temp_directory_path() / ("hone_worker." + std::to_string(::getpid()))).string();
  std::ofstream(program) << "#!/bin/sh\nif mkdir '" << program << ".once'; then kill -9 $$; fi\nexec '"
                         << find_worker_program().value() << "'\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  MeasurerOptions options = quick_options();
  options.worker_program = program;
  const Result<Measurer> measurer = Measurer::start(options);
  EXPECT_TRUE(measurer) << measurer.error().message;
  std::filesystem::remove(program);
  EXPECT_TRUE(std::filesystem::remove(program + ".once")) << "it was never killed";
}

TEST(Measurer, AWorkerThatIsNotOneIsAnError) {
  MeasurerOptions options;
  options.worker_program = "/nowhere/hone_worker";
  const Result<Measurer> missing = Measurer::start(options);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "cannot start '/nowhere/hone_worker': the system refuses: No such file or directory");
  options.worker_program = "/bin/true";
  const Result<Measurer> other = Measurer::start(options);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "the worker '/bin/true' returned 0 before it said hello: ");
}

}  // namespace
}  // namespace hone::measure
