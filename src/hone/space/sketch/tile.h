/// Multi-level tiling of one block, with what follows each tile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/space/sketch/analysis.h"
#include "hone/space/sketch/rules.h"

namespace hone::space {

/// How a block is tiled. The structure says what the levels run over, outermost first: all spatial axes (S) or all
/// reduction axes (R), each axis split into as many parts as there are such levels.
struct TilePlan {
  std::string block;
  std::string structure;                ///< "SSRSRS" where elements are read again, "SRS" where not
  std::string vector_loop;              ///< the spatial loop that runs in lanes
  std::optional<std::string> consumer;  ///< what follows each tile, element by element
};

/// The spatial loops that can run in lanes, the last one first: all that is read along them stands side by side, or can
/// be brought to.
std::vector<std::string> vector_loops(const Program& program, const std::string& block, const RuleContext& context);

/// The action that tiles a block, whose loops are the naive ones.
Action tile_action(const Program& program, const TilePlan& plan, const RuleContext& context);

}  // namespace hone::space
