#include "hone/search/history.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "hone/space/candidate.h"

namespace hone::search {
namespace {

/// Larger spaces are not listed.
constexpr std::uint64_t kListed = std::uint64_t{1} << 20;

/// A draw that misses so often in a row means that little is left, or that most programs are alike. Where nothing can
/// be listed, it is the end.
constexpr int kMisses = 100, kMissesUnlisted = 2000;

void shuffle(std::vector<std::uint64_t>& numbers, Rng& rng) {
  for (std::size_t i = numbers.size(); i > 1; --i)
    std::swap(numbers[i - 1], numbers[static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(i) - 1))]);
}

}  // namespace

bool has_neighbours(const Space& space, const Candidate& candidate) {
  return space::size_of(space.sketches()[candidate.sketch]) > 1;
}

History::History(const Space& space, Canonical canonical, const std::vector<Trial>& known)
    : space_(space), canonical_(std::move(canonical)) {
  for (const Trial& trial : known) tell(trial.candidate, trial.outcome);
}

bool History::is_valid(const Candidate& candidate) const {
  if (candidate.sketch >= space_.sketches().size()) return false;
  const std::vector<space::Knob>& knobs = space_.sketches()[candidate.sketch].knobs;
  if (candidate.choices.size() != knobs.size()) return false;
  for (std::size_t i = 0; i < knobs.size(); ++i)
    if (candidate.choices[i] >= knobs[i].options.size()) return false;
  return true;
}

bool History::take(const Candidate& candidate) {
  HONE_CHECK(is_valid(candidate), "a candidate of another space");
  return taken_.insert(candidate).second && (!canonical_ || programs_.insert(canonical_(candidate)).second);
}

std::optional<Candidate> History::take_random(Rng& rng) {
  const std::uint64_t size = space::size_of(space_);
  const int misses = size <= kListed ? kMisses : kMissesUnlisted;
  for (int miss = 0; !rest_ && miss < misses; ++miss)
    if (Candidate candidate = space::random_candidate(space_, rng); take(candidate)) return candidate;
  if (!rest_) {
    rest_.emplace();
    for (std::uint64_t i = 0; size <= kListed && i < size; ++i)
      if (!is_taken(space::candidate_at(space_, i))) rest_->push_back(i);
    shuffle(*rest_, rng);
  }
  while (!rest_->empty()) {
    Candidate candidate = space::candidate_at(space_, rest_->back());
    rest_->pop_back();
    if (take(candidate)) return candidate;
  }
  return std::nullopt;
}

void History::tell(const Candidate& candidate, Outcome outcome) {
  take(candidate);
  if (!outcome.is_ok()) outcome.seconds = std::numeric_limits<double>::infinity();  // not NaN, which has no order
  told_.insert_or_assign(candidate, std::move(outcome));
}

std::optional<Candidate> History::best() const {
  const std::vector<Trial> first = fastest(1);
  return first.empty() ? std::nullopt : std::optional(first.front().candidate);
}

std::vector<Trial> History::fastest(std::size_t count) const {
  std::vector<const std::pair<const Candidate, Outcome>*> ran;
  for (const auto& entry : told_)
    if (entry.second.is_ok()) ran.push_back(&entry);
  count = std::min(count, ran.size());
  std::partial_sort(ran.begin(), ran.begin() + static_cast<std::ptrdiff_t>(count), ran.end(),
                    [](const auto* a, const auto* b) {
                      return std::tie(a->second.seconds, a->first) < std::tie(b->second.seconds, b->first);
                    });
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < count; ++i) trials.push_back({ran[i]->first, ran[i]->second});
  return trials;
}

HistorySearch::HistorySearch(const Space& space, SearchSetup setup)
    : space_(space), setup_(std::move(setup)), rng_(setup_.seed), history_(space, setup_.canonical, setup_.known) {}

std::vector<Candidate> HistorySearch::ask(std::size_t count) {
  std::vector<Candidate> batch;
  for (const Candidate& start : setup_.starts)
    if (batch.size() < count && history_.take(start)) batch.push_back(start);
  if (batch.size() < count) propose(batch, count);
  return batch;
}

void HistorySearch::propose_random(std::vector<Candidate>& batch, std::size_t count) {
  while (batch.size() < count) {
    std::optional<Candidate> candidate = history_.take_random(rng_);
    if (!candidate) return;
    batch.push_back(*std::move(candidate));
  }
}

std::vector<double> HistorySearch::score(std::span<const Candidate> candidates) const {
  if (!setup_.scorer || candidates.empty()) return {};
  std::vector<double> scores = setup_.scorer(candidates);
  HONE_CHECK(scores.empty() || scores.size() == candidates.size(), "{} scores for {} candidates", scores.size(),
             candidates.size());
  for (double& value : scores)
    if (std::isnan(value)) value = -std::numeric_limits<double>::infinity();
  return scores;
}

}  // namespace hone::search
