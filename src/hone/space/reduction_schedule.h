/// Default schedules of blocks that reduce: register tiles for products, lanes along the reduction for rows.
#pragma once

#include <span>
#include <string>

#include "hone/space/blocks.h"

namespace hone::space {

/// Tiles the reduction for vector registers: vectors along the last axis, rows of another axis that reuses what they
/// load, both unrolled, and the reduction loops around them. Constants at the places `constants` among the parameters
/// may be packed. False if nothing was done.
bool tile_for_registers(Program& program, const std::string& block, std::span<const std::size_t> constants,
                        const codegen::Target& target);

/// Reduces rows: as many partial results as a vector has lanes, along the innermost reduction loop. False if nothing
/// was done.
bool reduce_rows(Program& program, const std::string& block, const codegen::Target& target);

}  // namespace hone::space
