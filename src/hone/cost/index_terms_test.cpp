#include "hone/cost/index_terms.h"

#include <gtest/gtest.h>
#include <set>

#include "hone/support/rng.h"

namespace hone::cost {
namespace {

using ir::Expr;

/// Loops i (0), j (1) and k (2).
struct Loops {
  Expr i = ir::var("i"), j = ir::var("j"), k = ir::var("k");
  IndexScope scope;
  Loops() {
    scope.add_loop(i, 0);
    scope.add_loop(j, 1);
    scope.add_loop(k, 2);
  }
  IndexSum sum(const Expr& e) const {
    IndexSum result;
    scope.add_terms(e, 1, -1, result);
    return result;
  }
};

TEST(IndexTerms, SumsAndMultiplesAreExact) {
  const Loops l;
  const IndexSum sum = l.sum((l.i * 4 + l.j - 3) * 2 - l.j);
  ASSERT_EQ(sum.terms.size(), 2u);
  EXPECT_EQ(sum.terms[0].coefficient, 8);
  EXPECT_EQ(sum.terms[1].coefficient, 1);
  EXPECT_EQ(sum.constant, -6);
  EXPECT_TRUE(l.sum(l.i - l.i).terms.empty());
}

TEST(IndexTerms, VariablesOfBlocksAreSeenThrough) {
  Loops l;
  const Expr v = ir::var("v");
  l.scope.add_sum(v, l.sum(l.i * 16 + l.j));
  const IndexSum sum = l.sum(v * 2 + l.k);
  ASSERT_EQ(sum.terms.size(), 3u);
  EXPECT_EQ(sum.terms[0].coefficient, 32);
}

TEST(IndexTerms, PartsOfAFusedLoopTakeAsManyValuesAsTheyDo) {
  const Loops l;  // i fuses loops of 3, 4 and 5
  const std::int64_t extent = 60;
  const IndexSum outer = l.sum(floor_div(l.i, 20)), middle = l.sum(floor_mod(floor_div(l.i, 5), 4)),
                 inner = l.sum(floor_mod(l.i, 5));
  ASSERT_EQ(outer.terms.size(), 1u);
  EXPECT_EQ(outer.terms[0].values(extent), 3);
  EXPECT_EQ(middle.terms.at(0).values(extent), 4);
  EXPECT_EQ(inner.terms.at(0).values(extent), 5);
  EXPECT_EQ(inner.terms.at(0).coefficient, 1);
}

TEST(IndexTerms, WhatARemainderHidesIsNoTerm) {
  const Loops l;
  const IndexSum lanes = l.sum(floor_mod(l.i * 16 + l.j, 16)), blocks = l.sum(floor_div(l.i * 16 + l.j, 16));
  ASSERT_EQ(lanes.terms.size(), 1u);
  EXPECT_EQ(lanes.terms[0].loop, 1);
  ASSERT_EQ(blocks.terms.size(), 2u);
  EXPECT_EQ(blocks.terms[0].coefficient, 1);
  EXPECT_EQ(blocks.terms[1].values(16), 1);  // j alone never reaches the next block
}

TEST(IndexTerms, OneLoopTakesTheValuesThatEvaluationShows) {
  Rng rng(/*seed=*/3);
  for (int trial = 0; trial < 300; ++trial) {
    const Loops l;
    const std::int64_t a = rng.uniform(1, 6), b = rng.uniform(1, 12), c = rng.uniform(1, 12),
                       extent = rng.uniform(1, 40);
    const auto value = [&](std::int64_t i) { return (i * a / b) % c; };
    const IndexSum sum = l.sum(floor_mod(floor_div(l.i * a, b), c));
    std::set<std::int64_t> values;
    for (std::int64_t i = 0; i < extent; ++i) values.insert(value(i));
    const std::int64_t found = sum.terms.empty() ? 1 : sum.terms[0].values(extent);
    if (a == 1 || b % a == 0 || a % b == 0)
      EXPECT_EQ(found, static_cast<std::int64_t>(values.size())) << a << ' ' << b << ' ' << c << ' ' << extent;
    else
      EXPECT_GE(found * 2 + 1, static_cast<std::int64_t>(values.size())) << a << ' ' << b << ' ' << c << ' ' << extent;
  }
}

TEST(IndexTerms, ALoadedIndexMovesWithItsLoops) {
  const Loops l;
  const Expr table = ir::buffer("table", ir::kI64, std::vector<std::int64_t>{8});
  const IndexSum sum = l.sum(load(table, {l.j}) + l.k);
  ASSERT_EQ(sum.terms.size(), 2u);
  EXPECT_EQ(sum.terms[0].loop, 1);
}

}  // namespace
}  // namespace hone::cost
