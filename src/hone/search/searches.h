/// One constructor for each search; make_search (search.h) finds them by name.
#pragma once

#include "hone/search/search.h"

namespace hone::search {

/// Any candidate, each equally likely.
std::unique_ptr<Search> random_search(const Space& space, SearchSetup setup);
/// All candidates by their numbers.
std::unique_ptr<Search> grid_search(const Space& space, SearchSetup setup);
/// All candidates, those with the highest scores first.
std::unique_ptr<Search> exhaustive_search(const Space& space, SearchSetup setup);

}  // namespace hone::search
