#include "hone/ir/simplify.h"

#include <gtest/gtest.h>

#include "hone/ir/affine.h"
#include "hone/ir/order.h"

namespace hone::ir {
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
  return ::testing::AssertionFailure() << "another expression of kind " << to_string(got.kind());
}

TEST(Simplify, CollectsLinearTermsInCanonicalOrder) {
  EXPECT_TRUE(becomes(i * 4 + j + i * 4, i * 8 + j));
  EXPECT_TRUE(becomes(j + i, i + j));
  EXPECT_TRUE(becomes((i * 16 + j) * 32 + k, i * 512 + j * 32 + k));
  EXPECT_TRUE(becomes(i - i, imm(0)));
  EXPECT_TRUE(becomes(imm(3) - i, imm(3) - i));
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
}

TEST(Simplify, ReducesComparisons) {
  EXPECT_TRUE(becomes(i * 4 + 3 < 16, i < 4));
  EXPECT_TRUE(becomes(i * 16 + j < 64, i < 4));
  EXPECT_TRUE(becomes(j < 16, boolean(true)));
  EXPECT_TRUE(becomes(i <= i + k, boolean(true)));
  EXPECT_TRUE(becomes(eq(i * 2, 7), boolean(false)));
}

TEST(Simplify, FindsAffineForms) {
  const auto affine = to_affine((i + 2) * 3 - j + i);
  ASSERT_TRUE(affine);
  EXPECT_EQ(affine->coefficient(i), 4);
  EXPECT_EQ(affine->coefficient(j), -1);
  EXPECT_EQ(affine->coefficient(k), 0);
  EXPECT_EQ(affine->constant, 6);
  EXPECT_FALSE(to_affine(i * j));
}

}  // namespace
}  // namespace hone::ir
