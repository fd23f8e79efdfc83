/// Sums of cost tables over variables with few options each, and how they are minimised.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hone::graph {

/// What each combination of options of some variables costs; the last variable's option counts fastest.
struct CostTable {
  std::vector<std::size_t> variables;  ///< each once
  std::vector<double> costs;
};

/// One option for each variable.
struct CheapestChoice {
  std::vector<std::size_t> options;
  double cost = 0;
  std::size_t guessed = 0;  ///< variables that were fixed by what they cost by themselves: 0 if no choice is cheaper
};

/// The cost of a choice: the sum of its entries.
double cost_of(std::span<const CostTable> tables, std::span<const std::size_t> option_counts,
               std::span<const std::size_t> options);

/// Chooses so that the sum of all tables is least. Variables are eliminated one after the other (dynamic programming):
/// those whose neighbours have the fewest combinations first, each replaced by a table of the best that it can do for
/// every combination. Where all of these would have more than `most_entries` entries, a variable with the most
/// neighbours is guessed: it gets the option that is cheapest if every table that knows it is free to choose the rest.
/// Guesses are revised at the end, one variable at a time, as long as that helps. Of equal choices the first option
/// counts.
CheapestChoice find_cheapest(std::span<const std::size_t> option_counts, std::span<const CostTable> tables,
                             std::size_t most_entries = std::size_t{1} << 12);

}  // namespace hone::graph
