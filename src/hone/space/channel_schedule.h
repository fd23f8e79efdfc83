/// Default schedules of reductions over tensors in blocked layout: convolutions and pooling.
#pragma once

#include <span>
#include <string>

#include "hone/space/blocks.h"
#include "hone/space/tile_choice.h"

namespace hone::space {

/// Tiles a reduction whose result has its channels in lanes: a row of positions times a few vectors of channels in
/// registers, the reduction loops around them, weights at the places `constants` among the parameters packed in the
/// order in which they are read. False if nothing was done.
bool tile_channels(Schedule& draft, const std::string& block, std::span<const std::size_t> constants,
                   const codegen::Target& target, const TileChoice& choice = {});

}  // namespace hone::space
