#include "hone/ir/text.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "hone/ir/equal.h"
#include "hone/ir/random_program.h"
#include "hone/ir/verify.h"

namespace hone::ir {
namespace {

using Shape = std::vector<std::int64_t>;

TEST(Text, PrintsABlockedReduction) {
  const Expr a = buffer("A", kF32, Shape{128, 64}), c = buffer("C", kF32, Shape{128});
  const Expr t = make(Buffer{"C.local", {imm(8)}, Scope::Local, {{0, 32, 8}}}, kF32);
  const Expr i = var("i.0"), k = var("k"), vi = var("vi"), vk = var("vk");
  const Stmt block = make(Block{.name = "C",
                                .iters = {{vi, imm(128), IterKind::Spatial, i}, {vk, imm(64), IterKind::Reduce, k}},
                                .predicate = i * 4 + k < 7,
                                .init = store(c, {vi}, constant(kF32, 0.0)),
                                .body = store(c, {vi}, load(c, {vi}) + load(a, {vi, vk})),
                                .annotations = {{"key", "a \"value\""}}});
  const Stmt loops = make(For{.var = i,
                              .extent = imm(128),
                              .how = ForKind::Parallel,
                              .body = make(For{.var = k, .extent = imm(64), .body = block}),
                              .annotations = {{"unroll", "16"}}});
  const Function f{"row_sum", {a, c}, make(Allocate{t, loops})};
  EXPECT_EQ(to_text(f), R"(func row_sum(A: f32[128, 64], C: f32[128]) {
  alloc C.local: f32[8] in local align(0, 32, 8)
  for i.0 in 0..128 parallel @unroll("16") {
    for k in 0..64 {
      block C @key("a \"value\"") {
        vi: spatial(128) = i.0
        vk: reduce(64) = k
        where i.0 * 4 + k < 7
        init {
          C[vi] = 0f32
        }
        C[vi] = C[vi] + A[vi, vk]
      }
    }
  }
}
)");
}

TEST(Text, PrintsConstantsWithTheShortestDigitsAndTheirType) {
  EXPECT_EQ(to_text(imm(-5)), "-5");
  EXPECT_EQ(to_text(constant(kI32, std::int64_t{5})), "5i32");
  EXPECT_EQ(to_text(constant(kU64, std::int64_t{-1})), "18446744073709551615u64");
  EXPECT_EQ(to_text(boolean(true)), "true");
  EXPECT_EQ(to_text(constant(kF32, 0.1)), "0.1f32");
  EXPECT_EQ(to_text(constant(kF16, 0.1)), "0.1f16");
  EXPECT_EQ(to_text(constant(kBF16, 3.0)), "3bf16");
  EXPECT_EQ(to_text(constant(kF64, -0.0)), "-0f64");
  EXPECT_EQ(to_text(constant(kF32, std::nan(""))), "nan_f32");
  EXPECT_EQ(to_text(constant(kF16, -1e30)), "-inf_f16");
  EXPECT_EQ(to_text(constant(kF32.with_lanes(16), 1.5)), "broadcast(1.5f32, 16)");
}

TEST(Text, WritesOnlyTheParenthesesThatMatter) {
  const Expr a = var("a"), b = var("b"), c = var("c");
  EXPECT_EQ(to_text((a + b) + c), "a + b + c");
  EXPECT_EQ(to_text(a + (b + c)), "a + (b + c)");
  EXPECT_EQ(to_text((a + b) * c), "(a + b) * c");
  EXPECT_EQ(to_text(a * (b / c)), "a * (b / c)");
  EXPECT_EQ(to_text(floor_div(a, 4) * 4 + floor_mod(a, 4)), "a // 4 * 4 + a % 4");
  EXPECT_EQ(to_text(logical_not(logical_and(a < b, b <= c))), "not (a < b and b <= c)");
  EXPECT_EQ(to_text(logical_or(logical_and(a < b, eq(b, c)), logical_not(ne(a, c)))), "a < b and b == c or not a != c");
  EXPECT_EQ(to_text(eq(a < b, b < c)), "(a < b) == (b < c)");
}

TEST(Text, QuotesNamesThatWouldBeReadAsSomethingElse) {
  EXPECT_EQ(to_text(var("for")), "`for`");
  EXPECT_EQ(to_text(var("")), "``");
  EXPECT_EQ(to_text(var("2x")), "`2x`");
  EXPECT_EQ(to_text(var("a`b\\\n")), "`a\\`b\\\\\\n`");
  EXPECT_EQ(to_text(var("i.0@j.1")), "i.0@j.1");
  EXPECT_EQ(to_text(var("exp")), "exp");
}

TEST(Text, BracesShowWhereScopesEndAndHowSequencesNest) {
  const Expr t = buffer("T", kF32, Shape{});
  const Stmt s = store(t, {}, constant(kF32, 1.0));
  const Stmt scoped = make(Allocate{t, s});
  EXPECT_EQ(to_text(make(Seq{{scoped, s}})), "{\n  alloc T: f32[]\n  T[] = 1f32\n}\nT[] = 1f32\n");
  EXPECT_EQ(to_text(make(Seq{{s, scoped}})), "T[] = 1f32\nalloc T: f32[]\nT[] = 1f32\n");
  EXPECT_EQ(to_text(make(Seq{{s, make(Seq{})}})), "T[] = 1f32\n{\n}\n");
  EXPECT_EQ(to_text(make(Seq{{s}})), "seq {\n  T[] = 1f32\n}\n");
}

TEST(Text, EveryRandomProgramVerifiesAndComesBackAsItWas) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed);
    const Function f = random_function(rng);
    const Result<void> verified = verify(f);
    ASSERT_TRUE(verified) << "seed " << seed << ": " << verified.error().message << "\n" << to_text(f);
    const std::string text = to_text(f);
    const Result<Function> parsed = parse_function(text);
    ASSERT_TRUE(parsed) << "seed " << seed << ": " << parsed.error().message << "\n" << text;
    ASSERT_EQ(to_text(*parsed), text) << "seed " << seed;
    ASSERT_TRUE(equal(f, *parsed)) << "seed " << seed << "\n" << text;
    ASSERT_EQ(structural_hash(f), structural_hash(*parsed)) << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace hone::ir
