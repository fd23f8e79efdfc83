/// What actions do again and again while a candidate is built.
#pragma once

#include <string>
#include <vector>

#include "hone/space/sketch/rules.h"

namespace hone::space {

/// Splits a loop around `block` (see schedule::split) and gives the new loops, outermost first.
Result<std::vector<std::string>> split_loop(Building& building, const std::string& block, const std::string& loop,
                                            const std::vector<std::int64_t>& factors);

/// Puts the innermost loop around a block that has several iterations into vectors, if that is legal, and writes out
/// the ones between it and `outer` (a loop, or "" for all), as long as there are few copies. Blocks that reduce are
/// left alone.
Result<void> vectorize_innermost(Building& building, const std::string& block, const std::string& outer);

/// Lets the first `count` loops of a nest run in parallel, as one. Nothing if there are no iterations to share.
Result<void> run_parallel(Building& building, std::vector<std::string> loops);

}  // namespace hone::space
