/// The neighbours of a point of a grid, in the order in which Droplet Search visits them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hone/search/options.h"

namespace hone::search {

/// A place on each axis.
using Position = std::vector<std::size_t>;

/// Walks around a centre, in rings of growing radius. Positions are made one by one: a ring can have millions.
class DropletWalk {
 public:
  /// `widest`: the last radius; 0: as far as the longest axis goes. `near`: positions that belong to the first ring as
  /// well, and come at its end; the published moves leave them out.
  DropletWalk(std::vector<std::size_t> dims, Position centre, DropletMoves moves, std::size_t widest,
              std::vector<Position> near = {});

  /// The next position; nothing after the last one. Some may come twice; the published moves also come back to the
  /// centre.
  std::optional<Position> next();

 private:
  std::optional<Position> next_coordinate();
  std::optional<Position> next_pair();
  std::optional<Position> next_subset();
  /// Moves on one axis; false beyond its ends.
  bool shift(Position& position, std::size_t axis, bool is_up, std::size_t by) const;

  std::vector<std::size_t> dims_;
  Position centre_;
  DropletMoves moves_;
  std::size_t widest_;
  std::vector<Position> near_;  // the next one last
  std::size_t radius_ = 1;
  std::uint64_t step_ = 0;                          // within the ring
  std::size_t first_ = 0, second_ = 1, signs_ = 0;  // of the next pair
};

}  // namespace hone::search
