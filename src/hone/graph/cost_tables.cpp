#include "hone/graph/cost_tables.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "hone/support/error.h"

namespace hone::graph {
namespace {

/// Counts through all combinations of options of some variables, the last one fastest.
class Combinations {
 public:
  Combinations(std::span<const std::size_t> variables, std::span<const std::size_t> counts)
      : variables_(variables), counts_(counts) {}

  /// Sets `options` of the variables to combination 0.
  void start(std::vector<std::size_t>& options) const {
    for (const std::size_t v : variables_) options[v] = 0;
  }
  /// Goes on to the next combination.
  void advance(std::vector<std::size_t>& options) const {
    for (std::size_t i = variables_.size(); i-- > 0;) {
      if (++options[variables_[i]] < counts_[variables_[i]]) return;
      options[variables_[i]] = 0;
    }
  }

 private:
  std::span<const std::size_t> variables_, counts_;
};

double entry(const CostTable& table, std::span<const std::size_t> counts, std::span<const std::size_t> options) {
  std::size_t place = 0;
  for (const std::size_t v : table.variables) place = place * counts[v] + options[v];
  return table.costs[place];
}

/// How a variable follows from those that were still there when it was eliminated.
struct Eliminated {
  std::size_t variable;
  std::vector<std::size_t> neighbours;
  std::vector<std::size_t> best;  ///< its option for each combination of the neighbours'
};

class Elimination {
 public:
  Elimination(std::span<const std::size_t> counts, std::span<const CostTable> tables, std::size_t most_entries)
      : counts_(counts),
        most_entries_(most_entries),
        tables_of_(counts.size()),
        neighbours_(counts.size()),
        entries_(counts.size(), 1),
        options_(counts.size(), 0) {
    for (std::size_t v = 0; v < counts.size(); ++v) left_.emplace(1, v);
    for (const CostTable& table : tables) add(table);
  }

  CheapestChoice run() {
    while (!left_.empty()) {
      if (const auto [entries, v] = *left_.begin(); entries <= static_cast<double>(most_entries_)) {
        eliminate(v);
        continue;
      }
      guess(std::max_element(left_.begin(), left_.end(), [&](const Entries& a, const Entries& b) {
              return neighbours_[a.second].size() < neighbours_[b.second].size();
            })->second);
    }
    for (std::size_t i = order_.size(); i-- > 0;) {
      const Eliminated& e = order_[i];
      std::size_t place = 0;
      for (const std::size_t n : e.neighbours) place = place * counts_[n] + options_[n];
      options_[e.variable] = e.best[place];
    }
    return {std::move(options_), 0, guessed_};
  }

 private:
  /// How many entries the table has that would take the place of a variable (a double: they are many for a hub), and
  /// which one.
  using Entries = std::pair<double, std::size_t>;

  void connect(const std::vector<std::size_t>& variables) {
    for (const std::size_t a : variables)
      for (const std::size_t b : variables)
        if (a != b) neighbours_[a].insert(b);
    for (const std::size_t v : variables) count_entries(v);
  }

  void count_entries(std::size_t v) {
    left_.erase({entries_[v], v});
    entries_[v] = 1;
    for (const std::size_t n : neighbours_[v]) entries_[v] *= static_cast<double>(counts_[n]);
    left_.emplace(entries_[v], v);
  }

  void add(CostTable table) {
    if (table.variables.empty()) return;
    for (const std::size_t v : table.variables) tables_of_[v].push_back(tables_.size());
    connect(table.variables);
    tables_.push_back(std::move(table));
  }

  /// The tables that know a variable, which are no longer there then.
  std::vector<CostTable> take_tables_of(std::size_t v) {
    std::vector<CostTable> taken;
    for (const std::size_t t : tables_of_[v])
      if (!tables_[t].variables.empty()) taken.push_back(std::exchange(tables_[t], {}));
    return taken;
  }

  void forget(std::size_t v) {
    left_.erase({entries_[v], v});
    for (const std::size_t n : neighbours_[v]) {
      neighbours_[n].erase(v);
      count_entries(n);
    }
    neighbours_[v].clear();
  }

