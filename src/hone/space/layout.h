/// Blocked layouts within a program: blocks run along the axes in which their tensors are stored.
#pragma once

#include "hone/space/blocks.h"

namespace hone::space {

/// A layout with axis 1 in blocks as an index map: "(d0, d1, d2, d3) -> (d0, d1 // 16, d2, d3, d1 % 16)".
std::string blocked_map(std::size_t rank, std::int64_t block);

/// Where a parameter is stored with an axis in blocks (`x[n, c // 16, y, x, c % 16]`), stores what is computed from it
/// or into it the same way, and splits the variables of blocks along it, so that each block has a variable for the
/// lanes. The loops must be the naive ones; what cannot be changed stays.
void follow_layouts(Schedule& draft);

/// Stores sums of products with weights (at the places `constants` among the parameters) with their channels in blocks,
/// in a tensor of their own, where vectors along the last axis would not be loaded as they stand in memory, as in a
/// convolution with steps, or would stay half empty. What reads the sums puts them in order.
void sum_in_lanes(Schedule& draft, std::span<const std::size_t> constants, const codegen::Target& target);

/// The variable pair that follow_layouts made of a block's channels: the outer one and the lanes. The lanes are the
/// last spatial loop.
struct Lanes {
  NaiveLoop outer, inner;
};
std::optional<Lanes> lanes_of(const std::vector<NaiveLoop>& loops);

}  // namespace hone::space
