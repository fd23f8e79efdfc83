#include "hone/search/annealer.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "hone/space/candidate.h"

namespace hone::search {
namespace {

/// A candidate beside this one: one decision is made anew, and the sketch counts as a decision.
Candidate step_from(const Space& space, const Candidate& candidate, Rng& rng) {
  const std::size_t sketches = space.sketches().size();
  if (sketches > 1 && rng.uniform(0, static_cast<std::int64_t>(candidate.choices.size())) == 0)
    return space::random_candidate(space, rng);
  return space::mutate(space, candidate, rng);
}

}  // namespace

double acceptance(double change, double temperature) {
  return std::min(1.0, std::exp(std::min(change / (temperature + 1e-5), 1.0)));
}

bool Annealer::score_all(const std::vector<Candidate>& candidates, Score score) {
  std::set<Candidate> missing;
  for (const Candidate& candidate : candidates)
    if (!scores_.contains(candidate)) missing.insert(candidate);
  if (missing.empty()) return true;
  const std::vector<Candidate> asked(missing.begin(), missing.end());
  const std::vector<double> found = score(asked);
  if (found.empty()) return false;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    scores_.emplace(asked[i], found[i]);
    if (!std::isfinite(found[i])) continue;
    lowest_ = std::min(lowest_, found[i]);
    highest_ = std::max(highest_, found[i]);
  }
  return true;
}

std::vector<Scored> Annealer::find_best(std::size_t count, Score score, FunctionRef<bool(const Candidate&)> is_excluded,
                                        Rng& rng) {
  scores_.clear();  // the scorer may have learned
  lowest_ = std::numeric_limits<double>::infinity();
  highest_ = -lowest_;
  while (points_.size() < std::min<std::uint64_t>(options_.chains, space::size_of(space_)))
    points_.push_back(space::random_candidate(space_, rng));
  if (!score_all(points_, score)) return {};

  Ranking ranking(count);
  const auto offer = [&](const Candidate& candidate) {
    return !is_excluded(candidate) && ranking.offer(candidate, scores_.at(candidate));
  };
  for (const Candidate& point : points_) offer(point);

  std::size_t last_change = 0;
  for (std::size_t k = 0; k < options_.steps && k < last_change + options_.patience; ++k) {
    const double temperature = 1 - static_cast<double>(k) / static_cast<double>(options_.steps + 1);
    std::vector<Candidate> next;
    for (const Candidate& point : points_) next.push_back(step_from(space_, point, rng));
    if (!score_all(next, score)) break;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double before = scores_.at(points_[i]), after = scores_.at(next[i]);
      const double draw = rng.unit();  // drawn in any case: what follows does not depend on scores that are equal
      if (offer(next[i])) last_change = k;
      if (after >= before || draw < acceptance((after - before) / spread(), temperature)) points_[i] = next[i];
    }
  }
  return ranking.best();
}

std::vector<Candidate> choose_diverse(const std::vector<Scored>& candidates, std::size_t count, double weight) {
  std::vector<const Scored*> left;
  for (const Scored& scored : candidates) left.push_back(&scored);
  std::set<std::tuple<std::size_t, std::size_t, std::size_t>> covered;  // sketch, knob, choice
  std::vector<Candidate> chosen;
  while (chosen.size() < count && !left.empty()) {
    const auto gain = [&](const Scored* scored) {
      const Candidate& candidate = scored->candidate;
      std::size_t fresh = 0;
      for (std::size_t i = 0; i < candidate.choices.size(); ++i)
        fresh += !covered.contains({candidate.sketch, i, candidate.choices[i]});
      return scored->score + weight * static_cast<double>(fresh);
    };
    auto best = left.begin();
    double best_gain = gain(*best);
    for (auto it = left.begin() + 1; it != left.end(); ++it)
      if (const double found = gain(*it); found > best_gain) {
        best = it;
        best_gain = found;
      }
    const Candidate& candidate = (*best)->candidate;
    for (std::size_t i = 0; i < candidate.choices.size(); ++i)
      covered.insert({candidate.sketch, i, candidate.choices[i]});
    chosen.push_back(candidate);
    left.erase(best);
  }
  return chosen;
}

}  // namespace hone::search
