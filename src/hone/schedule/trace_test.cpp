#include "hone/schedule/trace.h"

#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/testing.h"

namespace hone::schedule {
namespace {

const Trace kTiled = {
    SampleTile{"ti", "i", 3, 8, {2, 2, 3}},
    Split{"i", {Number::from("ti", 0), Number::from("ti", 1), Number::from("ti", 2)}},
    Split{"j", {kRest, 4}},
    Reorder{{"i.0", "j.0", "i.1", "k", "i.2", "j.1"}},
    SampleChoice{"u", {0, 16, 64}, {1}},
    Annotate{"k", "unroll", "16"},
    Vectorize{"j.1"},
    Parallel{"i.0"},
};

TEST(Trace, RoundTripsThroughJson) {
  const Trace every = {Split{"i", {kRest, Number::from("t", 1)}},
                       Fuse{{"i", "j"}},
                       Reorder{{"j", "i"}},
                       Parallel{"i"},
                       Vectorize{"i"},
                       Unroll{"i"},
                       Bind{"i", ir::ForKind::ThreadX},
                       Annotate{"i", "key", "value \"quoted\""},
                       ComputeAt{"A", "$where"},
                       ReverseComputeAt{"A", "i"},
                       ComputeInline{"A"},
                       ReverseComputeInline{"A"},
                       CacheRead{"C", "A", ir::Scope::Shared},
                       CacheWrite{"C", ir::Scope::Register},
                       Rfactor{"C", "k"},
                       DecomposeReduction{"C", "k"},
                       SetScope{"T", ir::Scope::Local},
                       StorageAlign{"T", 0, 32, 8},
                       TransformLayout{"B", "(k, n) -> (n // 16, k, n % 16)"},
                       Pad{"C", {16, 1}},
                       SplitVariable{"C", "vi", 16},
                       DoubleBuffer{"T", "k"},
                       SoftwarePipeline{"k"},
                       Prefetch{"A", "k", 4},
                       SpreadPrefetch{"B", "j", "k", 1},
                       Tensorize{"i", "dot4"},
                       SampleTile{"t", "i", 2, 64, {8, 8}},
                       SampleChoice{"c", {1, 2}, {}},
                       SampleLocation{"where", "A", {0}}};
  ASSERT_EQ(every.size(), std::variant_size_v<Step>);
  const Result<Trace> parsed = parse_trace(to_json(every));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, every);
}

TEST(Trace, BadJsonIsNamed) {
  const auto message = [](std::string_view json) { return parse_trace(json).error().message; };
  EXPECT_EQ(message("{"), "trace: not JSON: '{'");
  EXPECT_EQ(message("{}"), "trace: found object, allowed is a list of steps");
  EXPECT_EQ(message("[1]"), "trace: step 0 is number, allowed is an object");
  EXPECT_EQ(message("[{}]"), "trace: step 0 has no field 'step' that names a primitive");
  EXPECT_TRUE(message(R"([{"step":"splot"}])").starts_with("trace: step 0 is 'splot', allowed are split, fuse,"));
  EXPECT_EQ(message(R"([{"step":"split","loop":"i"}])"), "trace: step 0 'split' has no field 'factors'");
  EXPECT_EQ(message(R"([{"step":"split","loop":3,"factors":[1]}])"),
            "trace: field 'loop' of step 0 'split' is 3, allowed is a string");
  EXPECT_EQ(message(R"([{"step":"split","loop":"i","factors":[1.5]}])"),
            "trace: field 'factors' of step 0 'split' is [1.5], allowed is a list of which each is a whole number or "
            "\"$decision[element]\"");
  EXPECT_EQ(message(R"([{"step":"unroll","loop":"i","by":4}])"),
            "trace: step 0 'unroll' has an unknown field 'by', allowed are step, loop");
}

TEST(Trace, ReplayIsDeterministic) {
  const Program naive = matmul(12, 10, 7);
  const Result<Program> a = replay(naive, kTiled), b = replay(naive, kTiled);
  ASSERT_TRUE(a) << a.error().message;
  EXPECT_EQ(ir::to_text(*a), ir::to_text(*b));
  EXPECT_TRUE(same_values(naive, *a));
}

TEST(Trace, TheFirstIllegalStepIsTheError) {
  Trace broken = kTiled;
  broken.push_back(Split{"nowhere", {kRest, 2}});
  const Result<Program> result = replay(matmul(12, 10, 7), broken);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().message.starts_with("split: no loop 'nowhere', the loops are i.0, j.0, i.1, k"))
      << result.error().message;
}

