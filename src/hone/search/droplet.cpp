// Droplet Search (arXiv 2406.20037 and the AutoTVM tuner before it): descends from one candidate to better neighbours.
// Other than published: one decision at a time comes first, decisions do not wrap around, tiles have neighbours in each
// of their numbers, and a neighbour must be better by more than noise.

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "hone/measure/statistics.h"
#include "hone/search/droplet_walk.h"
#include "hone/search/history.h"
#include "hone/search/mutation.h"
#include "hone/search/searches.h"
#include "hone/space/candidate.h"

namespace hone::search {
namespace {

/// Whether what a challenger took is so much less that chance does not explain it.
bool is_faster(const Outcome& challenger, const Outcome& incumbent, const DropletOptions& options) {
  if (!challenger.is_ok()) return false;
  if (!incumbent.is_ok()) return true;
  if (challenger.seconds > incumbent.seconds * (1 - options.smallest_gain)) return false;
  if (challenger.samples.size() < options.samples) return false;
  // Of a candidate from elsewhere only the fastest sample may be known; it must not stay for ever because of that.
  if (incumbent.samples.size() < options.samples) return true;
  return measure::mean(challenger.samples) < measure::mean(incumbent.samples) &&
         measure::welch_p_value(challenger.samples, incumbent.samples) <= options.significance;
}

/// Where to begin: at the first candidate of the setup, or else of the space, that has neighbours.
Candidate start_of(const Space& space, const std::vector<Candidate>& starts) {
  const Candidate first = starts.empty() ? space.first() : starts.front();
  const auto find = [&](const std::vector<Candidate>& all) -> std::optional<Candidate> {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& c) { return has_neighbours(space, c); });
    return found == all.end() ? std::nullopt : std::optional(*found);
  };
  if (const std::optional<Candidate> start = find(starts)) return *start;
  if (has_neighbours(space, space.first())) return space.first();
  if (const std::optional<Candidate> start = find(space.starts())) return *start;
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < space.sketches().size(); ++i)
    all.push_back({i, Position(space.sketches()[i].knobs.size(), 0)});
  return find(all).value_or(first);
}

class Droplet : public HistorySearch {
 public:
  Droplet(const Space& space, SearchSetup setup)
      : HistorySearch(space, std::move(setup)), start_(start_of(space, setup_.starts)) {
    consider_all();
  }

  void tell(const Candidate& candidate, Outcome outcome) override {
    HistorySearch::tell(candidate, std::move(outcome));
    consider(candidate);
    if (candidate == incumbent_) consider_all();  // it may have become slower
  }

  std::optional<Candidate> best() const override { return fastest(alone_, winner()); }

 private:
  const DropletOptions& options() const { return setup_.options.droplet; }

  void consider(const Candidate& candidate) {
    (has_neighbours(space_, candidate) ? challengers_ : alone_).insert(candidate);
  }
  void consider_all() {
    for (const auto& [candidate, outcome] : history_.told()) consider(candidate);
  }

  void propose(std::vector<Candidate>& batch, std::size_t count) override {
    const std::optional<Candidate> next = winner();
    challengers_.clear();
    if (!walk_ || next != incumbent_) {
      incumbent_ = next;
      asked_around_ = 0;
      walk_from(next ? *next : start_);
    }
    const auto is_over = [&] {
      return (options().trials != 0 && asked_ >= options().trials) ||
             (options().patience != 0 && asked_around_ >= options().patience);
    };
    if (batch.size() < count && !is_over() && history_.take(centre_)) add(centre_, batch);
    while (batch.size() < count && !is_over()) {
      std::optional<Position> position = walk_->next();
      if (!position) return;
      if (const Candidate candidate{centre_.sketch, *std::move(position)}; history_.take(candidate))
        add(candidate, batch);
    }
  }

  void add(const Candidate& candidate, std::vector<Candidate>& batch) {
    batch.push_back(candidate);
    ++asked_;
    ++asked_around_;
  }

  double seconds(const Candidate& candidate) const { return history_.told().at(candidate).seconds; }

  /// Where to walk next. The start is the first incumbent if it has run.
  std::optional<Candidate> winner() const {
    const bool has_started = challengers_.contains(start_) && std::isfinite(seconds(start_));
    return fastest(challengers_, !incumbent_ && has_started ? start_ : incumbent_);
  }

  /// The fastest challenger that beats the incumbent, or the incumbent.
  std::optional<Candidate> fastest(const std::set<Candidate>& challengers, std::optional<Candidate> incumbent) const {
    std::vector<Candidate> order(challengers.begin(), challengers.end());
    std::sort(order.begin(), order.end(), [&](const Candidate& a, const Candidate& b) {
      return seconds(a) != seconds(b) ? seconds(a) < seconds(b) : a < b;
    });
    const Outcome before = incumbent ? history_.told().at(*incumbent) : Outcome{};
    for (const Candidate& challenger : order)
      if (challenger != incumbent && is_faster(history_.told().at(challenger), before, options())) return challenger;
    return incumbent;
  }

  void walk_from(const Candidate& centre) {
    centre_ = centre;
    std::vector<std::size_t> dims;
    std::vector<Position> near;
    for (const space::Knob& knob : space_.sketches()[centre.sketch].knobs) {
      const std::size_t axis = dims.size();
      dims.push_back(knob.options.size());
      for (const std::size_t option : near_options(knob, centre.choices[axis])) {
        near.push_back(centre.choices);
        near.back()[axis] = option;
      }
    }
    walk_.emplace(std::move(dims), centre.choices, options().moves, options().widest, std::move(near));
  }

  const Candidate start_;
  std::optional<Candidate> incumbent_;        // none as long as none has run
  std::set<Candidate> challengers_;           // told since the incumbent was chosen
  std::set<Candidate> alone_;                 // told, without neighbours: one may be best, but leads nowhere
  Candidate centre_;                          // the incumbent, or where to begin
  std::optional<DropletWalk> walk_;           // around the centre
  std::size_t asked_ = 0, asked_around_ = 0;  // in all, and around the centre
};

}  // namespace

std::unique_ptr<Search> droplet_search(const Space& space, SearchSetup setup) {
  return std::make_unique<Droplet>(space, std::move(setup));
}

}  // namespace hone::search
