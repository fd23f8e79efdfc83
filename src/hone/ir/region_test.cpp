#include "hone/ir/region.h"

#include <gtest/gtest.h>
#include <set>

#include "hone/ir/affine.h"
#include "hone/ir/evaluate_for_test.h"
#include "hone/ir/order.h"
#include "hone/ir/simplify.h"
#include "hone/ir/text.h"
#include "hone/support/rng.h"

namespace hone::ir::region_test {
namespace {

const Expr o = var("o"), i = var("i"), j = var("j"), k = var("k");

Bounds inner() {
  Bounds bounds;
  bounds.add_extent(i, imm(4));
  bounds.add_extent(j, imm(3));
  return bounds;
}

::testing::AssertionResult is_range(const Range& got, const Expr& min, std::int64_t extent) {
  if (!got.is_known()) return ::testing::AssertionFailure() << "nothing known";
  if (same(got.min, simplify(min)) && is_int(got.extent, extent)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << to_text(got.min) << ", " << to_text(got.extent);
}

TEST(RangeOf, AffineIndicesAreExact) {
  EXPECT_TRUE(is_range(range_of(o * 8 + i * 2 + j, inner()), o * 8, 9));
  EXPECT_TRUE(is_range(range_of(o - i, inner()), o - 3, 4));
  EXPECT_TRUE(is_range(range_of(o * 2 + j * -3 + 5, inner()), o * 2 - 1, 7));
  EXPECT_TRUE(is_range(range_of(imm(7), inner()), imm(7), 1));
  EXPECT_TRUE(is_range(range_of(o, inner()), o, 1));
}

TEST(RangeOf, DivisionIsMonotoneAndModuloMayWrap) {
  EXPECT_TRUE(is_range(range_of(floor_div(o * 8 + i, 4), inner()), o * 2, 1));
  EXPECT_TRUE(is_range(range_of(floor_div(o + i, 4), inner()), floor_div(o, 4), 2));
  EXPECT_TRUE(is_range(range_of(floor_mod(o * 8 + i, 8), inner()), imm(0), 4));
  EXPECT_TRUE(is_range(range_of(floor_mod(o + i, 8), inner()), imm(0), 8));
}

TEST(RangeOf, SeesExtremaSelectionsAndVectors) {
  EXPECT_TRUE(is_range(range_of(max(o + i - 1, imm(0)), inner()), max(o - 1, imm(0)), 4));
  EXPECT_TRUE(is_range(range_of(select(o < 3, o + i, o + i + 2), inner()), o, 6));
  EXPECT_TRUE(is_range(range_of(make(Ramp{o * 16 + i, imm(4)}, 4), inner()), o * 16, 16));
  EXPECT_TRUE(is_range(range_of(make(Broadcast{o + i}, 4), inner()), o, 4));
}

TEST(RangeOf, LoadedIndicesAreBoundedByTheirTypeOnly) {
  const Expr narrow = buffer("narrow", kU8, std::vector<std::int64_t>{4});
  const Expr wide = buffer("wide", kI64, std::vector<std::int64_t>{4});
  EXPECT_TRUE(is_range(range_of(cast(kI64, load(narrow, {i})) + o, inner()), o, 256));
  EXPECT_FALSE(range_of(load(wide, {i}), inner()).is_known());
  EXPECT_FALSE(range_of(load(wide, {o}), inner()).is_known()) << "its content may change";
}

/// Draws an index over the outer variable `o` and the inner `i`, `j`.
Expr random_index(Rng& rng, int depth) {
  if (depth == 0) {
    const Expr leaves[] = {o, i, j, imm(rng.uniform(-4, 9))};
    return leaves[rng.uniform(0, 3)];
  }
  const Expr a = random_index(rng, depth - 1), b = random_index(rng, depth - 1);
  switch (rng.uniform(0, 8)) {
    case 0:
    case 1:
      return a + b;
    case 2:
      return a - b;
    case 3:
      return a * rng.uniform(-3, 6);
    case 4:
      return floor_div(a, rng.uniform(1, 6));
    case 5:
      return floor_mod(a, rng.uniform(1, 9));
    case 6:
      return rng.chance(0.5) ? min(a, b) : max(a, b);
    case 7:
      return select(a < b, a, b);
    default:
      return a * 4 + b;
  }
}

TEST(RangeOf, ContainsEveryValueAndTouchesBothEndsOfAffineOnes) {
  Rng rng(/*seed=*/5);
  for (int trial = 0; trial < 1500; ++trial) {
    const Expr index = random_index(rng, static_cast<int>(rng.uniform(1, 3)));
    const Range range = range_of(index, inner());
    ASSERT_TRUE(range.is_known()) << to_text(index);
    const std::int64_t outer = rng.uniform(-6, 12);
    const std::int64_t first = *evaluate(range.min, {{o, outer}});
    const std::int64_t end = first + *evaluate(range.extent, {{o, outer}});
    std::set<std::int64_t> values;
    for (std::int64_t x = 0; x < 4; ++x)
      for (std::int64_t y = 0; y < 3; ++y) values.insert(*evaluate(index, {{o, outer}, {i, x}, {j, y}}));
    ASSERT_LE(first, *values.begin()) << to_text(index);
    ASSERT_GT(end, *values.rbegin()) << to_text(index);
    if (to_affine(index)) {
      ASSERT_EQ(first, *values.begin()) << to_text(index);
      ASSERT_EQ(end, *values.rbegin() + 1) << to_text(index);
    }
  }
}

TEST(RegionOf, SeesThroughBlocksAndLets) {
  const Expr a = buffer("a", kF32, std::vector<std::int64_t>{64, 8}),
             b = buffer("b", kF32, std::vector<std::int64_t>{64});
  const Expr x = var("x"), r = var("r"), t = var("t");
  const Stmt body = store(b, {x}, load(b, {x}) + load(a, {x + 1, r}));
  const Stmt block = make(Block{.name = "sum",
                                .iters = {{x, imm(64), IterKind::Spatial, o * 4 + i}, {r, imm(8), IterKind::Reduce, k}},
                                .predicate = o * 4 + i < 61,
                                .init = store(b, {x}, constant(kF32, 0.0)),
                                .body = body});
  const Stmt loops =
      make(For{.var = i, .extent = imm(4), .body = make(For{.var = k, .extent = imm(8), .body = block})});

  const auto written = region_of(loops, b, Access::Write);
  ASSERT_TRUE(written);
  EXPECT_TRUE(is_range((*written)[0], o * 4, 4));
  const auto read = region_of(loops, a, Access::Read);
  ASSERT_TRUE(read);
  EXPECT_TRUE(is_range((*read)[0], o * 4 + 1, 4));
  EXPECT_TRUE(is_range((*read)[1], imm(0), 8));
  EXPECT_FALSE(region_of(loops, a, Access::Write));

  const Stmt let = make(Let{.var = t, .value = o * 2, .body = store(b, {t + 1}, constant(kF32, 0.0))});
  EXPECT_TRUE(is_range((*region_of(let, b, Access::Any))[0], o * 2 + 1, 1));
}

TEST(RegionOf, FindsReadsInConditionsBindingsAndIndices) {
  const Expr flags = buffer("flags", kBool, std::vector<std::int64_t>{9}),
             b = buffer("b", kI64, std::vector<std::int64_t>{9});
  const Stmt guarded = make(If{load(flags, {o + 2}), store(b, {load(b, {o})}, imm(1))});
  EXPECT_TRUE(is_range((*region_of(guarded, flags, Access::Read))[0], o + 2, 1));
  EXPECT_TRUE(is_range((*region_of(guarded, b, Access::Read))[0], o, 1));
  EXPECT_TRUE(is_range((*region_of(guarded, b, Access::Write))[0], imm(0), 9)) << "a scatter may write anywhere";
  const Stmt block = make(Block{.name = "s",
                                .iters = {{var("x"), imm(9), IterKind::Spatial, load(b, {imm(4)})}},
                                .predicate = load(flags, {imm(1)}),
                                .body = make(Seq{})});
  EXPECT_TRUE(is_range((*region_of(block, b, Access::Read))[0], imm(4), 1));
  EXPECT_TRUE(is_range((*region_of(block, flags, Access::Read))[0], imm(1), 1));
}

TEST(RegionOf, UnitesAccessesAndSkipsLoopsThatNeverRun) {
  const Expr a = buffer("a", kF32, std::vector<std::int64_t>{64});
  const Stmt touch = store(a, {o + i}, load(a, {o + i + 3}));
  const Stmt loop = make(For{.var = i, .extent = imm(4), .body = touch});
  EXPECT_TRUE(is_range((*region_of(loop, a, Access::Any))[0], o, 7));
  EXPECT_FALSE(region_of(make(For{.var = i, .extent = imm(0), .body = touch}), a, Access::Any));
  const Expr n = var("n");
  EXPECT_TRUE(is_range((*region_of(make(For{.var = i, .extent = n, .body = touch}), a, Access::Write))[0], imm(0), 64))
      << "over a loop of unknown extent the whole axis counts";
}

TEST(Clip, CutsToTheShape) {
  const Expr a = buffer("a", kF32, std::vector<std::int64_t>{10});
  EXPECT_TRUE(is_range(clip({{imm(-2), imm(5)}}, a)[0], imm(0), 3));
  EXPECT_TRUE(is_range(clip({{imm(8), imm(5)}}, a)[0], imm(8), 2));
  EXPECT_TRUE(is_range(clip({{imm(12), imm(5)}}, a)[0], imm(12), 0));
  Bounds outer;
  outer.add_extent(o, imm(4));
  EXPECT_TRUE(is_range(clip({{o * 2, imm(4)}}, a, outer)[0], o * 2, 4)) << "nothing to cut";
}

TEST(IsInjective, SeesMixedRadixInAnyOrderOverAnyAxes) {
  const auto injective = [](std::vector<Expr> indices) { return is_injective(indices, inner()); };
  EXPECT_TRUE(injective({i * 3 + j}));
  EXPECT_TRUE(injective({j * 4 + i + o}));
  EXPECT_FALSE(injective({i * 2 + j}));
  EXPECT_FALSE(injective({i + j}));
  EXPECT_TRUE(injective({i, i + j})) << "once i is known, j is";
  EXPECT_FALSE(injective({i}));
  EXPECT_TRUE(injective({floor_div(i, 2), j, floor_mod(i, 2)}));
  EXPECT_FALSE(injective({floor_div(i, 2), j}));
}

TEST(IsDisjoint, AllowsInnerLoopsToTakeOtherValues) {
  const auto disjoint = [](std::vector<Expr> indices) { return is_disjoint(indices, o, {0, 7}, inner()); };
  EXPECT_TRUE(disjoint({o * 4 + i}));
  EXPECT_FALSE(disjoint({o * 3 + i})) << "windows overlap";
  EXPECT_TRUE(disjoint({i, o}));
  EXPECT_TRUE(disjoint({o * 12 + i + j * 4, i}));
  EXPECT_FALSE(disjoint({i, j})) << "every iteration writes the same";
  EXPECT_TRUE(disjoint({o * 4 + i + k * 100})) << "k is fixed";
  EXPECT_TRUE(is_disjoint(std::vector<Expr>{i}, o, {0, 0}, inner())) << "there is only one iteration";
}

TEST(IsDisjoint, SeesFusedLoopsThatWereSplitAnotherWay) {
  const Expr v = var("v");
  const auto disjoint = [&](std::vector<Expr> indices, std::int64_t threads) {
    Bounds lanes;
    lanes.add_extent(v, imm(4));
    return is_disjoint(indices, o, {0, threads - 1}, lanes);
  };
  // All indices of a box of 8 × 61 × 16 elements, and of one of 2 × 64 × 8 × 17, copied by so many threads, k fixed.
  const Expr few = k * 64 + o, many = k * 128 + o * 4 + v;
  EXPECT_TRUE(disjoint({floor_div(few, 976), floor_mod(k * 4 + floor_div(o, 16), 61), floor_mod(o, 16)}, 64));
  EXPECT_FALSE(disjoint({floor_div(few, 976), floor_mod(k * 4 + floor_div(o, 16), 59), floor_mod(o, 16)}, 64));
  EXPECT_TRUE(disjoint({floor_div(k, 68), floor_mod(floor_div(k * 32 + o, 34), 64), floor_mod(floor_div(many, 17), 8),
                        floor_mod(many, 17)},
                       32));
  EXPECT_FALSE(
      disjoint({floor_mod(floor_div(k * 32 + o, 34), 4), floor_mod(floor_div(many, 17), 3), floor_mod(many, 17)}, 32));
}

TEST(IsInjective, IsNeverWronglyTrue) {
  Rng rng(/*seed=*/7);
  int proven = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    std::vector<Expr> indices;
    for (std::int64_t axis = rng.uniform(1, 2); axis > 0; --axis)
      indices.push_back(random_index(rng, static_cast<int>(rng.uniform(0, 2))));
    if (!is_injective(indices, inner())) continue;
    ++proven;
    std::set<std::vector<std::int64_t>> seen;
    for (std::int64_t x = 0; x < 4; ++x)
      for (std::int64_t y = 0; y < 3; ++y) {
        std::vector<std::int64_t> tuple;
        for (const Expr& index : indices) tuple.push_back(*evaluate(index, {{o, 5}, {i, x}, {j, y}}));
        ASSERT_TRUE(seen.insert(tuple).second) << to_text(indices[0]);
      }
  }
  EXPECT_GT(proven, 20);
}

}  // namespace
}  // namespace hone::ir::region_test
