#include <gtest/gtest.h>

#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/ir/text.h"

namespace hone::ir {
namespace {

const Expr i = var("i"), j = var("j"), x = var("x"), n = var("n");
const Expr a = buffer("a", kI64, std::vector<std::int64_t>{64});

Stmt loop(const Expr& v, const Expr& extent, const Stmt& body, ForKind how = ForKind::Serial) {
  return make(For{.var = v, .extent = extent, .how = how, .body = body});
}
Stmt put(const Expr& index) { return store(a, {index}, imm(1)); }
Stmt nothing() { return make(Seq{}); }

::testing::AssertionResult becomes(const Stmt& from, const Stmt& to) {
  const Stmt got = simplify(from);
  if (equal(got, to)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << to_text(from) << "became\n" << to_text(got);
}

TEST(SimplifyStmt, UsesTheExtentsOfLoops) {
  EXPECT_TRUE(becomes(loop(i, imm(4), loop(j, imm(8), put(floor_div(i * 8 + j, 8)))),
                      loop(i, imm(4), loop(j, imm(8), put(i)))));
  EXPECT_TRUE(
      becomes(loop(i, imm(4), loop(j, i + 1, make(If{j < 4, put(j)}))), loop(i, imm(4), loop(j, i + 1, put(j)))));
}

TEST(SimplifyStmt, DropsWhatNeverRuns) {
  EXPECT_TRUE(becomes(loop(i, imm(0), put(i)), nothing()));
  EXPECT_TRUE(becomes(make(Seq{{put(n), loop(i, imm(3), make(If{i < 0, put(i)}))}}), put(n)));
  EXPECT_TRUE(becomes(make(If{boolean(false), put(n), put(x)}), put(x)));
  EXPECT_TRUE(becomes(make(If{n < 3, nothing(), put(x)}), make(If{imm(3) <= n, put(x)})));
  EXPECT_TRUE(becomes(loop(i, imm(4), make(If{i < 4, put(i), put(n)})), loop(i, imm(4), put(i))));
  EXPECT_TRUE(becomes(make(Store{a, {n}, imm(1), boolean(false)}), nothing()));
}

TEST(SimplifyStmt, LearnsFromConditionsAround) {
  EXPECT_TRUE(
      becomes(loop(i, imm(9), make(If{i < 3, make(If{i < 5, put(i)})})), loop(i, imm(9), make(If{i < 3, put(i)}))));
  EXPECT_TRUE(becomes(make(If{n * 16 + x < 100, make(If{n * 16 + x < 100, put(n), put(x)})}),
                      make(If{n * 16 + x < 100, put(n)})));
  EXPECT_TRUE(becomes(make(If{n < 3, put(n), make(If{n < 3, put(n), put(x)})}), make(If{n < 3, put(n), put(x)})));
  EXPECT_TRUE(becomes(make(Seq{{make(If{n < 3, put(n)}), make(If{n < 3, put(x)})}}),
                      make(Seq{{make(If{n < 3, put(n)}), make(If{n < 3, put(x)})}})))
      << "what is learnt in a branch is forgotten after it";
}

TEST(SimplifyStmt, ForgetsLoadsThatAStoreMayChange) {
  const Expr flag = eq(load(a, {imm(0)}), 0);
  const Stmt s = make(If{flag, make(Seq{{store(a, {imm(0)}, imm(1)), make(If{flag, put(n)})}})});
  EXPECT_TRUE(becomes(s, s));
}

TEST(SimplifyStmt, KeepsBlocksAndLoopsThatRunOnce) {
  const Stmt block = make(Block{.name = "b",
                                .iters = {{x, imm(8), IterKind::Spatial, i * 8 + j}},
                                .predicate = i * 8 + j < 8,
                                .init = {},
                                .body = put(min(x, imm(7)))});
  const Stmt simple = make(Block{
      .name = "b", .iters = {{x, imm(8), IterKind::Spatial, i * 8 + j}}, .predicate = {}, .init = {}, .body = put(x)});
  EXPECT_TRUE(becomes(loop(i, imm(1), loop(j, imm(8), block)), loop(i, imm(1), loop(j, imm(8), simple))));
  const Stmt empty = make(Block{.name = "b",
                                .iters = {{x, imm(8), IterKind::Spatial, n}},
                                .predicate = boolean(false),
                                .init = {},
                                .body = put(x)});
  EXPECT_TRUE(simplify(empty).as<Block>());
}

TEST(SimplifyStmt, PutsConstantsAndNamesInPlaceOfLets) {
  EXPECT_TRUE(becomes(make(Let{x, imm(2) + 1, put(x * 2)}), put(imm(6))));
  const Stmt kept = make(Let{x, floor_mod(n, 4), make(If{x < 4, put(x)})});
  EXPECT_TRUE(becomes(kept, make(Let{x, floor_mod(n, 4), put(x)})));
}

TEST(SimplifyStmt, GivesBackTheSameNodeIfNothingChanges) {
  const Stmt s = loop(i, imm(4), make(Seq{{put(i), make(If{i < n, put(i * 2 + 1)})}}));
  EXPECT_TRUE(simplify(s).is(s));
}

TEST(RemoveTrivialLoops, KeepsGpuIndices) {
  const auto got = [](ForKind how) { return simplify(remove_trivial_loops(loop(i, imm(1), put(i + n), how))); };
  for (const ForKind how : {ForKind::Serial, ForKind::Parallel, ForKind::Vectorized, ForKind::Unrolled})
    EXPECT_TRUE(equal(got(how), put(n)));
  EXPECT_TRUE(got(ForKind::ThreadX).as<For>());
  const Stmt twice = loop(i, imm(2), put(i));
  EXPECT_TRUE(remove_trivial_loops(twice).is(twice));
}

}  // namespace
}  // namespace hone::ir
