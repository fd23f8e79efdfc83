#include "hone/graph/cost_tables.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "hone/support/rng.h"

namespace hone::graph {
namespace {

struct CostProblem {
  std::vector<std::size_t> counts;
  std::vector<CostTable> tables;
};

/// A few tables of one to three of the variables; costs are small integers, so that ties are common and sums exact.
CostProblem random_problem(Rng& rng, std::int64_t variables, std::int64_t tables) {
  CostProblem problem;
  for (std::int64_t i = 0; i < variables; ++i) problem.counts.push_back(static_cast<std::size_t>(rng.uniform(1, 3)));
  for (std::int64_t t = 0; t < tables; ++t) {
    CostTable table;
    std::size_t entries = 1;
    for (std::int64_t i = rng.uniform(1, 3); i > 0; --i) {
      const auto v = static_cast<std::size_t>(rng.uniform(0, variables - 1));
      if (std::find(table.variables.begin(), table.variables.end(), v) != table.variables.end()) continue;
      table.variables.push_back(v);
      entries *= problem.counts[v];
    }
    for (std::size_t i = 0; i < entries; ++i) table.costs.push_back(static_cast<double>(rng.uniform(0, 9)));
    problem.tables.push_back(std::move(table));
  }
  return problem;
}

double least_by_trying_all(const CostProblem& problem) {
  std::vector<std::size_t> options(problem.counts.size(), 0);
  double least = 1e30;
  for (bool is_done = false; !is_done;) {
    least = std::min(least, cost_of(problem.tables, problem.counts, options));
    is_done = true;
    for (std::size_t v = 0; is_done && v < options.size(); ++v) {
      is_done = ++options[v] == problem.counts[v];
      if (is_done) options[v] = 0;
    }
  }
  return least;
}

TEST(CostTables, TheSumIsTheLeastOfAllChoices) {
  Rng rng(/*seed=*/1);
  for (int trial = 0; trial < 300; ++trial) {
    const CostProblem problem = random_problem(rng, rng.uniform(1, 8), rng.uniform(0, 14));
    const CheapestChoice found = find_cheapest(problem.counts, problem.tables);
    EXPECT_EQ(found.guessed, 0U);
    EXPECT_EQ(found.cost, least_by_trying_all(problem)) << "trial " << trial;
    EXPECT_EQ(found.cost, cost_of(problem.tables, problem.counts, found.options));
  }
}

TEST(CostTables, GuessesGiveAChoiceThatNoSingleChangeImproves) {
  Rng rng(/*seed=*/2);
  int guessing = 0, optimal = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const CostProblem problem = random_problem(rng, 8, 20);
    const CheapestChoice found = find_cheapest(problem.counts, problem.tables, /*most_entries=*/3);
    const double least = least_by_trying_all(problem);
    EXPECT_GE(found.cost, least);
    guessing += found.guessed > 0 ? 1 : 0;
    optimal += found.cost == least ? 1 : 0;
    for (std::size_t v = 0; v < problem.counts.size(); ++v) {
      ASSERT_LT(found.options[v], problem.counts[v]);
      std::vector<std::size_t> other = found.options;
      for (other[v] = 0; other[v] < problem.counts[v]; ++other[v])
        EXPECT_GE(cost_of(problem.tables, problem.counts, other), found.cost);
    }
  }
  EXPECT_GT(guessing, 100);
  EXPECT_GT(optimal, 100);
}

TEST(CostTables, OfEqualChoicesTheFirstOptionCounts) {
  const std::vector<std::size_t> counts = {3, 2, 2};
  const std::vector<CostTable> tables = {{{0, 1}, {1, 1, 1, 1, 1, 1}}};
  EXPECT_EQ(find_cheapest(counts, tables).options, (std::vector<std::size_t>{0, 0, 0}));
  EXPECT_EQ(find_cheapest(counts, tables, /*most_entries=*/0).options, (std::vector<std::size_t>{0, 0, 0}));
}

TEST(CostTables, ChainsAndRingsOfThousandsAreExact) {
  // Each variable would like to be 1, but differing from the neighbour costs more than that is worth; the first is 0.
  const std::size_t n = 3000;
  const std::vector<std::size_t> counts(n, 2);
  std::vector<CostTable> tables = {{{0}, {0, 10000}}};
  for (std::size_t v = 0; v < n; ++v) {
    tables.push_back({{v}, {1, 0}});
    tables.push_back({{v, (v + 1) % n}, {0, 2000, 2000, 0}});
  }
  const CheapestChoice found = find_cheapest(counts, tables);
  EXPECT_EQ(found.guessed, 0U);
  EXPECT_EQ(found.cost, 3000);
  EXPECT_EQ(std::count(found.options.begin(), found.options.end(), 0U), static_cast<std::ptrdiff_t>(n));
}

TEST(CostTables, NothingToChooseCostsWhatTheTablesSay) {
  EXPECT_EQ(find_cheapest({}, {}).cost, 0);
  const std::vector<std::size_t> counts = {1};
  const std::vector<CostTable> tables = {{{0}, {7}}, {{}, {2}}};
  EXPECT_EQ(find_cheapest(counts, tables).cost, 9);
}

}  // namespace
}  // namespace hone::graph
