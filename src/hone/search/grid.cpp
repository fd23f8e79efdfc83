#include "hone/search/history.h"
#include "hone/search/searches.h"
#include "hone/space/candidate.h"

namespace hone::search {
namespace {

class Grid : public HistorySearch {
 public:
  using HistorySearch::HistorySearch;

 private:
  void propose(std::vector<Candidate>& batch, std::size_t count) override {
    for (; batch.size() < count && next_ < space::size_of(space_); ++next_)
      if (Candidate candidate = space::candidate_at(space_, next_); history_.take(candidate))
        batch.push_back(std::move(candidate));
  }

  std::uint64_t next_ = 0;
};

}  // namespace

std::unique_ptr<Search> grid_search(const Space& space, SearchSetup setup) {
  return std::make_unique<Grid>(space, std::move(setup));
}

}  // namespace hone::search
