#include <gtest/gtest.h>

#include "hone/ir/evaluate_for_test.h"
#include "hone/ir/order.h"
#include "hone/ir/simplify.h"
#include "hone/ir/text.h"
#include "hone/support/rng.h"

namespace hone::ir {
namespace {

/// Draws expressions over a few bounded variables.
class Source {
 public:
  explicit Source(Rng& rng) : rng_(rng) {
    for (const char* name : {"i", "j", "k", "n"}) {
      vars_.push_back(var(name));
      const std::int64_t low = rng_.chance(0.7) ? 0 : rng_.uniform(-9, 9);
      bounds_.add(vars_.back(), {low, low + rng_.uniform(0, 17)});
    }
  }

  const Bounds& bounds() const { return bounds_; }

  Env values() {
    Env env;
    for (const Expr& v : vars_) env.emplace_back(v, rng_.uniform(bounds_.of(v).min, bounds_.of(v).max));
    return env;
  }

  Expr index(int depth) {
    if (depth == 0) return rng_.chance(0.7) ? rng_.choose(vars_) : imm(rng_.uniform(-5, 20));
    const auto next = [&] { return index(rng_.chance(0.2) ? 0 : depth - 1); };
    switch (rng_.uniform(0, 11)) {
      case 0:
      case 1:
        return next() + next();
      case 2:
        return next() - next();
      case 3:
      case 4:
        return next() * factor();
      case 5:
      case 6:
        return floor_div(next(), divisor());
      case 7:
      case 8:
        return floor_mod(next(), divisor());
      case 9:
        return rng_.chance(0.5) ? min(next(), next()) : max(next(), next());
      case 10:
        return select(truth(depth - 1), next(), next());
      default:
        return rng_.chance(0.5) ? next() * next() : cast(kI64, cast(kI32, next()) / constant(kI32, rng_.uniform(1, 4)));
    }
  }

  Expr truth(int depth) {
    if (depth <= 0) return rng_.choose(vars_) < rng_.uniform(0, 12);
    switch (rng_.uniform(0, 7)) {
      case 0:
        return index(depth - 1) < index(depth - 1);
      case 1:
        return index(depth - 1) <= index(depth - 1);
      case 2:
        return eq(index(depth - 1), index(depth - 1));
      case 3:
        return ne(index(depth - 1), index(depth - 1));
      case 4:
        return logical_and(truth(depth - 1), truth(depth - 1));
      case 5:
        return logical_or(truth(depth - 1), truth(depth - 1));
      case 6:
        return logical_not(truth(depth - 1));
      default:
        return index(depth - 1) < rng_.uniform(-4, 40);
    }
  }

  /// A vector of index type.
  Expr vector(int depth) {
    const auto lanes = [](const Expr& e) { return make(Broadcast{e}, 4); };
    if (depth == 0) return rng_.chance(0.5) ? make(Ramp{index(1), imm(rng_.uniform(-2, 4))}, 4) : lanes(index(1));
    switch (rng_.uniform(0, 6)) {
      case 0:
        return vector(depth - 1) + vector(depth - 1);
      case 1:
        return vector(depth - 1) - vector(depth - 1);
      case 2:
        return vector(depth - 1) * lanes(factor());
      case 3:
        return floor_div(vector(depth - 1), lanes(divisor()));
      case 4:
        return floor_mod(vector(depth - 1), lanes(divisor()));
      case 5:
        return rng_.chance(0.5) ? min(vector(depth - 1), vector(depth - 1)) : max(vector(depth - 1), vector(depth - 1));
      default:
        return select(vector_truth(depth - 1), vector(depth - 1), vector(depth - 1));
    }
  }

 private:
  Expr vector_truth(int depth) {
    const Expr order = vector(depth) < vector(depth);
    switch (rng_.uniform(0, 4)) {
      case 0:
        return logical_and(order, vector(depth) <= vector(depth));
      case 1:
        return logical_or(make(Broadcast{truth(depth)}, 4), order);
      case 2:
        return logical_not(order);
      default:
        return order;
    }
  }

  Expr factor() { return imm(rng_.chance(0.8) ? rng_.uniform(1, 8) * rng_.uniform(1, 3) : rng_.uniform(-4, 0)); }
  Expr divisor() { return imm(rng_.chance(0.9) ? rng_.uniform(1, 6) * rng_.uniform(1, 4) : rng_.uniform(-5, -1)); }

  Rng& rng_;
  std::vector<Expr> vars_;
  Bounds bounds_;
};

void check(const Expr& e, Source& source, int settings) {
  const Expr simple = simplify(e, source.bounds());
  EXPECT_EQ(simple.type(), e.type());
  const Interval known = bounds_of(e, source.bounds()), still_known = bounds_of(simple, source.bounds());
  for (int setting = 0; setting < settings; ++setting) {
    const Env env = source.values();
    const auto expected = evaluate_lanes(e, env);
    if (!expected) continue;
    ASSERT_EQ(evaluate_lanes(simple, env), expected) << to_text(e) << "\nbecame\n" << to_text(simple);
    for (const std::int64_t value : *expected) {
      ASSERT_TRUE(known.contains(value)) << to_text(e) << " is " << value;
      ASSERT_TRUE(still_known.contains(value)) << to_text(simple) << " is " << value;
    }
  }
  EXPECT_TRUE(same(simplify(e, source.bounds()), simple)) << "not deterministic: " << to_text(e);
  const Expr again = simplify(simple, source.bounds());
  EXPECT_TRUE(again.is(simple)) << to_text(e) << "\nbecame\n" << to_text(simple) << "\nthen\n" << to_text(again);
}

TEST(SimplifyRandom, KeepsTheValueOfIndexExpressions) {
  Rng rng(/*seed=*/11);
  for (int trial = 0; trial < 4000 && !::testing::Test::HasFailure(); ++trial) {
    Source source(rng);
    check(source.index(static_cast<int>(rng.uniform(1, 4))), source, 12);
  }
}

TEST(SimplifyRandom, KeepsTheValueOfConditions) {
  Rng rng(/*seed=*/12);
  for (int trial = 0; trial < 3000 && !::testing::Test::HasFailure(); ++trial) {
    Source source(rng);
    check(source.truth(static_cast<int>(rng.uniform(1, 4))), source, 12);
  }
}

TEST(SimplifyRandom, KeepsTheValueOfVectors) {
  Rng rng(/*seed=*/13);
  for (int trial = 0; trial < 3000 && !::testing::Test::HasFailure(); ++trial) {
    Source source(rng);
    check(source.vector(static_cast<int>(rng.uniform(1, 3))), source, 8);
  }
}

}  // namespace
}  // namespace hone::ir
