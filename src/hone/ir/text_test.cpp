#include "hone/ir/text.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

#include "hone/ir/equal.h"
#include "hone/ir/number_text.h"
#include "hone/ir/random_program.h"
#include "hone/ir/rewrite.h"
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

TEST(Text, TheExampleOfTheHeaderIsAProgram) {
  const Result<Function> f = parse_function(R"(
    func scale[n](A: f32[n, 4], B: f32[n, 4]) {        # n is a symbolic size
      alloc T: f32[4] in local align(0, 32, 8)         # in scope up to the closing brace, as is what let defines
      for i in 0..n parallel @unroll("16") {
        let row: i64x4 = ramp(0, 1, 4)
        block scale {
          vi: spatial(n) = i
          where i < 100                                # the predicate
          init { B[vi, 0] = 0f32 }
          B[vi, row] = (A[vi, row] where row < broadcast(3, 4)) * broadcast(2f32, 4)
        }
      }
      if n == 5 { barrier } else { evaluate prefetch(A[0, 0]) }
    })");
  ASSERT_TRUE(f) << f.error().message;
  EXPECT_TRUE(verify(*f));
}

TEST(Text, DeepProgramsComeBackAsTheyWere) {
  const Expr a = buffer("A", kI64, Shape{1});
  Expr sum = imm(0);
  for (int i = 0; i < 1000; ++i) sum = sum + i;
  Stmt body = store(a, {imm(0)}, sum);
  for (int i = 0; i < 1000; ++i) body = make(Let{var("x" + std::to_string(i)), imm(i), body});
  const Function f{"deep", {a}, body};
  ASSERT_TRUE(verify(f));
  const Result<Function> parsed = parse_function(to_text(f));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_TRUE(equal(f, *parsed));
  EXPECT_EQ(structural_hash(f), structural_hash(*parsed));
}

TEST(Text, ModulesComeBackFunctionByFunction) {
  const Expr a = buffer("A", kF32, Shape{});
  const Module module{{{"f", {a}, make(Seq{})}, {"g", {}, make(Barrier{})}}};
  const std::string text = to_text(module);
  EXPECT_EQ(text, "func f(A: f32[]) {\n}\n\nfunc g() {\n  barrier\n}\n");
  const Result<Module> parsed = parse_module(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(to_text(*parsed), text);
  EXPECT_EQ(parse_module("")->functions.size(), 0u);
}

/// Counts on its way over a program what of each kind there is.
struct Census {
  std::set<Kind> kinds;
  std::set<Intrinsic> intrinsics;
  std::set<ForKind> loops;
  std::set<Scalar> scalars;

  void add(const Function& f) {
    walk(
        f.body,
        [&](const Stmt& s) {
          kinds.insert(s.kind());
          if (const For* loop = s.as<For>()) loops.insert(loop->how);
        },
        [&](const Expr& e) {
          kinds.insert(e.kind());
          scalars.insert(e.type().scalar);
          if (const Call* node = e.as<Call>()) intrinsics.insert(node->function);
        });
  }
};

TEST(RandomProgram, UsesEveryKindOfNodeLoopTypeAndIntrinsic) {
  Census census;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed);
    census.add(random_function(rng));
  }
  EXPECT_EQ(census.kinds.size(), static_cast<std::size_t>(Kind::Barrier) + 1);
  EXPECT_EQ(census.intrinsics.size(), static_cast<std::size_t>(Intrinsic::PrefetchL2) + 1);
  EXPECT_EQ(census.loops.size(), static_cast<std::size_t>(ForKind::VThread) + 1);
  EXPECT_EQ(census.scalars.size(), static_cast<std::size_t>(Scalar::F64) + 1);
}

TEST(RandomProgram, TheSameSeedGivesTheSameProgram) {
  Rng one(7), two(7), three(8);
  const std::string text = to_text(random_function(one));
  EXPECT_EQ(text, to_text(random_function(two)));
  EXPECT_NE(text, to_text(random_function(three)));
}

/// The value that these bits of a positive f16 mean.
double half_value(int bits) {
  const int exponent = bits >> 10, mantissa = bits & 1023;
  return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(Text, EveryValueOfTheNarrowFloatsComesBack) {
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const double value = half_value(bits);
    ASSERT_EQ(float_from_text(kF16, float_to_text(kF16, value)), value) << bits;
  }
  for (std::uint32_t bits = 0; bits < 0x7f80; ++bits) {
    const double value = std::bit_cast<float>(bits << 16);
    ASSERT_EQ(float_from_text(kBF16, float_to_text(kBF16, value)), value) << bits;
  }
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
