/// The rules that derive sketches for GPUs, in Ansor's order (arXiv 2006.06762, and its source).
///
/// Beside blocks, inputs are visited, after all blocks: what tiled blocks read of them goes through shared memory. An
/// input is known to rules as "input " and its name.
#pragma once

#include "hone/space/sketch/rules.h"

namespace hone::space {

/// add cache read, special compute location, always inline, simplify const tensor, cross thread reduction, add cache
/// write, tile with fusion, tile, skip.
std::vector<Rule> gpu_rules();

/// What a derivation visits before the first block, that is last: the parameters that are read and not written.
std::vector<std::string> inputs_to_visit(const ir::Function& naive);

}  // namespace hone::space
