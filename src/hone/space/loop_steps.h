/// What schedules of several spaces do to the loops around a block.
#pragma once

#include <string>
#include <vector>

#include "hone/space/blocks.h"

namespace hone::space {

/// Splits a loop around `block` (see schedule::split) and gives the new loops, outermost first.
Result<std::vector<std::string>> split_loop(Schedule& draft, const std::string& block, const std::string& loop,
                                            const std::vector<std::int64_t>& factors);

/// Splits a loop of a block so that level i + 1 has `factors[i]` iterations and level 0 the rest. Levels of one
/// iteration get no loop: the result has a name for each level, or "".
Result<std::vector<std::string>> split_levels(Schedule& draft, const std::string& block, const std::string& loop,
                                              const std::vector<std::int64_t>& factors);

/// Puts the innermost loop around a block that has several iterations into vectors, if that is legal, and writes out
/// the ones between it and `outer` (a loop, or "" for all), as long as there are few copies. Blocks that reduce are
/// left alone.
Result<void> vectorize_innermost(Schedule& draft, const std::string& block, const std::string& outer);

/// Lets the loops of a nest, outermost first, run in parallel, as one. Nothing if there are no iterations to share.
Result<void> run_parallel(Schedule& draft, std::vector<std::string> loops);

/// Stores a buffer in the order in which the loops around `block` read it; see reading_order.h.
Result<void> store_in_reading_order(Schedule& draft, const std::string& block, const std::string& buffer);

/// Makes a copy of a buffer for `block` to read, and gives the copy's name.
Result<std::string> copy_operand(Schedule& draft, const std::string& block, const std::string& buffer,
                                 ir::Scope scope = ir::Scope::Global);
/// Makes the copy below `loop` ("": where it is), in the order in which `block` reads it, in vectors; gives the block
/// that does.
Result<std::string> place_copy(Schedule& draft, const std::string& block, const std::string& copy,
                               const std::string& loop);

}  // namespace hone::space
