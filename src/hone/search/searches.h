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

/// Children of the fastest candidates, by AutoTVM's genetic algorithm.
std::unique_ptr<Search> genetic_search(const Space& space, SearchSetup setup);
/// What simulated annealing on the scorer finds, as AutoTVM does it.
std::unique_ptr<Search> annealing_search(const Space& space, SearchSetup setup);
/// What evolution by the scorer finds, as Ansor does it.
std::unique_ptr<Search> evolutionary_search(const Space& space, SearchSetup setup);
/// From neighbour to better neighbour. Descends from the first start, or from the first candidate of
/// the space; what is known to be faster takes its place.
std::unique_ptr<Search> droplet_search(const Space& space, SearchSetup setup);

}  // namespace hone::search
