#include "hone/search/history.h"
#include "hone/search/searches.h"

namespace hone::search {
namespace {

class Random : public HistorySearch {
 public:
  using HistorySearch::HistorySearch;

 private:
  void propose(std::vector<Candidate>& batch, std::size_t count) override { propose_random(batch, count); }
};

}  // namespace

std::unique_ptr<Search> random_search(const Space& space, SearchSetup setup) {
  return std::make_unique<Random>(space, std::move(setup));
}

}  // namespace hone::search
