/// The numbers that searches can be tuned with; the defaults are those of the published systems.
#pragma once

#include <cstddef>

#include "hone/support/result.h"

namespace hone::search {

/// AutoTVM's genetic algorithm.
struct GeneticOptions {
  std::size_t population = 100;
  std::size_t elites = 3;
  double mutation = 0.1;  ///< probability, for each decision
};

/// AutoTVM's simulated annealing on the scorer.
struct AnnealingOptions {
  std::size_t plan = 64;  ///< candidates chosen at a time
  std::size_t chains = 128;
  std::size_t steps = 500;
  std::size_t patience = 50;       ///< steps without a new candidate among the best, after which chains stop
  double diversity_ratio = 2;      ///< the plan is chosen among so many times its size; 1: simply the best
  double diversity_weight = 0.02;  ///< what a new decision counts, in units of the spread of scores
};

/// Ansor's evolutionary search. A published population takes longer to build and score than the trials that come of it
/// take to measure here; a smaller one that keeps what it could not try yet finds as much.
struct EvolutionaryOptions {
  std::size_t population = 2048;  ///< at most
  std::size_t per_trial = 8;      ///< candidates of a population for each one that is to be tried
  std::size_t generations = 4;
  double mutation = 0.85;
  double tile_mutation = 0.9;   ///< share of mutations that move a factor within a tile
  double crossover = 0;         ///< share of children with two parents, each stage from one of them
  double measured_share = 0.2;  ///< of the first population, at most
};

/// Which neighbours Droplet Search visits.
enum class DropletMoves {
  Coordinates,  ///< one decision at a time, up and down
  Diagonals,    ///< the same, then pairs of decisions by one place each
  Published,    ///< every subset of decisions in one direction, the largest first; beyond the top it starts at 0 again
};

/// Droplet Search.
struct DropletOptions {
  DropletMoves moves = DropletMoves::Diagonals;
  std::size_t widest = 0;        ///< the last radius to try without a better neighbour; 0: whatever the space has
  std::size_t trials = 0;        ///< at most so many; 0: no limit
  std::size_t patience = 0;      ///< trials without a better neighbour after which it ends; 0: no limit
  double significance = 0.05;    ///< the p-value below which a difference is no noise
  double smallest_gain = 0.005;  ///< a relative gain below this is none
  std::size_t samples = 3;       ///< a candidate with fewer never replaces one that runs
};

struct Options {
  double epsilon = 0.05;  ///< share of random candidates in what a scorer chooses
  GeneticOptions genetic = {};
  AnnealingOptions annealing = {};
  EvolutionaryOptions evolutionary = {};
  DropletOptions droplet = {};
};

/// An error that names the first number outside of its range.
Result<void> check(const Options& options);

}  // namespace hone::search
