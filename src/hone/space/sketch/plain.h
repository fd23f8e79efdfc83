/// Blocks that are not tiled: where they are computed, and how their loops run.
#pragma once

#include "hone/space/sketch/rules.h"

namespace hone::space {

/// The action for a block whose elements are used once or made from few. Its knobs say where it is computed (`where`: 0
/// at the root, 1 where it is read, from 2 on at a loop of what reads it), how a sum is cut into partial sums (`sums`:
/// none, [1, n] n lanes, [2, n] n parts that run in parallel), and how many outer loops run in parallel.
Action plain_action(const Program& program, const std::string& block, const RuleContext& context);

}  // namespace hone::space
