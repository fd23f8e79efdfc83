#include <gtest/gtest.h>

#include "hone/ir/equal.h"
#include "hone/ir/interpret.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/ir/text.h"
#include "hone/support/rng.h"

namespace hone::ir::simplify_stmt_test {
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

TEST(SimplifyStmt, KeepsMasksIfBothSidesMayBeEvaluated) {
  const Expr masked = make(Load{a, {n}, n < 64});
  const Stmt chosen = store(a, {imm(0)}, select(n < 64, masked, imm(0)));
  const Stmt both = store(a, {imm(0)}, cast(kI64, logical_and(n < 64, masked < 3)));
  EXPECT_TRUE(becomes(chosen, store(a, {imm(0)}, select(n < 64, load(a, {n}), imm(0)))));
  for (const Stmt& s : {chosen, both}) EXPECT_TRUE(equal(simplify(s, {}, Evaluation::Eager), s)) << to_text(s);
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

/// Draws statements over loops, lets, guards and blocks that update elements of `a`.
class Source {
 public:
  explicit Source(Rng& rng) : rng_(rng) {}

  Stmt stmt(int depth) {
    if (depth == 0) return update();
    switch (rng_.uniform(0, 6)) {
      case 0:
        return make(If{truth(), stmt(depth - 1), rng_.chance(0.5) ? stmt(depth - 1) : Stmt{}});
      case 1:
        return make(Seq{{stmt(depth - 1), stmt(depth - 1)}});
      case 2: {
        const Expr v = var("t");
        const Expr value = index();
        return scoped(v, [&] { return make(Let{v, value, stmt(depth - 1)}); });
      }
      case 3:
        return block(depth);
      default: {
        const Expr v = var("l"), extent = rng_.chance(0.8) ? imm(rng_.uniform(0, 5)) : floor_mod(index(), 5);
        return scoped(v, [&] { return loop(v, extent, stmt(depth - 1)); });
      }
    }
  }

 private:
  template <typename F>
  Stmt scoped(const Expr& v, F body) {
    vars_.push_back(v);
    Stmt s = body();
    vars_.pop_back();
    return s;
  }

  /// A loop split by a factor that need not divide.
  Stmt block(int depth) {
    const Expr outer = var("o"), inner = var("p"), v = var("v");
    const std::int64_t extent = rng_.uniform(1, 9), factor = rng_.uniform(1, 5);
    const Expr binding = outer * factor + inner;
    const Stmt body = scoped(v, [&] { return stmt(depth - 1); });
    const Stmt block = make(Block{.name = "b",
                                  .iters = {{v, imm(extent), IterKind::Spatial, binding}},
                                  .predicate = binding < extent,
                                  .init = {},
                                  .body = body});
    return loop(outer, imm((extent + factor - 1) / factor), loop(inner, imm(factor), block));
  }

  Stmt update() {
    const Expr place = floor_mod(index(), 64);
    return store(a, {place}, load(a, {place}) * 3 + index());
  }

  Expr leaf() { return vars_.empty() || rng_.chance(0.2) ? imm(rng_.uniform(-2, 9)) : rng_.choose(vars_); }

  Expr index() {
    const Expr e = leaf() * rng_.uniform(-1, 6) + leaf();
    if (rng_.chance(0.4)) return floor_div(e, rng_.uniform(1, 6));
    return rng_.chance(0.5) ? floor_mod(e, rng_.uniform(1, 9)) : rng_.chance(0.1) ? load(a, {floor_mod(e, 64)}) : e;
  }

  Expr truth() {
    const Expr e = rng_.chance(0.7) ? index() < rng_.uniform(0, 9) : eq(index(), index());
    return rng_.chance(0.3) ? logical_and(e, leaf() <= index()) : e;
  }

  Rng& rng_;
  std::vector<Expr> vars_;
};

TEST(SimplifyStmt, KeepsTheEffectOfRandomPrograms) {
  Rng rng(/*seed=*/21);
  for (int trial = 0; trial < 1500; ++trial) {
    const Stmt s = Source(rng).stmt(static_cast<int>(rng.uniform(1, 5)));
    const auto run = [](const Stmt& body) {
      Array values(kI64, {64});
      for (std::int64_t at = 0; at < 64; ++at) values.set(at, at % 7);
      Array* const args[] = {&values};
      EXPECT_TRUE(interpret(Function{"f", {a}, body}, args)) << to_text(body);
      std::vector<std::int64_t> result;
      for (std::int64_t at = 0; at < 64; ++at) result.push_back(values.int_at(at));
      return result;
    };
    const Stmt simple = simplify(s);
    const auto expected = run(s);
    ASSERT_EQ(run(simple), expected) << to_text(s) << "became\n" << to_text(simple);
    ASSERT_EQ(run(remove_trivial_loops(simple)), expected) << to_text(s);
    ASSERT_TRUE(simplify(simple).is(simple)) << to_text(s) << "became\n"
                                             << to_text(simple) << "then\n"
                                             << to_text(simplify(simple));
  }
}

}  // namespace
}  // namespace hone::ir::simplify_stmt_test
