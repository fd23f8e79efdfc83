/// The stages that Ansor sees in a naive program.
#pragma once

#include <string>
#include <vector>

#include "hone/ir/equal.h"
#include "hone/schedule/trace.h"

namespace hone::space::ansor {

/// What Ansor numbers: an input, or a block that computes a buffer.
struct Stage {
  std::string block;   ///< empty for an input
  std::string buffer;  ///< the input, or what the block writes
};

/// The stages of a naive program in Ansor's order: each behind what it reads, and otherwise as a walk from the results
/// meets them, what a block reads first last.
std::vector<Stage> stages_of(const schedule::Program& naive);

/// The first buffer that a block writes; empty if there is no such block.
std::string written_by(const schedule::Program& program, const std::string& block);

/// Applies a step that makes one more block, and gives its name.
Result<std::string> apply_making_block(schedule::Schedule& schedule, const schedule::Step& step);

/// Programs that differ in nothing but loops that run once, and in the order of the conditions of a block, have one
/// identity: Ansor makes no difference there.
ir::Hash128 identity(const schedule::Program& program);

}  // namespace hone::space::ansor
