// Ansor's evolutionary search (arXiv 2006.06762, section 5): a population of random and of fast candidates is evolved
// for a few generations by the scorer; the best of all generations are tried, with some random ones among them. What
// looked good and was not tried yet is in the next population.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "hone/search/history.h"
#include "hone/search/mutation.h"
#include "hone/search/ranking.h"
#include "hone/search/searches.h"
#include "hone/space/candidate.h"

namespace hone::search {
namespace {

using Population = std::vector<Candidate>;

class Evolutionary : public HistorySearch {
 public:
  Evolutionary(const Space& space, SearchSetup setup)
      : HistorySearch(space, std::move(setup)), mutator_(space, setup_.options.evolutionary.tile_mutation) {}

 private:
  const EvolutionaryOptions& options() const { return setup_.options.evolutionary; }

  void propose(Population& batch, std::size_t count) override {
    const std::size_t wanted = count - batch.size();
    const auto random = static_cast<std::size_t>(setup_.options.epsilon * static_cast<double>(wanted));
    const std::size_t chosen = count - random;
    population_ = std::min(options().population, std::max(kSmallest, options().per_trial * wanted));
    Population population = first_population();
    if (score_new(population))
      evolve(std::move(population), batch, chosen);
    else
      breed_measured(batch, chosen);
    propose_random(batch, count);
  }

  Population first_population() {
    const std::uint64_t size = space::size_of(space_);
    std::set<Candidate> members;
    if (size <= options().population) {
      for (std::uint64_t i = 0; i < size; ++i) members.insert(space::candidate_at(space_, i));
    } else {
      for (std::size_t i = 0; i < population_; ++i) members.insert(space::random_candidate(space_, rng_));
      for (const Trial& trial : history_.fastest(share_of(population_))) members.insert(trial.candidate);
      members.insert(untried_.begin(), untried_.end());
    }
    scores_.clear();  // the scorer may have learned
    return {members.begin(), members.end()};
  }

  std::size_t share_of(std::size_t count) const {
    return static_cast<std::size_t>(std::ceil(options().measured_share * static_cast<double>(count)));
  }

  /// Scores what this round has not scored yet. False if nothing is known of any.
  bool score_new(const Population& population) {
    std::set<Candidate> missing;
    for (const Candidate& candidate : population)
      if (!scores_.contains(candidate)) missing.insert(candidate);
    const Population asked(missing.begin(), missing.end());
    const std::vector<double> found = score(asked);
    for (std::size_t i = 0; i < found.size(); ++i) scores_.emplace(asked[i], found[i]);
    return asked.empty() || !found.empty();
  }

  void evolve(Population population, Population& batch, std::size_t chosen) {
    // More than are tried now: some may turn out to be programs that were tried, others wait for the next round.
    Ranking ranking(4 * chosen);
    for (std::size_t generation = 0;; ++generation) {
      for (const Candidate& candidate : population)
        if (!history_.is_taken(candidate)) ranking.offer(candidate, scores_.at(candidate));
      if (generation == options().generations) break;
      population = next_population(population);
      if (!score_new(population)) break;
    }
    untried_.clear();
    for (const Scored& scored : ranking.best())
      if (batch.size() == chosen)
        untried_.push_back(scored.candidate);
      else if (history_.take(scored.candidate))
        batch.push_back(scored.candidate);
  }

  Population next_population(const Population& population) {
    // Weights count from the lowest score, so that any scale of scores will do.
    double lowest = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : population)
      if (const double value = scores_.at(candidate); std::isfinite(value)) lowest = std::min(lowest, value);
    if (std::isinf(lowest)) return {};
    std::vector<double> weights;
    for (const Candidate& candidate : population) {
      const double value = scores_.at(candidate);
      weights.push_back(std::isfinite(value) ? value - lowest : 0);
    }
    const Roulette roulette(weights);
    Population next;
    while (next.size() < population_) {
      const Candidate& parent = population[roulette.spin(rng_)];
      Candidate child = rng_.chance(options().crossover) ? cross_with_any(parent, population, roulette) : parent;
      next.push_back(rng_.chance(options().mutation) ? mutator_.mutate(child, rng_) : std::move(child));
    }
    return next;
  }

  Candidate cross_with_any(const Candidate& parent, const Population& population, const Roulette& roulette) {
    for (int i = 0; i < kTries; ++i)
      if (const Candidate& other = population[roulette.spin(rng_)]; other.sketch == parent.sketch && other != parent)
        return space::cross(space_, parent, other, rng_);
    return parent;
  }

  /// Without scores, the children of the fastest candidates are as good a guess as any. Before anything is measured,
  /// half of the batch are children of what is tried first anyway, which is better than most of what can be drawn.
  void breed_measured(Population& batch, std::size_t chosen) {
    const std::vector<Trial> parents = history_.fastest(share_of(history_.told().size()));
    Population population;
    std::vector<double> weights;
    for (const Trial& parent : parents) {
      population.push_back(parent.candidate);
      weights.push_back(parents.front().outcome.seconds / parent.outcome.seconds);
    }
    if (parents.empty()) {
      population = setup_.starts;
      weights.assign(population.size(), 1);
      chosen = batch.size() + (chosen - std::min(chosen, batch.size())) / 2;
    }
    if (population.empty()) return;
    const Roulette roulette(weights);
    int misses = 0;
    while (batch.size() < chosen && misses < kTries) {
      const Candidate& parent = population[roulette.spin(rng_)];
      const Candidate child = mutator_.mutate(
          rng_.chance(options().crossover) ? cross_with_any(parent, population, roulette) : parent, rng_);
      const bool is_new = history_.take(child);
      misses = is_new ? 0 : misses + 1;
      if (is_new) batch.push_back(child);
    }
  }

  static constexpr std::size_t kSmallest = 32;  // with fewer, generations are all alike

  Mutator mutator_;
  std::size_t population_ = kSmallest;  // of this round
  std::map<Candidate, double> scores_;  // of this round
  Population untried_;                  // of the last round, the best that were left over
};

}  // namespace

std::unique_ptr<Search> evolutionary_search(const Space& space, SearchSetup setup) {
  return std::make_unique<Evolutionary>(space, std::move(setup));
}

}  // namespace hone::search
