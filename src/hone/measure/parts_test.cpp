// The parts of the measurer that need no process: statistics, overlap, timing, messages, comparing.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <poll.h>
#include <set>
#include <stdexcept>
#include <thread>

#include "hone/ir/text.h"
#include "hone/measure/check.h"
#include "hone/measure/meanwhile.h"
#include "hone/measure/overlap.h"
#include "hone/measure/peak.h"
#include "hone/measure/protocol.h"
#include "hone/measure/statistics.h"
#include "hone/measure/timing.h"
#include "hone/support/rng.h"

namespace hone::measure {
namespace {

using List = std::vector<double>;

TEST(Statistics, MinimumMedianAndMean) {
  EXPECT_EQ(minimum(List{3, 1, 2}), 1);
  EXPECT_EQ(median(List{3, 1, 2}), 2);
  EXPECT_EQ(median(List{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(mean(List{4, 1, 1}), 2);
  for (const auto& of : {minimum, median, mean}) EXPECT_TRUE(std::isinf(of(List{})));
}

TEST(Statistics, PValuesAreThoseOfTheTextbooks) {
  // two samples of five: t = -1 with 8 degrees of freedom, and the same means and variances by Welch
  const List a = {1, 2, 3, 4, 5}, b = {2, 3, 4, 5, 6};
  EXPECT_NEAR(student_p_value(a, b), 0.34659350708733416, 1e-12);
  EXPECT_NEAR(welch_p_value(a, b), 0.34659350708733416, 1e-12);
  // unequal variances: t = -1.8973665961010275, freedom 5.882352941176471
  const List c = {2, 4, 6, 8, 10};
  EXPECT_NEAR(welch_p_value(a, c), 0.10753119493063545, 1e-9);
}

TEST(Statistics, StudentsTestIsThatOfDropletSearch) {
  EXPECT_NEAR(student_p_value(List{1.00, 1.02, 1.01}, List{0.97, 0.99, 0.98}), 0.02131, 5e-6);
  EXPECT_NEAR(student_p_value(List{1.00, 1.05, 0.98}, List{0.97, 1.01, 0.99}), 0.4481, 5e-5);
  EXPECT_NEAR(student_p_value(List{2.0, 2.1}, List{1.0, 1.1}), 0.004963, 5e-7);
}

TEST(Statistics, SamplesWithoutSpreadAreDecidedByTheirMeans) {
  EXPECT_EQ(welch_p_value(List{5, 5, 5}, List{5, 5, 5}), 1);
  EXPECT_EQ(welch_p_value(List{5, 5, 5}, List{6, 6, 6}), 0);
  EXPECT_EQ(student_p_value(List{5, 5}, List{6, 6}), 0);
  EXPECT_EQ(welch_p_value(List{5}, List{6, 7}), 1);
}

TEST(Overlap, OneIsPreparedWhileAnotherIsTimedOnOneOfTwoCores) {
  Overlap overlap(2, 1);
  overlap.begin_timing();
  EXPECT_TRUE(overlap.may_prepare());
  overlap.begin_preparing();
  EXPECT_FALSE(overlap.may_prepare());
  overlap.end_timing();
  EXPECT_TRUE(overlap.may_time());
}

TEST(Overlap, NothingIsBegunThatKeepsATrialWaitingThatCanBeTimed) {
  Overlap overlap(2, 1);
  overlap.begin_preparing();
  overlap.begin_waiting();
  overlap.look(/*ready=*/1, /*can_prepare_more=*/true);
  EXPECT_TRUE(overlap.may_time());
  EXPECT_FALSE(overlap.may_prepare());
  overlap.look(/*ready=*/0, /*can_prepare_more=*/true);
  EXPECT_TRUE(overlap.may_prepare()) << "its worker prepares another one: the core would be idle";
}

TEST(Overlap, KernelsOnAllCoresAreTimedAloneAndInBursts) {
  Overlap overlap(2, 2);
  constexpr int kEnough = 2 * Overlap::kBurst;
  for (int i = 0; i < kEnough; ++i) {
    overlap.look(/*ready=*/i > 0, /*can_prepare_more=*/true);
    EXPECT_FALSE(overlap.may_time()) << i << " are too few";
    EXPECT_TRUE(overlap.may_prepare());
    overlap.begin_preparing();
    EXPECT_TRUE(overlap.may_prepare()) << "on the other core";
    overlap.end_preparing();
    overlap.begin_waiting();
  }
  overlap.begin_preparing();
  overlap.look(1, true);
  EXPECT_FALSE(overlap.may_prepare()) << "a burst is due";
  EXPECT_FALSE(overlap.may_time()) << "something is being prepared";
  overlap.end_preparing();
  for (int i = 0; i < kEnough; ++i) {
    overlap.look(1, true);
    ASSERT_TRUE(overlap.may_time());
    overlap.end_waiting();
    overlap.begin_timing();
    overlap.look(1, true);
    EXPECT_FALSE(overlap.may_prepare());
    EXPECT_FALSE(overlap.may_time());
    overlap.end_timing();
  }
  overlap.look(0, true);
  EXPECT_TRUE(overlap.may_prepare());
}

TEST(Overlap, OnOneCoreNothingWaitsForABurst) {
  Overlap overlap(1, 1);
  overlap.begin_waiting();
  overlap.look(/*ready=*/1, /*can_prepare_more=*/true);
  EXPECT_TRUE(overlap.may_time());
  EXPECT_FALSE(overlap.may_prepare());
}

TEST(Overlap, OtherWorkTakesCores) {
  Overlap overlap(2, 2);
  overlap.begin_other(1);
  EXPECT_TRUE(overlap.may_prepare());
  EXPECT_FALSE(overlap.may_prepare(2));
  for (int i = 0; i < 2 * Overlap::kBurst; ++i) overlap.begin_waiting();
  overlap.look(1, true);
  EXPECT_FALSE(overlap.may_time());
  EXPECT_TRUE(overlap.may_prepare()) << "as long as nothing can be timed";
  overlap.end_other();
  overlap.look(1, true);
  EXPECT_TRUE(overlap.may_time());
}

TEST(Overlap, SomethingCanAlwaysGoOn) {
  for (int cores = 0; cores <= 4; ++cores)
    for (int threads = 0; threads <= 6; ++threads) {
      Overlap overlap(cores, threads);
      overlap.look(0, true);
      EXPECT_TRUE(overlap.may_prepare());
      overlap.begin_preparing();
      overlap.end_preparing();
      overlap.begin_waiting();
      overlap.look(1, false);
      EXPECT_TRUE(overlap.may_time());
    }
}

TEST(Meanwhile, WorkIsDoneOnAnotherThreadAndThenTold) {
  Meanwhile meanwhile;
  EXPECT_EQ(meanwhile.cores(), 0);
  std::thread::id worked, told;
  meanwhile.add({[&] { worked = std::this_thread::get_id(); }, [&] { told = std::this_thread::get_id(); }, 2});
  EXPECT_TRUE(meanwhile.is_waiting());
  EXPECT_EQ(meanwhile.cores(), 2);
  meanwhile.begin();
  EXPECT_FALSE(meanwhile.is_waiting());
  pollfd done{meanwhile.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&done, 1, /*ms=*/60'000), 1);
  meanwhile.take()();
  EXPECT_NE(worked, std::this_thread::get_id());
  EXPECT_EQ(told, std::this_thread::get_id());
  EXPECT_EQ(meanwhile.cores(), 0);
  EXPECT_EQ(::poll(&done, 1, 0), 0) << "the end is taken once";
  meanwhile.add({[] { throw std::runtime_error("the work's"); }, {}});
  meanwhile.begin();
  EXPECT_THROW(meanwhile.take(), std::runtime_error);
  meanwhile.add({[] { throw std::runtime_error("the work's"); }, {}});
  meanwhile.begin();
  meanwhile.drop();
  EXPECT_EQ(meanwhile.cores(), 0);
}

Timed sleeper(int& calls, int us) {
  return {[&calls, us] {
            ++calls;
            std::this_thread::sleep_for(std::chrono::microseconds(us));
            return true;
          },
          [] {}};
}

TEST(Timing, TheNumberOfCallsIsGrownAndKept) {
  int calls = 0;
  const std::vector<Samples> samples =
      time_in_turns({sleeper(calls, 100)}, {.repeats = 4, .min_repeat_ms = 100, .enough_ms = 0});
  ASSERT_EQ(samples[0].ns.size(), 4u);
  EXPECT_GT(samples[0].calls, 1);
  EXPECT_GE(calls, 4 * samples[0].calls);
  for (const double ns : samples[0].ns) EXPECT_GE(ns, 100e3);
}

TEST(Timing, ThreeSamplesAreEnoughOfWhatTakesLong) {
  int calls = 0;
  const Timing timing{.repeats = 9, .min_repeat_ms = 0, .enough_ms = 1};
  EXPECT_EQ(time_in_turns({sleeper(calls, 1000)}, timing)[0].ns.size(), 3u);
  EXPECT_EQ(time_in_turns({sleeper(calls, 0)}, {.repeats = 9, .min_repeat_ms = 0, .enough_ms = 1e9})[0].ns.size(), 9u);
}

TEST(Timing, WhatIsHopelessIsCalledOnceOrTwice) {
  int calls = 0;
  const auto samples_of = [&](const std::vector<int>& each_us, double hopeless_ns) {
    calls = 0;
    const Timed timed{[&calls, each_us] {
                        const std::size_t i = std::min<std::size_t>(calls++, each_us.size() - 1);
                        std::this_thread::sleep_for(std::chrono::microseconds(each_us[i]));
                        return true;
                      },
                      [] {}};
    return time_in_turns({timed}, {.repeats = 6, .min_repeat_ms = 0, .hopeless_ns = hopeless_ns})[0].ns.size();
  };
  EXPECT_EQ(samples_of({150'000}, 10e6), 1u) << "nothing disturbs for that long";
  EXPECT_EQ(samples_of({2000}, 0.5e6), 2u);
  EXPECT_EQ(samples_of({20'000, 0}, 10e6), 6u) << "the first call was disturbed";
  EXPECT_EQ(samples_of({0}, 1e9), 6u);
  EXPECT_EQ(samples_of({2000}, 0), 3u);
}

TEST(Timing, SeveralProgramsTakeTurns) {
  std::string order;
  const auto tell = [&](char name) { return Timed{[&order, name] { return order += name, true; }, [] {}}; };
  time_in_turns({tell('a'), tell('b')}, {.repeats = 4, .min_repeat_ms = 0});
  EXPECT_EQ(order, "abbaabba");
}

TEST(Timing, AFailingCallEndsItsProgramAlone) {
  int calls = 0;
  const std::vector<Samples> samples =
      time_in_turns({Timed{[] { return false; }, [] {}}, sleeper(calls, 1)}, {.repeats = 3, .min_repeat_ms = 0});
  EXPECT_FALSE(samples[0].is_ok);
  EXPECT_TRUE(samples[0].ns.empty());
  EXPECT_EQ(samples[1].ns.size(), 3u);
}

Message some_message() {
  Message message{.kind = MessageKind::Finished, .target = "cpu", .timing = {.repeats = 7}};
  message.task = TaskText{.fills = {std::nullopt, Fill{.low = 0, .high = 3, .seed = 9, .bytes = "xyz"}},
                          .reference = ProgramText{.main = "func", .packed = {3}},
                          .expected = {"abc", ""},
                          .allows_nan = true};
  message.programs = {{"main", "prepare", {1, 2}}, {"other", "", {}}};
  message.results = {{.status = TrialStatus::WrongAnswer, .samples_ns = {1.5, 2.5}, .calls = 8, .message = "off"}};
  return message;
}

TEST(Protocol, MessagesComeBackAsTheyWere) {
  const std::string bytes = encode(some_message());
  const Message read = decode(bytes).value();
  EXPECT_EQ(encode(read), bytes);
  EXPECT_EQ(read.task->fills[1]->bytes, "xyz");
  EXPECT_EQ(read.programs[0].packed, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(read.results[0].samples_ns, (List{1.5, 2.5}));
  EXPECT_EQ(read.results[0].message, "off");
}

TEST(Protocol, DamagedMessagesAreErrors) {
  const std::string bytes = encode(some_message());
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode(bytes.substr(0, size)));
  EXPECT_FALSE(decode(bytes + "x"));
  Rng rng(/*seed=*/3);
  for (int i = 0; i < 2000; ++i) {  // whatever comes in, nothing breaks
    std::string broken = bytes;
    for (int k = 0; k < 3; ++k) rng.choose(broken) = static_cast<char>(rng.next());
    (void)decode(broken);
  }
}

Buffer buffer_of(const List& values, ir::DType type = ir::kF32) {
  Buffer buffer = allocate_buffer(ir::buffer("B", type, std::vector{static_cast<std::int64_t>(values.size())})).value();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == ir::kF32) reinterpret_cast<float*>(buffer.data())[i] = static_cast<float>(values[i]);
    if (type == ir::kI32) reinterpret_cast<std::int32_t*>(buffer.data())[i] = static_cast<std::int32_t>(values[i]);
  }
  return buffer;
}

TEST(Check, EachPlaceOfALongTensorCounts) {
  List values(100);
  Rng rng(/*seed=*/3);
  for (double& value : values) value = rng.unit() - 0.5;
  const Expected expected = expect(buffer_of(values));
  EXPECT_EQ(compare_values("B", buffer_of(values), expected, -1, 0).largest_error, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    List other = values;
    other[i] = values[i] + 1e-4;
    const Comparison near = compare_values("B", buffer_of(other), expected, -1, 0);
    EXPECT_EQ(near.status, TrialStatus::Ok);
    EXPECT_NEAR(near.largest_error, 1e-4 / std::max(std::abs(values[i]), expected.scale), 1e-6);
    other[i] = values[i] + 0.1;
    EXPECT_EQ(compare_values("B", buffer_of(other), expected, -1, 0).status, TrialStatus::WrongAnswer) << i;
    other[i] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(compare_values("B", buffer_of(other), expected, -1, 0).status, TrialStatus::NotANumber) << i;
  }
}

TEST(Check, ErrorsAreMeasuredAgainstTheSizeOfTheTensor) {
  const Expected expected = expect(buffer_of({100, -100, 0, 100}));
  EXPECT_NEAR(expected.scale, 86.6, 0.1);
  EXPECT_EQ(compare_values("B", buffer_of({100, -100, 0.01, 100}), expected, -1, 0).status, TrialStatus::Ok);
  const Comparison off = compare_values("B", buffer_of({100, -100, 1, 100}), expected, -1, 0);
  EXPECT_EQ(off.status, TrialStatus::WrongAnswer);
  EXPECT_EQ(off.message, "output 'B': element 2 is 1, expected is 0; 1 of 4 elements are wrong");
  const Expected tiny = expect(buffer_of({1e-6, 2e-6}));
  EXPECT_EQ(compare_values("B", buffer_of({2e-6, 2e-6}), tiny, -1, 0).status, TrialStatus::WrongAnswer);
}

TEST(Check, NanAndInfinityAreEqualToThemselvesAlone) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const Expected expected = expect(buffer_of({nan, infinity, -infinity, 1}));
  EXPECT_EQ(compare_values("B", buffer_of({nan, infinity, -infinity, 1}), expected, -1, 0).status, TrialStatus::Ok);
  EXPECT_EQ(compare_values("B", buffer_of({nan, infinity, -infinity, nan}), expected, -1, 0).status,
            TrialStatus::NotANumber);
  EXPECT_EQ(compare_values("B", buffer_of({1, infinity, -infinity, 1}), expected, -1, 0).status,
            TrialStatus::WrongAnswer);
  EXPECT_EQ(compare_values("B", buffer_of({nan, infinity, infinity, 1}), expected, -1, 0).status,
            TrialStatus::WrongAnswer);
}

TEST(Check, IntegersAreExactUnlessToldOtherwise) {
  const Expected expected = expect(buffer_of({1, 2, 3}, ir::kI32));
  EXPECT_EQ(compare_values("B", buffer_of({1, 2, 4}, ir::kI32), expected, -1, 0).status, TrialStatus::WrongAnswer);
  EXPECT_EQ(compare_values("B", buffer_of({1, 2, 4}, ir::kI32), expected, -1, 1).status, TrialStatus::Ok);
}

TEST(Buffers, FillsStayInTheirRangeForEveryType) {
  for (const ir::DType type : {ir::kBool, ir::kI8, ir::kI16, ir::kI32, ir::kI64, ir::kU8, ir::kU16, ir::kU32, ir::kU64,
                               ir::kF16, ir::kBF16, ir::kF32, ir::kF64}) {
    Buffer buffer = allocate_buffer(ir::buffer("B", type, std::vector<std::int64_t>{500})).value();
    const Fill fill = type.is_float() ? Fill{.low = -2, .high = 5} : Fill{.low = 0, .high = type.is_bool() ? 1.0 : 6.0};
    ASSERT_TRUE(fill_buffer(buffer, fill));
    std::set<double> seen;
    for (std::int64_t i = 0; i < buffer.count; ++i) {
      EXPECT_GE(element(buffer, i), fill.low) << to_string(type);
      EXPECT_LE(element(buffer, i), fill.high) << to_string(type);
      seen.insert(element(buffer, i));
    }
    EXPECT_GE(seen.size(), type.is_bool() ? 2u : 7u) << to_string(type);
  }
}

TEST(Buffers, SizesThatCannotBeAreErrors) {
  const Result<Buffer> huge =
      allocate_buffer(ir::buffer("B", ir::kF32, std::vector<std::int64_t>{1 << 20, 1 << 20, 1 << 20}));
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, ErrorCode::OutOfMemory);
  EXPECT_FALSE(allocate_buffer(ir::buffer("B", ir::kF32, std::vector{ir::var("n")})));
  EXPECT_EQ(allocate_buffer(ir::buffer("B", ir::kF32, std::vector<std::int64_t>{0, 5})).value().count, 0);
}

TEST(Trial, NamesReadBack) {
  for (int i = 0; i <= static_cast<int>(TrialStatus::NotRun); ++i)
    EXPECT_EQ(find_trial_status(to_string(static_cast<TrialStatus>(i))), static_cast<TrialStatus>(i));
  EXPECT_FALSE(find_trial_status("fine"));
  for (const CacheState state : {CacheState::Warm, CacheState::Flushed, CacheState::Model})
    EXPECT_EQ(find_cache_state(to_string(state)), state);
}

TEST(Peak, IsANumberForEachVectorWidthOfTheHost) {
  for (const char* text : {"cpu -threads=1", "x86-64 -threads=1"}) {
    const codegen::Target target = codegen::parse_target(text).value();
    if (target.arch != codegen::host_target().arch) continue;
    EXPECT_GT(fma_peak(target, 1).value(), 0) << text;
    for (const std::int64_t bytes : {0, 4096, 1 << 20}) EXPECT_GT(read_bandwidth(target, 2, bytes).value(), 0) << text;
  }
  EXPECT_FALSE(fma_peak(codegen::host_target(), 0));
  EXPECT_FALSE(read_bandwidth(codegen::host_target(), 0, 4096));
}

}  // namespace
}  // namespace hone::measure
