/// A block to be tiled for a GPU, taken apart: what the parts of gpu_tile_action share.
#pragma once

#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "hone/space/sketch/factors.h"
#include "hone/space/sketch/rules.h"
#include "hone/space/sketch/tiling.h"

namespace hone::space {

/// The levels of a spatial axis below a block's tile, which are the places of their factors.
enum GpuLevel : std::size_t { kVirtual, kThread, kOuter, kInner, kGpuSpatialLevels };
/// The levels of a reduction below the outermost.
inline constexpr std::size_t kGpuReductionLevels = 2;

/// See above.
struct GpuTiling {
  std::string block;
  std::optional<std::string> consumer;
  Tiles tiles = Tiles::Hardware;
  std::vector<NaiveLoop> axes, reduced;  ///< of more than one iteration
  Names single, single_reduced;          ///< loops of one iteration
  std::string written;
  bool is_local = false;  ///< the sums are in registers already
  codegen::Target target;
  int words = 1;  ///< registers of an element

  std::string knob(std::string_view what) const { return fmt::format("{}.{}", block, what); }
  std::int64_t space() const {
    std::int64_t elements = 1;
    for (const NaiveLoop& axis : axes) elements *= axis.extent;
    return elements;
  }
  /// Whether blocks must have whole warps; only tiny results do with less.
  bool needs_warps() const { return space() > 2 * target.gpu.warp; }
};

/// What is to be decided. Tiles that divide the extents have a knob for each axis, with a factor for each level. Those
/// for the hardware have one for each level, with a power of two for each axis: then most combinations are within the
/// limits, which are about all axes together.
Knobs gpu_knobs_of(const GpuTiling& tiling);

/// The factors of a spatial axis that were decided, one a level.
Factors gpu_factors_of(const GpuTiling& tiling, std::size_t axis, const Building& building);

}  // namespace hone::space