  /// Replaces a variable by the least that its tables cost for each combination of its neighbours.
  void eliminate(std::size_t v) {
    const std::vector<CostTable> known = take_tables_of(v);
    Eliminated made{v, {neighbours_[v].begin(), neighbours_[v].end()}, {}};
    CostTable rest{made.neighbours, {}};
    const Combinations all(made.neighbours, counts_);
    const auto entries = static_cast<std::size_t>(entries_[v]);
    all.start(options_);
    for (std::size_t i = 0; i < entries; ++i, all.advance(options_)) {
      std::size_t best = 0;
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t option = 0; option < counts_[v]; ++option) {
        options_[v] = option;
        double sum = 0;
        for (const CostTable& table : known) sum += entry(table, counts_, options_);
        if (sum >= least) continue;
        least = sum;
        best = option;
      }
      made.best.push_back(best);
      rest.costs.push_back(least);
    }
    forget(v);
    add(std::move(rest));
    order_.push_back(std::move(made));
  }

  /// Fixes a variable, and takes it out of its tables.
  void guess(std::size_t v) {
    const std::vector<CostTable> known = take_tables_of(v);
    std::vector<double> hopes(counts_[v], 0);
    for (const CostTable& table : known) {
      std::vector<double> least(counts_[v], std::numeric_limits<double>::infinity());
      const Combinations all(table.variables, counts_);
      all.start(options_);
      for (const double cost : table.costs) {
        least[options_[v]] = std::min(least[options_[v]], cost);
        all.advance(options_);
      }
      for (std::size_t option = 0; option < counts_[v]; ++option) hopes[option] += least[option];
    }
    const auto best = static_cast<std::size_t>(std::min_element(hopes.begin(), hopes.end()) - hopes.begin());
    std::vector<CostTable> rests;
    for (const CostTable& table : known) {
      CostTable rest;
      for (const std::size_t variable : table.variables)
        if (variable != v) rest.variables.push_back(variable);
      const Combinations all(table.variables, counts_);
      all.start(options_);
      for (const double cost : table.costs) {
        if (options_[v] == best) rest.costs.push_back(cost);
        all.advance(options_);
      }
      rests.push_back(std::move(rest));
    }
    forget(v);
    for (CostTable& rest : rests) add(std::move(rest));
    order_.push_back({v, {}, {best}});
    ++guessed_;
  }

  std::span<const std::size_t> counts_;
  std::size_t most_entries_;
  std::vector<CostTable> tables_;                    ///< those that are gone are empty
  std::vector<std::vector<std::size_t>> tables_of_;  ///< that know or knew each variable
  std::vector<std::set<std::size_t>> neighbours_;    ///< that share a table with each variable
  std::vector<double> entries_;
  std::set<Entries> left_;  ///< variables that are neither eliminated nor guessed
  std::vector<std::size_t> options_;
  std::vector<Eliminated> order_;
  std::size_t guessed_ = 0;
};

/// Changes one variable at a time to what is cheapest beside the others, until nothing is gained.
void descend(std::span<const std::size_t> counts, std::span<const CostTable> tables,
             std::vector<std::size_t>& options) {
  std::vector<std::vector<std::size_t>> tables_of(counts.size());
  for (std::size_t t = 0; t < tables.size(); ++t)
    for (const std::size_t v : tables[t].variables) tables_of[v].push_back(t);
  constexpr int kMostRounds = 100;
  for (int round = 0; round < kMostRounds; ++round) {
    bool is_changed = false;
    for (std::size_t v = 0; v < counts.size(); ++v) {
      const std::size_t before = options[v];
      std::vector<double> sums(counts[v], 0);
      for (options[v] = 0; options[v] < counts[v]; ++options[v])
        for (const std::size_t t : tables_of[v]) sums[options[v]] += entry(tables[t], counts, options);
      const auto best = static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
      options[v] = sums[best] < sums[before] ? best : before;
      is_changed |= options[v] != before;
    }
    if (!is_changed) return;
  }
}

}  // namespace

double cost_of(std::span<const CostTable> tables, std::span<const std::size_t> option_counts,
               std::span<const std::size_t> options) {
  double sum = 0;
  for (const CostTable& table : tables) sum += entry(table, option_counts, options);
  return sum;
}

CheapestChoice find_cheapest(std::span<const std::size_t> option_counts, std::span<const CostTable> tables,
                             std::size_t most_entries) {
  for (const CostTable& table : tables) {
    std::size_t entries = 1;
    for (const std::size_t v : table.variables) entries *= option_counts[v];
    HONE_CHECK(entries == table.costs.size(), "a cost table has an entry for each combination");
  }
  CheapestChoice choice = Elimination(option_counts, tables, most_entries).run();
  if (choice.guessed > 0) descend(option_counts, tables, choice.options);
  choice.cost = cost_of(tables, option_counts, choice.options);
  return choice;
}

}  // namespace hone::graph
