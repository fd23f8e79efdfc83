/// A schedule of ours in Ansor's steps.
#pragma once

#include "hone/space/sketch/ansor_import.h"

namespace hone::space::ansor {

/// The steps, and what they assume of constant inputs.
struct Exported {
  Steps steps;
  LayoutRewrite rewrite = LayoutRewrite::None;
};

/// What a trace does to the direct algorithm of a task, as Ansor's steps. A consumer that follows tiles becomes one
/// that is split like its producer, which is computed at it. What Ansor has no step for is an error that names the
/// primitive: layouts of anything but constants, and sums in lanes. What is given was imported again, and led to the
/// same program (see identity).
Result<Exported> export_steps(const Task& task, const schedule::Trace& trace);

}  // namespace hone::space::ansor
