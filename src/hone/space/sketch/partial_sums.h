/// Sums cut into partial sums (by rfactor), for lanes or for workers.
#pragma once

#include "hone/space/sketch/rules.h"

namespace hone::space {

/// Cuts a sum into `width` partial sums, which are added in the end.
Result<void> cut_into_lanes(Building& building, const std::string& block, std::int64_t width);
/// Adds up the partial sums of cut_into_lanes side by side, where the block now is.
Result<void> sum_in_lanes(Building& building, const std::string& block);

/// Whether neighbours in memory belong to one sum, or to neighbouring ones.
enum class Vectors : std::uint8_t { AlongSum, AlongSpace };

/// Adds up `parts` partial sums in parallel, each in vectors.
Result<void> sum_in_parts(Building& building, const std::string& block, std::int64_t parts, std::int64_t lanes,
                          Vectors vectors);

}  // namespace hone::space
