#include "hone/ir/interval.h"

#include <gtest/gtest.h>

#include "hone/ir/fold.h"
#include "hone/support/rng.h"

namespace hone::ir {
namespace {

constexpr std::int64_t kMin = Interval::kNoMin, kMax = Interval::kNoMax;

Interval random_interval(Rng& rng) {
  const std::int64_t low = rng.uniform(-9, 9);
  return {low, low + rng.uniform(0, 6)};
}

TEST(Intervals, ContainEveryResultAndReachBothEndsWhereTheOperationIsMonotone) {
  struct Case {
    Kind kind;
    Interval (*of)(Interval, Interval);
    bool is_tight;
  };
  const Case cases[] = {
      {Kind::Add, [](Interval a, Interval b) { return a + b; }, true},
      {Kind::Sub, [](Interval a, Interval b) { return a - b; }, true},
      {Kind::Mul, [](Interval a, Interval b) { return a * b; }, true},
      {Kind::Div, [](Interval a, Interval b) { return truncated_div(a, b); }, true},
      {Kind::FloorDiv, [](Interval a, Interval b) { return floor_div(a, b); }, true},
      {Kind::FloorMod, [](Interval a, Interval b) { return floor_mod(a, b); }, false},
      {Kind::Min, [](Interval a, Interval b) { return min(a, b); }, true},
      {Kind::Max, [](Interval a, Interval b) { return max(a, b); }, true},
  };
  Rng rng(/*seed=*/3);
  for (const Case& c : cases)
    for (int trial = 0; trial < 400; ++trial) {
      const Interval a = random_interval(rng), b = random_interval(rng), known = c.of(a, b);
      Interval seen{1, 0};
      for (std::int64_t x = a.min; x <= a.max; ++x)
        for (std::int64_t y = b.min; y <= b.max; ++y)
          if (const auto value = fold_ints(c.kind, kIndex, x, y)) seen = unite(seen, {*value, *value});
      if (seen.is_empty()) continue;
      EXPECT_TRUE(known.contains(seen.min) && known.contains(seen.max)) << to_string(c.kind);
      EXPECT_TRUE(!c.is_tight || known == seen) << to_string(c.kind);
    }
}

TEST(Intervals, SaturateAtTheExtremes) {
  const Interval all{}, natural{0, kMax}, large{kMax - 1, kMax - 1}, minus_one{-1, -1};
  EXPECT_EQ(large + large, (Interval{kMax, kMax}));
  EXPECT_EQ(large * large, (Interval{kMax, kMax}));
  EXPECT_EQ(all * minus_one, all);
  EXPECT_EQ(natural - natural, all);
  EXPECT_EQ((Interval{0, 0}) * all, (Interval{0, 0}));
  EXPECT_EQ(floor_div(all, minus_one), all);
  EXPECT_EQ(floor_div(Interval{5, 9}, natural), (Interval{0, 9}));
  EXPECT_EQ(floor_mod(all, Interval{8, 8}), (Interval{0, 7}));
  EXPECT_EQ(floor_mod(natural, natural), natural);
  EXPECT_EQ(floor_mod(all, Interval{kMin, kMin}).max, 0);
  EXPECT_EQ(floor_div(all, Interval{0, 0}), all) << "never evaluated, so anything goes";
}

TEST(BoundsOf, WrapsNarrowTypesAndKnowsTheirRange) {
  const Expr b = var("b", kU8), big = var("big", kU64), x = var("x");
  const Bounds none;
  EXPECT_EQ(bounds_of(b, none), (Interval{0, 255}));
  EXPECT_EQ(bounds_of(b + 1, none), (Interval{0, 255}));
  EXPECT_EQ(bounds_of(cast(kI64, b) + 1, none), (Interval{1, 256}));
  EXPECT_EQ(bounds_of(big, none), Interval{});
  EXPECT_EQ(bounds_of(constant(kU64, std::int64_t{-1}), none), Interval{}) << "beyond int64";
  EXPECT_EQ(bounds_of(cast(kI8, x), none), (Interval{-128, 127}));
  EXPECT_EQ(bounds_of(cast(kI64, var("f", kF32)), none), Interval{});
  EXPECT_EQ(bounds_of(load(buffer("a", kI16, std::vector<std::int64_t>{}), {}), none), (Interval{-32768, 32767}));
}

TEST(BoundsOf, DecidesConditionsAndCoversLanes) {
  const Expr i = var("i"), n = var("n");
  Bounds bounds;
  bounds.add_extent(i, imm(8));
  EXPECT_EQ(bounds_of(i < 8, bounds), (Interval{1, 1}));
  EXPECT_EQ(bounds_of(imm(8) <= i, bounds), (Interval{0, 0}));
  EXPECT_EQ(bounds_of(i < n, bounds), (Interval{0, 1}));
  EXPECT_EQ(bounds_of(logical_not(i < 8), bounds), (Interval{0, 0}));
  EXPECT_EQ(bounds_of(select(i < 8, i, n), bounds), (Interval{0, 7}));
  EXPECT_EQ(bounds_of(make(Ramp{i, imm(-2)}, 4), bounds), (Interval{-6, 7}));
  EXPECT_EQ(bounds_of(make(Broadcast{i}, 4), bounds), (Interval{0, 7}));
  EXPECT_EQ(bounds_of(n <= imm(kMax), bounds), (Interval{0, 1})) << "no bound is not a number";
}

TEST(Bounds, LaterEntriesHideEarlierOnes) {
  const Expr i = var("i"), n = var("n");
  Bounds bounds;
  bounds.add_extent(i, n);
  EXPECT_EQ(bounds.of(i), (Interval{0, kMax}));
  bounds.add(i, {2, 3});
  EXPECT_EQ(bounds.of(i), (Interval{2, 3}));
  bounds.remove_last();
  EXPECT_EQ(bounds.of(i).max, kMax);
  EXPECT_FALSE(bounds.has(n));
}

}  // namespace
}  // namespace hone::ir
