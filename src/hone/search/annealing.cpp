// AutoTVM's model-guided search (arXiv 1805.08166): candidates are planned a few dozen at a time by simulated annealing
// on the scorer, with some random ones among them.

#include <algorithm>
#include <cmath>

#include "hone/search/annealer.h"
#include "hone/search/history.h"
#include "hone/search/searches.h"

namespace hone::search {
namespace {

class Annealing : public HistorySearch {
 public:
  Annealing(const Space& space, SearchSetup setup)
      : HistorySearch(space, std::move(setup)), annealer_(space, setup_.options.annealing) {}

 private:
  void propose(std::vector<Candidate>& batch, std::size_t count) override {
    while (batch.size() < count) {
      if (plan_.empty() && random_ == 0) make_plan();
      if (!plan_.empty()) {
        if (history_.take(plan_.back())) batch.push_back(plan_.back());
        plan_.pop_back();
        continue;
      }
      if (random_ == 0) break;  // nothing is known yet, or all that the chains meet was tried
      const std::size_t before = batch.size();
      propose_random(batch, std::min(count, before + random_));
      if (batch.size() == before) return;
      random_ -= batch.size() - before;
    }
    propose_random(batch, count);
  }

  void make_plan() {
    const AnnealingOptions& options = setup_.options.annealing;
    const auto wanted = static_cast<std::size_t>(static_cast<double>(options.plan) * options.diversity_ratio);
    std::vector<Scored> found = annealer_.find_best(
        wanted, [this](std::span<const Candidate> candidates) { return score(candidates); },
        [this](const Candidate& candidate) { return history_.is_taken(candidate); }, rng_);
    if (found.empty()) return;
    for (Scored& scored : found) scored.score /= annealer_.spread();
    random_ = static_cast<std::size_t>(setup_.options.epsilon * static_cast<double>(options.plan));
    plan_ = choose_diverse(found, options.plan - random_, options.diversity_weight);
    std::reverse(plan_.begin(), plan_.end());
  }

  Annealer annealer_;
  std::vector<Candidate> plan_;  // the next one last
  std::size_t random_ = 0;       // candidates of this plan that are still to be drawn
};

}  // namespace

std::unique_ptr<Search> annealing_search(const Space& space, SearchSetup setup) {
  return std::make_unique<Annealing>(space, std::move(setup));
}

}  // namespace hone::search
