/// The order in which a block reads a buffer, as a layout for it.
#pragma once

#include <optional>
#include <string>

#include "hone/space/blocks.h"

namespace hone::space {

/// The index map that stores the elements of `buffer` in the order in which the loops around `block` read them:
/// "(d0, d1) -> (d1 // 16, d0, d1 % 16)". Nothing if the block reads it in several ways, or it is in that order
/// already.
std::optional<std::string> reading_order(const Program& program, const std::string& block, const ir::Expr& buffer);

}  // namespace hone::space
