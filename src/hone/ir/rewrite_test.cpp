#include "hone/ir/rewrite.h"

#include <gtest/gtest.h>

namespace hone::ir {
namespace {

TEST(Rewrite, UnchangedChildrenGiveBackTheSameNode) {
  const Expr x = var("x"), a = buffer("a", kF32, std::vector<std::int64_t>{8});
  const Stmt s = make(For{.var = x, .extent = imm(8), .body = store(a, {x}, load(a, {x + 1}))});
  EXPECT_TRUE(substitute(s, var("x"), imm(1)).is(s)) << "another variable of the same name is another variable";
}

TEST(Rewrite, SubstituteReplacesVariablesEverywhere) {
  const Expr x = var("x"), y = var("y"), a = buffer("a", kF32, std::vector<std::int64_t>{8});
  const Stmt s = substitute(store(a, {x}, load(a, {x + 1})), x, y);
  EXPECT_FALSE(uses(s, x));
  EXPECT_TRUE(uses(s, y));
  EXPECT_TRUE(uses(s, a));
}

TEST(Rewrite, VectorOperandsGiveVectorResults) {
  const Expr x = var("x"), a = buffer("a", kI8, std::vector<std::int64_t>{8});
  const Expr e = substitute(cast(kF32, load(a, {x})), x, make(Ramp{imm(0), imm(1)}, 8));
  EXPECT_EQ(e.type(), kF32.with_lanes(8));
}

TEST(Rewrite, WalkMeetsParentsFirst) {
  const Expr x = var("x");
  std::vector<Kind> kinds;
  walk(floor_div(x + 1, 2), [&](const Expr& e) { kinds.push_back(e.kind()); });
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::FloorDiv, Kind::Add, Kind::Var, Kind::IntImm, Kind::IntImm}));
}

TEST(DTypes, PrintAndParseBack) {
  for (const DType type : {kBool, kI8, kU64, kF16, kBF16, kF32.with_lanes(16)}) {
    const Result<DType> parsed = parse_dtype(to_string(type));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, type);
  }
  EXPECT_FALSE(parse_dtype("f33"));
  EXPECT_FALSE(parse_dtype("f32x0"));
  EXPECT_FALSE(parse_dtype("f32x"));
}

TEST(Constants, RoundAndWrapToTheirType) {
  EXPECT_EQ(round_to(kF16, 65520), std::numeric_limits<double>::infinity());
  EXPECT_EQ(round_to(kF16, 0x1p-25), 0.0) << "half of the smallest denormal rounds to even";
  EXPECT_EQ(round_to(kBF16, 1.00390625), 1.0);
  EXPECT_EQ(round_to(kF16, 2049.0), 2048.0);
  EXPECT_EQ(wrap_to(kI8, 200), -56);
  EXPECT_EQ(wrap_to(kU8, -1), 255);
}

}  // namespace
}  // namespace hone::ir
