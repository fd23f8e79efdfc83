/// Choosing by score: the best few of many candidates, and draws in which higher scores are likelier.
#pragma once

#include <set>
#include <vector>

#include "hone/space/space.h"
#include "hone/support/rng.h"

namespace hone::search {

struct Scored {
  space::Candidate candidate;
  double score = 0;
};

/// Keeps the best of all candidates it is offered, each once.
class Ranking {
 public:
  explicit Ranking(std::size_t size) : size_(size) {}

  /// Whether the candidate is now among the best. One that cannot be built (minus infinity) never is.
  bool offer(const space::Candidate& candidate, double score);
  /// Best first.
  std::vector<Scored> best() const;

 private:
  struct Worse {
    bool operator()(const Scored& a, const Scored& b) const;
  };

  std::size_t size_;
  std::set<Scored, Worse> kept_;  // the worst first
};

/// Draws places in a list, each with a probability in proportion to its weight; evenly if all weights are 0.
class Roulette {
 public:
  /// Weights must not be negative, and there must be one.
  explicit Roulette(const std::vector<double>& weights);

  std::size_t spin(Rng& rng) const;

 private:
  std::vector<double> sums_;
};

}  // namespace hone::search
