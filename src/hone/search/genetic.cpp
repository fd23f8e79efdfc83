// AutoTVM's genetic algorithm (arXiv 1805.08166, as its code has it), with two changes: no candidate is tried twice,
// and the next generation does not wait for members that are never told.

#include <algorithm>
#include <set>

#include "hone/search/history.h"
#include "hone/search/ranking.h"
#include "hone/search/searches.h"

namespace hone::search {
namespace {

class Genetic : public HistorySearch {
 public:
  using HistorySearch::HistorySearch;

 private:
  const GeneticOptions& options() const { return setup_.options.genetic; }

  void propose(std::vector<Candidate>& batch, std::size_t count) override {
    while (batch.size() < count) {
      if (generation_.empty()) breed();
      if (generation_.empty()) return;
      batch.push_back(std::move(generation_.back()));
      generation_.pop_back();
    }
  }

  void breed() {
    const std::vector<Trial> parents = choose_parents();
    if (parents.size() < 2) {
      propose_random(generation_, options().population);
    } else {
      std::vector<double> weights;
      for (const Trial& parent : parents)
        weights.push_back((parent.outcome.is_ok() ? fastest_seconds_ / parent.outcome.seconds : 0) + 1e-8);
      const Roulette roulette(weights);
      while (generation_.size() < options().population) {
        std::optional<Candidate> child = new_child(parents, roulette);
        if (!child) child = history_.take_random(rng_);
        if (!child) break;
        generation_.push_back(*std::move(child));
      }
    }
    std::reverse(generation_.begin(), generation_.end());  // the next one last
  }

  /// What was told since the last generation, and the fastest of all. None as long as too little is told.
  std::vector<Trial> choose_parents() {
    if (history_.told().size() < (options().population + 1) / 2) return {};
    std::vector<Trial> parents = history_.fastest(options().elites);
    fastest_seconds_ = parents.empty() ? 1 : parents.front().outcome.seconds;
    std::set<Candidate> elites;
    for (const Trial& elite : parents) elites.insert(elite.candidate);
    for (const auto& [candidate, outcome] : history_.told())
      if (used_.insert(candidate).second && !elites.contains(candidate)) parents.push_back({candidate, outcome});
    return parents;
  }

  std::optional<Candidate> new_child(const std::vector<Trial>& parents, const Roulette& roulette) {
    for (int i = 0; i < kTries; ++i) {
      const std::size_t first = roulette.spin(rng_), second = partner(parents, roulette, first);
      Candidate child = cross_at_a_point(parents[first].candidate, parents[second].candidate);
      mutate_genes(child);
      if (history_.take(child)) return child;
    }
    return std::nullopt;
  }

  /// Another parent of the same sketch; the same one if there seems to be none.
  std::size_t partner(const std::vector<Trial>& parents, const Roulette& roulette, std::size_t first) {
    for (int i = 0; i < kTries; ++i)
      if (const std::size_t second = roulette.spin(rng_);
          second != first && parents[second].candidate.sketch == parents[first].candidate.sketch)
        return second;
    return first;
  }

  Candidate cross_at_a_point(const Candidate& a, const Candidate& b) {
    Candidate child = a;
    const auto knobs = static_cast<std::int64_t>(child.choices.size());
    if (knobs == 0) return child;
    const auto point = rng_.uniform(0, knobs - 1);
    std::copy(b.choices.begin() + point, b.choices.end(), child.choices.begin() + point);
    return child;
  }

  void mutate_genes(Candidate& child) {
    const std::vector<space::Knob>& knobs = space_.sketches()[child.sketch].knobs;
    for (std::size_t i = 0; i < knobs.size(); ++i)
      if (rng_.chance(options().mutation))
        child.choices[i] =
            static_cast<std::size_t>(rng_.uniform(0, static_cast<std::int64_t>(knobs[i].options.size()) - 1));
  }

  std::vector<Candidate> generation_;  // not asked for yet
  std::set<Candidate> used_;           // as parents, but for elites
  double fastest_seconds_ = 1;
};

}  // namespace

std::unique_ptr<Search> genetic_search(const Space& space, SearchSetup setup) {
  return std::make_unique<Genetic>(space, std::move(setup));
}

}  // namespace hone::search
