/// A schedule of ours in Ansor's steps.
#pragma once

#include "hone/space/sketch/ansor_import.h"

namespace hone::space::ansor {

/// The steps, and what they assume of constant inputs.
struct Exported {
  Steps steps;
  LayoutRewrite rewrite = LayoutRewrite::None;
};

/// What a trace does to the direct algorithm of a task, as Ansor's steps. Those that Ansor has no step for are an error
/// that names the primitive. What is given was imported again, and led to the same program.
Result<Exported> export_steps(const Task& task, const schedule::Trace& trace);

}  // namespace hone::space::ansor
