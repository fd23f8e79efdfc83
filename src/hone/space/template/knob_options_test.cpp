#include "hone/space/template/knob_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::space {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Lists = std::vector<std::vector<std::int64_t>>;

Lists splits(std::int64_t extent, const SplitRule& rule) { return split_options(extent, rule).value(); }
std::size_t count(std::int64_t extent, std::size_t outputs) { return splits(extent, {.outputs = outputs}).size(); }

TEST(SplitOptions, OfEightIntoThreeAreAutoTvmsInItsOrder) {
  EXPECT_EQ(splits(8, {.outputs = 3}), (Lists{{-1, 1, 1},
                                              {-1, 2, 1},
                                              {-1, 4, 1},
                                              {-1, 8, 1},
                                              {-1, 1, 2},
                                              {-1, 2, 2},
                                              {-1, 4, 2},
                                              {-1, 1, 4},
                                              {-1, 2, 4},
                                              {-1, 1, 8}}));
}

TEST(SplitOptions, AreAsManyAsAutoTvmHas) {
  EXPECT_EQ(count(512, 4), 220);
  EXPECT_EQ(count(512, 3), 55);
  EXPECT_EQ(count(512, 2), 10);
  EXPECT_EQ(count(224, 4), 224);
  EXPECT_EQ(count(56, 4), 80);
  EXPECT_EQ(count(7, 4), 4);
  EXPECT_EQ(count(3, 3), 3);
  EXPECT_EQ(count(7, 2), 2);
  EXPECT_EQ(splits(7, {.outputs = 1}), (Lists{{-1}}));
  EXPECT_EQ(splits(1, {.outputs = 3}), (Lists{{-1, 1, 1}}));
}

TEST(SplitOptions, MayLeaveTails) {
  const SplitRule powers{.policy = SplitPolicy::PowersOfTwo};
  EXPECT_EQ(splits(6, powers), (Lists{{-1, 1}, {-1, 2}, {-1, 4}}));
  SplitRule no_tail = powers;
  no_tail.tails = Tails::Never;
  EXPECT_EQ(splits(6, no_tail), (Lists{{-1, 1}, {-1, 2}}));
  EXPECT_EQ(splits(6, {.outputs = 3, .policy = SplitPolicy::Verbose}), (Lists{{-1, 1, 1},
                                                                              {-1, 2, 1},
                                                                              {-1, 3, 1},
                                                                              {-1, 4, 1},
                                                                              {-1, 6, 1},
                                                                              {-1, 1, 2},
                                                                              {-1, 2, 2},
                                                                              {-1, 3, 2},
                                                                              {-1, 1, 3},
                                                                              {-1, 2, 3},
                                                                              {-1, 1, 4},
                                                                              {-1, 1, 6}}));
  EXPECT_EQ(splits(6, {.outputs = 3, .policy = SplitPolicy::Divisors, .tails = Tails::Allowed}).size(), 10);
}

TEST(SplitOptions, AreLimitedByLargestFactorFilterAndCandidates) {
  EXPECT_EQ(splits(8, {.max_factor = 2}), (Lists{{-1, 1}, {-1, 2}}));
  EXPECT_EQ(splits(8, {.keep = [](const Factors& f) { return f[1] > 2; }}), (Lists{{-1, 4}, {-1, 8}}));
  EXPECT_EQ(splits(8, {.policy = SplitPolicy::Candidates, .candidates = {{-1, 3}, {-1, 5}}}),
            (Lists{{-1, 3}, {-1, 5}}));
}

TEST(SplitOptions, AnErrorSaysWhatIsWrong) {
  const auto message = [](std::int64_t extent, const SplitRule& rule) {
    return split_options(extent, rule).error().message;
  };
  EXPECT_THAT(message(0, {}), HasSubstr("the extent 0 is below 1"));
  EXPECT_THAT(message(4, {.outputs = 0}), HasSubstr("outputs is 0"));
  EXPECT_THAT(message(7, {.keep = [](const Factors&) { return false; }}),
              HasSubstr("of a loop of 7 iterations the rule leaves no split into 2 loops"));
  EXPECT_THAT(message(8, {.policy = SplitPolicy::Candidates, .candidates = {{2, 4}}}),
              HasSubstr("candidate [2, 4] must be -1 and 1 factors from 1 on"));
  EXPECT_THAT(message(std::int64_t{1} << 40, {.outputs = 8}), HasSubstr("more than 200000 splits"));
}

TEST(FallbackSplit, TakesTheLargestFactorsWithinTheLimitsInnermostFirst) {
  const Lists options = splits(24, {.outputs = 3});
  const auto chosen = [&](const Factors& limits) { return options[fallback_split(options, limits)]; };
  EXPECT_THAT(chosen({-1, 4, 8}), ElementsAre(-1, 3, 8));
  EXPECT_THAT(chosen({-1, -1, 5}), ElementsAre(-1, 6, 4));
  EXPECT_THAT(chosen({-1, 1, 1}), ElementsAre(-1, 1, 1));
  EXPECT_THAT(chosen({-1, 0, 0}), ElementsAre(-1, 1, 1));  // nothing is within: the first option
  const Lists tails = splits(13, {.policy = SplitPolicy::Verbose});
  EXPECT_THAT(tails[fallback_split(tails, {-1, 6})], ElementsAre(-1, 4));
}