TEST(Schedule, EditingOneDecisionEqualsReplayingTheEditedTrace) {
  const Program naive = matmul(12, 10, 7);
  Schedule schedule(naive);
  for (const Step& step : kTiled) ASSERT_TRUE(schedule.apply(step));
  ASSERT_TRUE(schedule.decide(0, {1, 4, 4}));
  Trace edited = kTiled;
  *decision_of(edited[0]) = {1, 4, 4};
  EXPECT_EQ(schedule.trace(), edited);
  EXPECT_EQ(ir::to_text(schedule.program()), ir::to_text(*replay(naive, edited)));
  EXPECT_TRUE(same_values(naive, schedule.program()));
}

TEST(Schedule, AFailedEditChangesNothing) {
  Schedule schedule(matmul(12, 10, 7));
  for (const Step& step : kTiled) ASSERT_TRUE(schedule.apply(step));
  const std::string before = ir::to_text(schedule.program());
  for (const std::vector<std::int64_t>& bad : std::vector<std::vector<std::int64_t>>{
           {1, 1, 1}, {2, 2}, {0, 2, 6}, {1, 1, 12}, {}, {std::int64_t{1} << 40, std::int64_t{1} << 40, 1}})
    EXPECT_FALSE(schedule.decide(0, bad));
  EXPECT_FALSE(schedule.decide(1, {2}));
  EXPECT_FALSE(schedule.decide(99, {2}));
  EXPECT_EQ(ir::to_text(schedule.program()), before);
  EXPECT_EQ(schedule.trace(), kTiled);
}

TEST(Schedule, SampledTilesMultiplyToTheExtentAndFollowTheSeed) {
  for (const std::int64_t extent : {1, 7, 12, 64, 97, 360}) {
    Rng a(3), b(3);
    for (int i = 0; i < 50; ++i) {
      const Program naive = matmul(extent, 2, 2);
      const Result<Step> tile = sample(naive, SampleTile{"t", "i", 3, 16, {}}, a);
      ASSERT_TRUE(tile);
      const std::vector<std::int64_t>& decision = *decision_of(*tile);
      EXPECT_EQ(decision[0] * decision[1] * decision[2], extent);
      EXPECT_LE(decision[2], 16);
      EXPECT_EQ(*sample(naive, SampleTile{"t", "i", 3, 16, {}}, b), *tile);
    }
  }
}

TEST(Schedule, ReferencesMustBeDecidedBefore) {
  Schedule schedule(matmul(4, 4, 4));
  const auto message = [&](const Step& step) { return schedule.apply(step).error().message; };
  EXPECT_EQ(message(Split{"i", {kRest, Number::from("t", 0)}}), "split: no decision 't' was made before");
  ASSERT_TRUE(schedule.apply(SampleTile{"t", "i", 2, 4, {2, 2}}));
  EXPECT_EQ(message(Split{"i", {kRest, Number::from("t", 2)}}), "split: element 2 of decision 't' is outside 0..1");
  EXPECT_EQ(message(SampleChoice{"t", {1}, {0}}), "sample_choice: the name 't' is taken by an earlier decision");
  EXPECT_EQ(message(SampleChoice{"c", {1}, {}}),
            "sample_choice: decision 'c' must be one position in 0..0, found none");
}

}  // namespace
}  // namespace hone::schedule
