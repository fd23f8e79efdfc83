#include <algorithm>
#include <numeric>
#include <utility>

#include "hone/search/history.h"
#include "hone/search/searches.h"
#include "hone/space/candidate.h"

namespace hone::search {
namespace {

/// So many candidates are ranked at a time: larger spaces are searched part by part.
constexpr std::size_t kRanked = 1 << 16;

/// So many are ranked anew each time, by what the scorer has learned since.
constexpr std::size_t kRankedAnew = 4096;

class Exhaustive : public HistorySearch {
 public:
  using HistorySearch::HistorySearch;

 private:
  void propose(std::vector<Candidate>& batch, std::size_t count) override {
    bool is_ranked = false;
    while (batch.size() < count) {
      if (waiting_.empty()) {
        list_more();
        if (waiting_.empty()) return;
        is_new_ = true;
      }
      if (is_new_ || (!is_ranked && waiting_.size() <= kRankedAnew)) rank();
      is_ranked = true;
      Candidate candidate = std::move(waiting_.back());
      waiting_.pop_back();
      if (history_.take(candidate)) batch.push_back(std::move(candidate));
    }
  }

  void list_more() {
    for (const std::uint64_t size = space::size_of(space_); waiting_.size() < kRanked && next_ < size; ++next_)
      if (Candidate candidate = space::candidate_at(space_, next_); !history_.is_taken(candidate))
        waiting_.push_back(std::move(candidate));
    std::reverse(waiting_.begin(), waiting_.end());
  }

  /// Puts the candidates with the highest scores last, where they are taken from.
  void rank() {
    const std::vector<double> scores = score(waiting_);
    is_new_ = false;
    if (scores.empty()) return;
    std::vector<std::size_t> order(waiting_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return std::pair(scores[a], a) < std::pair(scores[b], b); });
    std::vector<Candidate> sorted;
    sorted.reserve(order.size());
    for (const std::size_t i : order) sorted.push_back(std::move(waiting_[i]));
    waiting_ = std::move(sorted);
  }

  std::uint64_t next_ = 0;
  std::vector<Candidate> waiting_;  // the next one last
  bool is_new_ = false;             // and not ranked yet
};

}  // namespace

std::unique_ptr<Search> exhaustive_search(const Space& space, SearchSetup setup) {
  return std::make_unique<Exhaustive>(space, std::move(setup));
}

}  // namespace hone::search
