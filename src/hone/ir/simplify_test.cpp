#include "hone/ir/simplify.h"

#include <gtest/gtest.h>

#include "hone/ir/affine.h"
#include "hone/ir/order.h"
#include "hone/ir/text.h"

namespace hone::ir::simplify_test {
namespace {

const Expr i = var("i"), j = var("j"), k = var("k"), n = var("n");

Bounds loops() {
  Bounds bounds;
  bounds.add_extent(i, imm(8));
  bounds.add_extent(j, imm(16));
  bounds.add_extent(k, imm(4));
  return bounds;
}

::testing::AssertionResult becomes(const Expr& from, const Expr& to) {
  const Expr got = simplify(from, loops());
  if (same(got, to)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << to_text(from) << " became " << to_text(got);
}

TEST(Simplify, CollectsLinearTermsInCanonicalOrder) {
  EXPECT_TRUE(becomes(i * 4 + j + i * 4, i * 8 + j));
  EXPECT_TRUE(becomes(j + i, i + j));
  EXPECT_TRUE(becomes((i * 16 + j) * 32 + k, i * 512 + j * 32 + k));
  EXPECT_TRUE(becomes(i - i, imm(0)));
  EXPECT_TRUE(becomes(imm(3) - i, imm(3) - i));
  EXPECT_TRUE(becomes(n * i - i * n, imm(0)));
  EXPECT_TRUE(becomes((n * 2) * (i * 3), i * n * 6));
  EXPECT_TRUE(becomes(i * imm(0) + j * (imm(2) - imm(2)), imm(0)));
}

TEST(Simplify, GivesBackTheSameNodeIfNothingChanges) {
  for (const Expr& e : {i * 16 + j + 3, floor_div(n, 4), min(n, imm(5)), n < 7, select(n < 3, n, imm(9))})
    EXPECT_TRUE(simplify(e, loops()).is(e)) << to_text(e);
}

TEST(Simplify, TellsVariablesOfOneNameApart) {
  const Expr other = var("i");
  EXPECT_TRUE(becomes(i - other, i - other));
  EXPECT_TRUE(becomes(other * 2 + i - other, other + i));
}

TEST(Simplify, RecoversFusedIndices) {
  EXPECT_TRUE(becomes(floor_div(i * 16 + j, 16), i));
  EXPECT_TRUE(becomes(floor_mod(i * 16 + j, 16), j));
  const Expr fused = (i * 16 + j) * 4 + k;
  EXPECT_TRUE(becomes(floor_div(fused, 64), i));
  EXPECT_TRUE(becomes(floor_mod(floor_div(fused, 4), 16), j));
  EXPECT_TRUE(becomes(floor_div(floor_mod(fused, 64), 4), j));
  EXPECT_TRUE(becomes(floor_mod(fused, 4), k));
  EXPECT_TRUE(becomes(floor_div(n, 12) * 12 + floor_mod(floor_div(n, 4), 3) * 4 + floor_mod(n, 4), n));
  EXPECT_TRUE(becomes(floor_div(floor_mod(n, 12), 4) * 4 + floor_mod(n, 4), floor_mod(n, 12)));
  EXPECT_TRUE(becomes(floor_div(n, 4) * 8 + floor_mod(n, 4) * 2 + i, n * 2 + i));
}

TEST(Simplify, DividesSums) {
  EXPECT_TRUE(becomes(floor_div(n * 12 + j, 4), n * 3 + floor_div(j, 4)));
  EXPECT_TRUE(becomes(floor_mod(n * 12 + j, 4), floor_mod(j, 4)));
  EXPECT_TRUE(becomes(floor_div(n * 4 + k, 8), floor_div(n, 2)));
  EXPECT_TRUE(becomes(floor_mod(n * 4 + k, 8), floor_mod(n, 2) * 4 + k));
  EXPECT_TRUE(becomes(floor_div(n * 6 + 4, 8), floor_div(n * 3 + 2, 4)));
  EXPECT_TRUE(becomes(floor_div(floor_div(n, 3), 5), floor_div(n, 15)));
  EXPECT_TRUE(becomes(floor_mod(floor_mod(n, 12), 4), floor_mod(n, 4)));
  EXPECT_TRUE(becomes(floor_mod(n + 17, 16), floor_mod(n + 1, 16)));
  EXPECT_TRUE(becomes(floor_div(j - 16, 16), imm(-1)));
  EXPECT_TRUE(becomes(floor_mod(j - 16, 16), j));
  EXPECT_TRUE(becomes(floor_div(n * i, n), floor_div(i * n, n))) << "n may be zero";
  EXPECT_TRUE(becomes(floor_div(n, imm(0)), floor_div(n, imm(0))));
  EXPECT_TRUE(becomes(i / constant(kIndex, std::int64_t{3}), floor_div(i, 3)));
}

TEST(Simplify, ReducesComparisons) {
  EXPECT_TRUE(becomes(i * 4 + 3 < 16, i < 4));
  EXPECT_TRUE(becomes(i * 16 + j < 64, i < 4));
  EXPECT_TRUE(becomes(imm(64) <= i * 16 + j, imm(4) <= i));
  EXPECT_TRUE(becomes(j < 16, boolean(true)));
  EXPECT_TRUE(becomes(i <= i + k, boolean(true)));
  EXPECT_TRUE(becomes(eq(i * 2, 7), boolean(false)));
  EXPECT_TRUE(becomes(eq(j, i), eq(i, j)));
  EXPECT_TRUE(becomes(imm(0) <= n, imm(0) <= n));
  EXPECT_TRUE(becomes(logical_not(n < 4), imm(4) <= n));
}

TEST(Simplify, OrdersMinimaAndMaxima) {
  EXPECT_TRUE(becomes(min(i, i + 1), i));
  EXPECT_TRUE(becomes(max(imm(7), i), imm(7)));
  EXPECT_TRUE(becomes(min(min(n, imm(9)), imm(5)), min(n, imm(5))));
  EXPECT_TRUE(becomes(min(imm(16), imm(100) - i * 12), imm(16))) << "the last tile is full";
}

TEST(Simplify, LearnsFromConditions) {
  EXPECT_TRUE(becomes(select(n < 4, min(n, imm(9)), imm(0)), select(n < 4, n, imm(0))));
  EXPECT_TRUE(becomes(logical_and(i * 16 + j < 100, i * 16 + j < 101), i * 16 + j < 100));
  EXPECT_TRUE(becomes(select(i + j < n, select(i + j < n, i, j), k), select(i + j < n, i, k)));
  EXPECT_TRUE(becomes(select(eq(n, 3), floor_div(n, 2), n), select(eq(n, 3), imm(1), n)));
  const Expr flag = load(buffer("flags", kBool, std::vector<std::int64_t>{8}), {i});
  EXPECT_TRUE(becomes(select(flag, select(flag, i, j), k), select(flag, i, k)));
  EXPECT_TRUE(becomes(logical_and(flag, logical_not(flag)), boolean(false)));
}

TEST(Simplify, KeepsVectorIndicesAsRamps) {
  const auto ramp = [](const Expr& base, std::int64_t stride) { return make(Ramp{base, imm(stride)}, 4); };
  const auto all = [](const Expr& value) { return make(Broadcast{value}, 4); };
  EXPECT_TRUE(becomes(all(i * 16) + ramp(imm(0), 1) * all(imm(2)), ramp(i * 16, 2)));
  EXPECT_TRUE(becomes(ramp(i, 1) - ramp(imm(1), 1), all(i - 1)));
  EXPECT_TRUE(becomes(floor_div(ramp(i * 8, 1), all(imm(4))), all(i * 2)));
  EXPECT_TRUE(becomes(floor_mod(ramp(i * 8 + 4, 1), all(imm(8))), ramp(imm(4), 1)));
  EXPECT_TRUE(becomes(floor_div(ramp(i, 8), all(imm(4))), ramp(floor_div(i, 4), 2)));
  EXPECT_TRUE(becomes(ramp(i * 4, 1) < all(imm(16)), all(i < 4)));
  EXPECT_TRUE(becomes(ramp(i * 4, 1) < all(imm(99)), all(boolean(true))));
  EXPECT_TRUE(becomes(select(all(n < 3), ramp(i, 1), ramp(j, 1)), select(n < 3, ramp(i, 1), ramp(j, 1))));
}

TEST(Simplify, FoldsConstantsOfEveryTypeExactly) {
  EXPECT_TRUE(
      becomes(constant(kI8, std::int64_t{100}) + constant(kI8, std::int64_t{100}), constant(kI8, std::int64_t{-56})));
  EXPECT_TRUE(
      becomes(constant(kU64, std::int64_t{-1}) / constant(kU64, std::int64_t{2}), constant(kU64, Interval::kNoMax)));
  EXPECT_TRUE(becomes(constant(kU64, std::int64_t{1}) < constant(kU64, std::int64_t{-1}), boolean(true)));
  EXPECT_TRUE(
      becomes(constant(kI64, Interval::kNoMin) / constant(kI64, std::int64_t{-1}), constant(kI64, Interval::kNoMin)));
  EXPECT_TRUE(becomes(constant(kF32, 1.0) / constant(kF32, 3.0), constant(kF32, 1.0 / 3)));
  EXPECT_TRUE(becomes(cast(kI8, constant(kF32, 1e9)), constant(kI8, std::int64_t{127})));
  EXPECT_TRUE(becomes(cast(kU8, constant(kI32, std::int64_t{-1})), constant(kU8, std::int64_t{255})));
  EXPECT_TRUE(becomes(cast(kBool, constant(kF32, 0.5)), boolean(true)));
}

TEST(Simplify, LeavesFloatsAndWrappingIntegersAlone) {
  const Expr x = var("x", kF32), zero = constant(kF32, 0.0), minus_zero = constant(kF32, -0.0),
             one = constant(kF32, 1.0);
  for (const Expr& e : {x + zero, x * zero, x - x, x - minus_zero, min(x, x), x / x}) EXPECT_TRUE(becomes(e, e));
  EXPECT_TRUE(becomes(eq(x, x), eq(x, x))) << "x may be NaN";
  EXPECT_TRUE(becomes(logical_not(x < one), logical_not(x < one)));
  EXPECT_TRUE(becomes(x * one, x));
  EXPECT_TRUE(becomes(x - zero, x));
  EXPECT_TRUE(becomes(x / one, x));
  const Expr b = var("b", kI8), one_byte = constant(kI8, std::int64_t{1});
  EXPECT_TRUE(
      becomes(b + one_byte < b + constant(kI8, std::int64_t{2}), b + one_byte < b + constant(kI8, std::int64_t{2})));
  EXPECT_TRUE(becomes(floor_div(b * 4, 4), floor_div(b * 4, 4)));
  EXPECT_TRUE(becomes(b * 0 + b * 1, b));
  EXPECT_TRUE(becomes(b < constant(kI8, std::int64_t{-128}), boolean(false)));
}

TEST(Simplify, SeesThroughCastsThatFit) {
  EXPECT_TRUE(becomes(cast(kI64, cast(kI32, i)), i));
  EXPECT_TRUE(becomes(cast(kI64, cast(kI32, n)), cast(kI64, cast(kI32, n))));
}

TEST(CanProve, SaysFalseForUnknown) {
  EXPECT_TRUE(can_prove(i * 16 + j < 128, loops()));
  EXPECT_FALSE(can_prove(i * 16 + j < 127, loops()));
  EXPECT_FALSE(can_prove(n < 127, loops()));
  EXPECT_TRUE(can_prove(logical_or(n < 127, imm(127) <= n), loops()));
  EXPECT_TRUE(can_prove(make(Ramp{i, imm(1)}, 4) < make(Broadcast{imm(11)}, 4), loops()));
}

TEST(ToAffine, FindsCoefficients) {
  const auto affine = to_affine((i + 2) * 3 - j + i);
  ASSERT_TRUE(affine);
  EXPECT_EQ(affine->coefficient(i), 4);
  EXPECT_EQ(affine->coefficient(j), -1);
  EXPECT_EQ(affine->coefficient(k), 0);
  EXPECT_EQ(affine->constant, 6);
  EXPECT_EQ(affine->terms.size(), 2u);
  EXPECT_TRUE(same(to_expr(*affine), i * 4 - j + 6));
  EXPECT_TRUE(to_affine(i + j - i)->terms.size() == 1);
  EXPECT_TRUE(to_affine(floor_div(n * 8, 4))) << "affine once it is simplified";
  EXPECT_FALSE(to_affine(i * j));
  EXPECT_FALSE(to_affine(floor_div(n, 4)));
  EXPECT_FALSE(to_affine(i < j));
}

}  // namespace
}  // namespace hone::ir::simplify_test
