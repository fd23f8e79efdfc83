#include "hone/search/ranking.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "hone/support/error.h"

namespace hone::search {

bool Ranking::Worse::operator()(const Scored& a, const Scored& b) const {
  return std::tie(a.score, b.candidate) < std::tie(b.score, a.candidate);
}

bool Ranking::offer(const space::Candidate& candidate, double score) {
  if (size_ == 0 || !(score > -std::numeric_limits<double>::infinity())) return false;
  if (kept_.size() == size_ && !(score > kept_.begin()->score)) return false;
  if (!kept_.insert({candidate, score}).second) return false;
  if (kept_.size() > size_) kept_.erase(kept_.begin());
  return true;
}

std::vector<Scored> Ranking::best() const { return {kept_.rbegin(), kept_.rend()}; }

Roulette::Roulette(const std::vector<double>& weights) {
  HONE_CHECK(!weights.empty(), "nothing to draw from");
  double sum = 0;
  for (const double weight : weights) {
    HONE_CHECK(weight >= 0, "a weight of {}", weight);
    sums_.push_back(sum += weight);
  }
}

std::size_t Roulette::spin(Rng& rng) const {
  const auto last = static_cast<std::int64_t>(sums_.size()) - 1;
  if (!(sums_.back() > 0)) return static_cast<std::size_t>(rng.uniform(0, last));
  const auto found = std::upper_bound(sums_.begin(), sums_.end(), rng.unit() * sums_.back());
  return static_cast<std::size_t>(std::min<std::int64_t>(found - sums_.begin(), last));
}

}  // namespace hone::search
