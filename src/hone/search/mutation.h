/// Ansor's mutations, for any space: a factor moves within a tile, or another decision is made anew; and which tiles
/// are near each other.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "hone/space/space.h"
#include "hone/support/rng.h"

namespace hone::search {

/// The options of a knob to which this one comes by moving a factor from one of its numbers to another, or between one
/// of them and what the tile leaves over: from [4, 2] to [2, 4], [8, 1], [4, 4] and [4, 1] among others.
std::vector<std::size_t> tile_moves(const space::Knob& knob, std::size_t option);

/// The options beside this one in a knob whose options are lists of several numbers, which no list can have side by
/// side: the next above and below in each number, the others being the same, and those that come of moving the smallest
/// factor there is from one number to another. None for other knobs.
std::vector<std::size_t> near_options(const space::Knob& knob, std::size_t option);

/// Changes one decision of a candidate.
class Mutator {
 public:
  /// `tile_share` of all mutations are on knobs whose options are lists of several numbers, if there are both kinds.
  Mutator(const space::Space& space, double tile_share);

  /// The same candidate if there is nothing to decide.
  space::Candidate mutate(const space::Candidate& candidate, Rng& rng);

 private:
  const std::vector<std::size_t>& moves(const space::Candidate& candidate, std::size_t knob);

  /// The knobs of a sketch with more than one option.
  struct Open {
    std::vector<std::size_t> tiles, others;
  };

  const space::Space& space_;
  double tile_share_;
  std::vector<Open> open_;  // of each sketch
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::vector<std::size_t>> moves_;
};

}  // namespace hone::search
