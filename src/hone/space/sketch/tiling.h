/// A block to be tiled, taken apart: what the parts of tile_action share.
#pragma once

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "hone/space/sketch/factors.h"
#include "hone/space/sketch/rules.h"
#include "hone/space/sketch/tile.h"

namespace hone::space {

using Names = std::vector<std::string>;

/// Orders of the axes within a level.
enum Order : std::int64_t { kNatural, kVectorsOutside, kVectorsInside };

/// Where a copy of an operand is made: not at all, before everything, or at the end of a level of loops.
enum Copy : std::int64_t { kNoCopy, kBefore, kAtLevel };

/// See above.
struct Tiling {
  TilePlan plan;
  Tiles tiles = Tiles::Hardware;
  std::vector<NaiveLoop> axes, reduced;  ///< of more than one iteration
  Names single, single_reduced;          ///< loops of one iteration
  std::vector<Read> reads;
  std::size_t vector_axis = 0;
  std::vector<bool> is_vector_side;  ///< for each axis: only what is read in vectors moves with it
  Names constants, copied;           ///< operands to pack, and those that may be copied
  bool runs_parallel = false;
  std::int64_t registers = 16, lanes = 1;  ///< vector registers of the target, and elements in each

  std::size_t spatial_levels() const {
    return static_cast<std::size_t>(std::count(plan.structure.begin(), plan.structure.end(), 'S'));
  }
  std::size_t reduction_levels() const {
    return static_cast<std::size_t>(std::count(plan.structure.begin(), plan.structure.end(), 'R'));
  }
  /// Whether something that is read is the same for all lanes.
  bool is_product() const {
    return std::any_of(reads.begin(), reads.end(), [&](const Read& r) { return !r.uses(axes[vector_axis]); });
  }
  std::string knob(std::string_view what) const { return fmt::format("{}.{}", plan.block, what); }
};

/// Knobs, and what to choose for each when nothing is known.
struct Knobs {
  std::vector<Knob> knobs;
  std::vector<std::size_t> first;
  std::vector<std::vector<std::size_t>> others;  ///< see Action
  double cost = 1;                               ///< see Action
  std::vector<LeftOut> left_out;

  void leave_out(std::uint64_t count, std::string what, std::string reason) {
    if (count > 0) left_out.push_back({count, std::move(what), std::move(reason)});
  }
  void add(std::string name, std::vector<Factors> options, std::size_t first_choice = 0) {
    knobs.push_back({std::move(name), std::move(options)});
    first.push_back(first_choice);
  }
};

/// What is to be decided when this block is tiled.
Knobs knobs_of(const Tiling& tiling, const codegen::Target& target);

/// Tiles the block as was decided, and lets its consumer follow.
Result<void> build_tiles(const Tiling& tiling, Building& building);
/// Runs the outermost loops in parallel: as many as were decided, of those that stand there.
Result<void> run_tiles_parallel(const Tiling& tiling, Building& building);

}  // namespace hone::space
