/// Boosted trees that score programs as Ansor's model does: the score is the sum of what they say of each store.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/cost/boosted_trees.h"

namespace hone::cost {

/// Programs as the features of their stores: program p has the rows from first[p] to first[p + 1].
struct StoreRows {
  Matrix rows = {};
  std::vector<std::uint32_t> first = {0};

  std::size_t programs() const { return first.size() - 1; }
};

/// Fits trees to the labels of programs, which lie in [0, 1]. With `margins`, trees say what is missing to them.
Result<BoostedTrees> fit_store_trees(const StoreRows& programs, std::span<const float> labels,
                                     std::span<const float> margins, std::uint64_t seed);

/// What trees say of each program.
Result<std::vector<double>> sum_store_trees(const BoostedTrees& trees, const StoreRows& programs);

}  // namespace hone::cost
