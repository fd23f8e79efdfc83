/// Tiles that fit the registers, whatever the extents divide into.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/space/blocks.h"
#include "hone/space/sketch/factors.h"

namespace hone::space {

/// Tiles to choose from, each a factor for each axis.
struct RegisterTiles {
  std::vector<Factors> options;  ///< at least one, ascending
  std::size_t best = 0;          ///< the one that wastes and loads least
  double cost = 1;               ///< of the best: about the time by the time that nothing but multiply-adds would take
  std::uint64_t too_large = 0;   ///< tiles left out because the registers do not hold them
  std::uint64_t too_slow = 0;    ///< tiles left out because they waste or load far more than the best
};

/// Tiles of the spatial axes of a block whose elements, and what is needed to add to them, fit the target's vector
/// registers; axis `vector_axis` runs in lanes of `bits` bits. Those that waste or load far more than the best are left
/// out.
RegisterTiles register_tiles(const std::vector<NaiveLoop>& axes, std::size_t vector_axis,
                             const std::vector<Read>& reads, const codegen::Target& target, int bits);

}  // namespace hone::space
