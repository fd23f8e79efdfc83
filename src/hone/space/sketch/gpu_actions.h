/// What becomes of blocks on a GPU: the actions of gpu_rules.h.
#pragma once

#include <optional>
#include <string>

#include "hone/space/sketch/rules.h"

namespace hone::space {

/// The block is a kernel of its own, one element a thread; a knob says how many threads a block has, and for reductions
/// another how much is written out.
Action gpu_plain_action(const Program& program, const std::string& block, const RuleContext& context);

/// Tiles a block with structure SSSRRSRS: a block's tiles, virtual threads, threads, two levels of reductions, and
/// tiles in registers around the third. Its elementwise consumer follows below the threads.
Action gpu_tile_action(const Program& program, const std::string& block, const std::optional<std::string>& consumer,
                       const RuleContext& context);

/// Fills the shared copy of what a tiled block reads, below the outermost of its reductions, all threads together.
Action gpu_fetch_action(const std::string& copy, const std::string& reader);

/// Rows of a block that reads sums: one row, the first `common` axes, is a block of threads.
Action gpu_rows_action(const Program& program, const std::string& block, std::size_t common,
                       const RuleContext& context);
/// The name of the knob that says how many threads a row has.
std::string gpu_rows_knob(const std::string& block);

/// Lets the threads of a block share the sum of one element. They leave it in the rows of `consumer`, if there is one,
/// which a gpu_rows_action has made.
Action gpu_cross_thread_action(const Program& program, const std::string& block,
                               const std::optional<std::string>& consumer, const RuleContext& context);

/// A block whose formula depends on the value of some variables (the points of Winograd's transforms): these are
/// written out in each thread.
Action gpu_transform_action(const std::string& block, const RuleContext& context);

/// Computes a block in each thread of a block that gpu_transform_action is about, outside of what is written out.
Action gpu_in_thread_action(const std::string& block, const std::string& consumer);

}  // namespace hone::space
