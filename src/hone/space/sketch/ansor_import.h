/// Ansor's steps done to a program of ours.
#pragma once

#include "hone/space/sketch/ansor_steps.h"
#include "hone/space/space.h"

namespace hone::space::ansor {

/// What became of constant inputs when a record was measured; the numbers are those of records.
enum class LayoutRewrite : std::uint8_t {
  None,
  Insert,         ///< stored in the order in which the loops read them, by a stage of its own
  PreTransformed  ///< the same ahead of time
};

/// The schedule of a task that does what the steps do to the same computation in Ansor. Ansor keeps the loops of a
/// stage when it moves the stage, with smaller extents; our primitives make new loops. So a stage is moved first, and
/// its loops are split, reordered and fused afterwards, stage by stage from the last to the first.
///
/// The error is that of the first step that does not fit the task (another number of stages, iterators or extents), or
/// that our primitives do not express; it names the step.
Result<schedule::Schedule> import_steps(const Task& task, const Steps& steps, LayoutRewrite rewrite);

}  // namespace hone::space::ansor
