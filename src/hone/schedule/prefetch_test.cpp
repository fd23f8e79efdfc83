#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "hone/ir/evaluate_for_test.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/text.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/testing.h"

namespace hone::schedule {
namespace {

using Factors = std::vector<std::int64_t>;
using Loops = std::vector<std::string>;

TEST(Prefetch, FetchesOneLineOfARowAtATimeWithinTheBuffer) {
  const Program naive = matmul(8, 40, 6);
  Program p = checked(naive, reorder(naive, Loops{"i", "k", "j"}));
  p = checked(naive, prefetch(p, "B", "k", 2));
  EXPECT_TRUE(prints(p, R"(    for k in 0..6 {
      for pf1 in 0..3 unrolled {
        evaluate prefetch(B[min(k + 2, 5), pf1 * 16])
      }
      for j in 0..40 {)"))
      << ir::to_text(p);
}

TEST(Prefetch, KeepsTheValuesInAnyTiling) {
  for (const std::int64_t n : {1, 7, 16})
    for (const std::string loop : {"i.0", "k", "j.0"})
      for (const std::string buffer : {"A", "B", "C"}) {
        const Program naive = matmul(n, 20, 5);
        Program p = checked(naive, split(naive, "i", Factors{kRest, 4}));
        p = checked(naive, split(p, "j", Factors{kRest, 8}));
        p = checked(naive, reorder(p, Loops{"i.0", "j.0", "k", "i.1", "j.1"}));
        p = checked(naive, prefetch(p, buffer, loop, 1));
        p = checked(naive, prefetch(p, buffer, loop, 3));
        checked(naive, split(p, "k", Factors{kRest, 2}));
      }
}

TEST(Prefetch, OfARepeatedBufferLooksAtItsUsesOnly) {
  const Program naive = matmul(4, 16, 6);
  const Program once = checked(naive, prefetch(naive, "A", "k", 1));
  const Program twice = checked(naive, prefetch(once, "A", "k", 4));
  EXPECT_FALSE(prints(twice, "pf")) << ir::to_text(twice);
}

TEST(Prefetch, RefusesWhatItCannotFetch) {
  const Program p = matmul(64, 300, 300);
  EXPECT_EQ(refusal(prefetch(p, "X", "k", 1)), "prefetch: no buffer 'X', the buffers are A, B, C");
  EXPECT_EQ(refusal(prefetch(p, "A", "x", 1)), "prefetch: no loop 'x', the loops are i, j, k");
  EXPECT_EQ(refusal(prefetch(p, "A", "k", 0)), "prefetch: distance 0 of buffer 'A' is outside 1..1048576");
  EXPECT_EQ(refusal(prefetch(p, "B", "j", 1)),
            "prefetch: an iteration of loop 'j' touches 300 cache lines of buffer 'B' or more, allowed are 1..64");
  EXPECT_EQ(refusal(prefetch(*vectorize(p, "j"), "B", "k", 1)),
            "prefetch: loop 'j' is vectorized, allowed are loops outside of it");
  const Program staged = chain(4, 4);
  EXPECT_EQ(refusal(prefetch(staged, "C", "i", 1)), "prefetch: the body of loop 'i' does not touch buffer 'C'");
}

/// C = A · B in tiles of 4 by 32 by 8, B packed: the block of B that an iteration of j.0 reads has 16 lines.
Program tiled(const Program& naive) {
  Program p = checked(naive, split(naive, "i", Factors{kRest, 4}));
  p = checked(naive, split(p, "j", Factors{kRest, 32}));
  p = checked(naive, split(p, "k", Factors{kRest, 8}));
  p = checked(naive, reorder(p, Loops{"k.0", "j.0", "i.0", "k.1", "i.1", "j.1"}));
  return checked(naive, transform_layout(p, "B", "(k, n) -> (n // 32, k, n % 32)"));
}

using Elements = std::set<std::vector<std::int64_t>>;

/// Adds the elements that the fetches in `s` ask for, found by running its loops.
void add_fetched(const ir::Stmt& s, Elements& fetched) {
  if (s.as<ir::Block>()) return;
  if (const ir::For* loop = s.as<ir::For>()) {
    for (std::int64_t i = 0; i < *ir::as_int(loop->extent); ++i)
      add_fetched(ir::substitute(loop->body, loop->var, ir::imm(i)), fetched);
  } else if (const ir::Evaluate* fetch = s.as<ir::Evaluate>()) {
    std::vector<std::int64_t> at;
    for (const ir::Expr& index : fetch->value.get<ir::Call>().args[0].get<ir::Load>().indices)
      at.push_back(ir::evaluate(index, {}).value());
    fetched.insert(at);
  } else {
    ir::for_each_child(s, [&](const ir::Stmt& child) { add_fetched(child, fetched); }, [](const ir::Expr&) {});
  }
}

TEST(SpreadPrefetch, FetchesTheNextBlockInEqualShares) {
  const Program naive = matmul(8, 96, 16);
  const Program p = checked(naive, spread_prefetch(tiled(naive), "B.packed", "j.0", "k.1", 1));
  EXPECT_TRUE(prints(p, R"(        for k.1 in 0..8 {
          evaluate prefetch(B.packed[min(j.0 + 1, 2), k.0 * 8 + i.0 * 4 + k.1 // 2, k.1 % 2 * 16])
)")) << ir::to_text(p);
}

TEST(SpreadPrefetch, LinesOfAShareStandBesideEachOther) {
  const Program naive = matmul(4, 320, 6);
  const Program rows = *reorder(naive, Loops{"i", "k", "j"});  // 20 lines are a row of B
  const Program p = checked(naive, spread_prefetch(rows, "B", "i", "k", 1));
  EXPECT_TRUE(prints(p, "for pf in 0..20 unrolled {\n        evaluate prefetch(B[k, pf * 16])")) << ir::to_text(p);
}

TEST(SpreadPrefetch, FetchesEachLineOfTheBlockAndNothingElse) {
  for (const std::int64_t m : {1, 4, 7, 12, 20})  // 1 to 5 tiles of rows: shares of 2 lines, of 1, and turns without
    for (const std::string inner : {"i.0", "k.1", "i.1"}) {
      const Program naive = matmul(m, 96, 16);
      const Program p = checked(naive, spread_prefetch(tiled(naive), "B.packed", "j.0", inner, 1));
      const Path path = find_loop(p, "j.0", "test").value();
      const ir::Expr outermost = find_loop(p, "k.0", "test").value().loop().var;
      for (std::int64_t k = 0; k < 2; ++k)
        for (std::int64_t j = 0; j < 3; ++j) {
          Elements expected, found;
          for (std::int64_t row = 8 * k; row < 8 * k + 8; ++row)
            for (const std::int64_t column : {0, 16}) expected.insert({std::min<std::int64_t>(j + 1, 2), row, column});
          const ir::Stmt body = ir::substitute(path.loop().body, path.loop().var, ir::imm(j));
          add_fetched(ir::substitute(body, outermost, ir::imm(k)), found);
          EXPECT_EQ(found, expected) << "m = " << m << ", inner = " << inner << '\n' << ir::to_text(p);
        }
    }
}

TEST(SpreadPrefetch, KeepsTheValuesUnderLaterSteps) {
  for (const std::int64_t n : {1, 7, 40})
    for (const std::string inner : {"j.0", "k", "i.1"})
      for (const std::string buffer : {"A", "B", "C"}) {
        const Program naive = matmul(n, 20, 5);
        Program p = checked(naive, split(naive, "i", Factors{kRest, 4}));
        p = checked(naive, split(p, "j", Factors{kRest, 8}));
        p = checked(naive, reorder(p, Loops{"i.0", "j.0", "k", "i.1", "j.1"}));
        p = checked(naive, spread_prefetch(p, buffer, "i.0", inner, 1));
        p = checked(naive, spread_prefetch(p, buffer, "i.0", inner, 7));
        p = checked(naive, vectorize(p, "j.1"));
        checked(naive, split(p, "k", Factors{kRest, 2}));
      }
}

TEST(SpreadPrefetch, FetchesNothingForABodyThatNeverRuns) {
  for (const Factors& shape : {Factors{0, 3, 3}, Factors{3, 0, 3}, Factors{3, 3, 0}})
    for (const std::string buffer : {"A", "B"}) {
      const Program naive = matmul(shape[0], shape[1], shape[2]);
      const Result<Program> p = spread_prefetch(naive, buffer, "i", "j", 1);
      if (p) checked(naive, p);
      EXPECT_TRUE(shape[1] != 0 || !p);
    }
}

TEST(SpreadPrefetch, RefusesWhatItCannotSpread) {
  const Program p = matmul(64, 300, 300);
  EXPECT_EQ(refusal(spread_prefetch(p, "X", "i", "k", 1)), "spread_prefetch: no buffer 'X', the buffers are A, B, C");
  EXPECT_EQ(refusal(spread_prefetch(p, "A", "x", "k", 1)), "spread_prefetch: no loop 'x', the loops are i, j, k");
  EXPECT_EQ(refusal(spread_prefetch(p, "A", "i", "x", 1)), "spread_prefetch: no loop 'x', the loops are i, j, k");
  EXPECT_EQ(refusal(spread_prefetch(p, "A", "k", "i", 1)), "spread_prefetch: loop 'i' does not stand inside loop 'k'");
  EXPECT_EQ(refusal(spread_prefetch(p, "A", "k", "k", 1)), "spread_prefetch: loop 'k' does not stand inside loop 'k'");
  EXPECT_EQ(refusal(spread_prefetch(p, "A", "i", "k", 0)),
            "spread_prefetch: distance 0 of buffer 'A' is outside 1..1048576");
  EXPECT_EQ(refusal(spread_prefetch(*vectorize(*reorder(p, Loops{"i", "k", "j"}), "j"), "B", "i", "j", 1)),
            "spread_prefetch: loop 'j' is vectorized, allowed are loops outside of it");
  EXPECT_EQ(refusal(spread_prefetch(matmul(4, 4, 4000), "B", "i", "j", 1)),
            "spread_prefetch: an iteration of loop 'j' would fetch 1000 of the 4000 cache lines of buffer 'B', allowed "
            "are 1..64");
  EXPECT_EQ(refusal(spread_prefetch(matmul(4, 1 << 14, 1 << 14), "B", "i", "j", 1)),
            "spread_prefetch: an iteration of loop 'i' touches 16777216 cache lines of buffer 'B' or more, allowed are "
            "1..1048576");
  EXPECT_EQ(refusal(spread_prefetch(chain(4, 4), "C", "i", "j", 1)),
            "spread_prefetch: the body of loop 'i' does not touch buffer 'C'");
}

}  // namespace
}  // namespace hone::schedule
