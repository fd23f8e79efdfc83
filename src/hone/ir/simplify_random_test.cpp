#include <algorithm>
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

  /// An expression of a type that wraps or rounds, over `typed_vars`.
  Expr typed(DType type, int depth) {
    if (depth == 0) {
      const Expr special =
          type.is_float() ? constant(type, rng_.chance(0.5) ? -0.0 : 0.5) : constant(type, max_value(type));
      if (rng_.chance(0.3)) return rng_.chance(0.7) ? constant(type, rng_.uniform(-2, 3)) : special;
      for (const Expr& v : typed_vars_)
        if (v.type() == type && rng_.chance(0.7)) return v;
      typed_vars_.push_back(var("t" + std::to_string(typed_vars_.size()), type));
      return typed_vars_.back();
    }
    const Expr a = typed(type, depth - 1), b = typed(type, static_cast<int>(rng_.uniform(0, depth - 1)));
    switch (rng_.uniform(0, 9)) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return a * b;
      case 3:
        return a / b;
      case 4:
        return type.is_float() ? a - b : floor_div(a, b);
      case 5:
        return type.is_float() ? a * b : floor_mod(a, b);
      case 6:
        return rng_.chance(0.5) ? min(a, b) : max(a, b);
      case 7:
        return select(typed_truth(type, depth - 1), a, b);
      default: {
        const DType types[] = {kI8, kU8, kI32, kU64, kF32, kBool};
        const DType through = types[rng_.uniform(0, 5)];
        return cast(type, through.is_bool() ? typed_truth(type, depth - 1) : cast(through, a));
      }
    }
  }

  Env typed_values() {
    Env env;
    for (const Expr& v : typed_vars_) {
      const bool is_small = v.type().is_float() || rng_.chance(0.5);
      env.emplace_back(v,
                       wrap_small(v.type(), is_small ? rng_.uniform(-3, 3) : static_cast<std::int64_t>(rng_.next())));
    }
    return env;
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
  static std::int64_t wrap_small(DType type, std::int64_t value) {
    return type.is_float() ? value : wrap_to(type, value);
  }

  Expr typed_truth(DType type, int depth) {
    const Expr a = typed(type, depth), b = typed(type, depth);
    switch (rng_.uniform(0, 4)) {
      case 0:
        return a < b;
      case 1:
        return a <= b;
      case 2:
        return eq(a, b);
      case 3:
        return ne(a, b);
      default:
        return logical_not(a < b);
    }
  }

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
  std::vector<Expr> vars_, typed_vars_;
  Bounds bounds_;
};

void check(const Expr& e, Source& source, int settings) {
  const auto contains_all = [](Interval known, DType type, const std::vector<std::int64_t>& values) {
    if (type.is_float() || type.scalar == Scalar::U64) return true;  // bits, which no interval describes
    return std::all_of(values.begin(), values.end(), [&](std::int64_t value) { return known.contains(value); });
  };
  const Expr simple = simplify(e, source.bounds());
  EXPECT_EQ(simple.type(), e.type());
  const Interval known = bounds_of(e, source.bounds()), still_known = bounds_of(simple, source.bounds());
  for (int setting = 0; setting < settings; ++setting) {
    Env env = source.values();
    for (const auto& entry : source.typed_values()) env.push_back(entry);
    const auto expected = evaluate_lanes(e, env);
    if (!expected) continue;
    ASSERT_EQ(evaluate_lanes(simple, env), expected) << to_text(e) << "\nbecame\n" << to_text(simple);
    ASSERT_TRUE(contains_all(known, e.type(), *expected)) << to_text(e);
    ASSERT_TRUE(contains_all(still_known, e.type(), *expected)) << to_text(simple);
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

TEST(SimplifyRandom, KeepsEveryBitOfWrappingIntegersAndFloats) {
  Rng rng(/*seed=*/14);
  const DType types[] = {kI8, kU8, kI32, kU64, kF16, kF32, kF64};
  for (int trial = 0; trial < 5000 && !::testing::Test::HasFailure(); ++trial) {
    Source source(rng);
    check(source.typed(types[trial % 7], static_cast<int>(rng.uniform(1, 4))), source, 6);
  }
}

}  // namespace
}  // namespace hone::ir
