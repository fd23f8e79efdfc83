/// Default schedules of blocks that reduce: register tiles for products, lanes along the reduction for rows.
#pragma once

#include <span>
#include <string>

#include "hone/space/blocks.h"
#include "hone/space/tile_choice.h"

namespace hone::space {

/// Tiles the reduction for vector registers: vectors along the last axis, rows of another axis that reuses what they
/// load, both unrolled, and the reduction loops around them. Constants at the places `constants` among the parameters
/// may be packed. False if nothing was done.
bool tile_for_registers(Schedule& draft, const std::string& block, std::span<const std::size_t> constants,
                        const codegen::Target& target, const TileChoice& choice = {});

/// Reduces rows: as many partial results as a vector has lanes, along the innermost reduction loop. False if nothing
/// was done.
bool reduce_rows(Schedule& draft, const std::string& block, const codegen::Target& target);

}  // namespace hone::space