TEST(ReorderOptions, OfEachPolicy) {
  const auto orders = [](std::size_t axes, const ReorderRule& rule) { return reorder_options(axes, rule).value(); };
  EXPECT_EQ(orders(3, {.policy = ReorderPolicy::Identity}), (Lists{{0, 1, 2}}));
  EXPECT_EQ(orders(3, {}), (Lists{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}));
  EXPECT_EQ(orders(4, {.policy = ReorderPolicy::Interval, .interval = {1, 3}}), (Lists{{0, 1, 2, 3}, {0, 2, 1, 3}}));
  EXPECT_EQ(orders(2, {.policy = ReorderPolicy::Candidates, .candidates = {{1, 0}}}), (Lists{{1, 0}}));
  EXPECT_EQ(orders(0, {}), (Lists{{}}));
}

TEST(ReorderOptions, InterleavedChainsAreMergedIntoOneOrder) {
  // Axes y.0 y.1 y.2 x.0 x.1 k.0 k.1: the longest chain gives first, the first one of equals.
  const ReorderRule rule{.policy = ReorderPolicy::Interleave, .spatial = {{0, 1, 2}, {3, 4}}, .reduced = {{5, 6}}};
  EXPECT_EQ(*reorder_options(7, rule), (Lists{{0, 1, 3, 5, 2, 4, 6}}));
  ReorderRule cuda = rule;
  cuda.policy = ReorderPolicy::InterleaveCuda;
  EXPECT_EQ(*reorder_options(7, cuda), (Lists{{0, 1, 3, 5, 6, 2, 4}}));
}

TEST(ReorderOptions, AnErrorSaysWhatIsWrong) {
  const auto message = [](std::size_t axes, const ReorderRule& rule) {
    return reorder_options(axes, rule).error().message;
  };
  EXPECT_THAT(message(9, {}), HasSubstr("9 axes have too many orders, allowed are at most 8"));
  EXPECT_THAT(message(2, {.policy = ReorderPolicy::Interval, .interval = {1, 3}}),
              HasSubstr("the interval 1..3 is not within the axes 0..2"));
  EXPECT_THAT(message(2, {.policy = ReorderPolicy::Candidates}), HasSubstr("no candidate is listed"));
  EXPECT_THAT(message(2, {.policy = ReorderPolicy::Candidates, .candidates = {{0, 0}}}),
              HasSubstr("[0, 0] is no order of the axes 0..1"));
  EXPECT_THAT(message(3, {.policy = ReorderPolicy::Interleave, .spatial = {{0, 1}}}), HasSubstr("[0, 1] is no order"));
  EXPECT_THAT(message(1, {.policy = ReorderPolicy::Interleave, .spatial = {{}}}), HasSubstr("chain is empty"));
}

std::vector<std::int64_t> numbers(std::initializer_list<Mark> marks) {
  std::vector<std::int64_t> list;
  for (const Mark mark : marks) list.push_back(static_cast<std::int64_t>(mark));
  return list;
}

TEST(AnnotateOptions, OfGpusFollowTheNumberOfLoops) {
  using enum Mark;
  const auto marks = [](std::size_t loops, std::string_view policy) { return annotate_options(loops, policy).value(); };
  EXPECT_EQ(marks(2, "bind_gpu"), (Lists{numbers({BlockX, ThreadX})}));
  EXPECT_EQ(marks(5, "bind_gpu"), (Lists{numbers({Fuse, BlockY, BlockX, ThreadY, ThreadX})}));
  EXPECT_EQ(marks(7, "bind_gpu"), (Lists{numbers({Fuse, BlockZ, BlockY, BlockX, ThreadZ, ThreadY, ThreadX})}));
  EXPECT_EQ(marks(3, "bind_gpu_virtual"), (Lists{numbers({BlockX, Virtual, ThreadX})}));
  EXPECT_EQ(marks(6, "bind_gpu_virtual"), (Lists{numbers({BlockY, BlockX, Virtual, Virtual, ThreadY, ThreadX})}));
  EXPECT_EQ(marks(9, "bind_gpu_virtual")[0].size(), 9);
  EXPECT_THAT(annotate_options(1, "bind_gpu").error().message,
              HasSubstr("1 loops are too few for a GPU, needed are 2"));
}

TEST(AnnotateOptions, AreAllCombinationsWithOneVector) {
  using enum Mark;
  EXPECT_EQ(*annotate_options(2, "try_vec"),
            (Lists{numbers({None, None}), numbers({None, Vectorize}), numbers({Vectorize, None})}));
  EXPECT_EQ(annotate_options(3, "try_unroll")->size(), 8);
  EXPECT_EQ(annotate_options(2, "try_unroll_vec")->size(), 8);  // of nine, one has two vectors
  EXPECT_EQ(*annotate_options(0, "try_unroll"), (Lists{{}}));
  EXPECT_THAT(annotate_options(2, "try_luck").error().message, HasSubstr("'luck' of the policy 'try_luck'"));
  EXPECT_THAT(annotate_options(2, "vec").error().message, HasSubstr("leaves nothing for 2 loops"));
}

TEST(LocateOptions, AreAllCombinations) {
  EXPECT_EQ(*locate_options(3, 2), (Lists{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(*locate_options(3, 1), (Lists{{0}, {1}, {2}}));
  EXPECT_THAT(locate_options(2, 3).error().message, HasSubstr("3 anchors at 2 loops"));
}

}  // namespace
}  // namespace hone::space
