/// The kernels of a compiled model, numbered, with the steps that call them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "hone/runtime/plan.h"

namespace hone::command {

/// A step as it is shown.
struct StepInfo {
  std::string kernel;  ///< "k1", "k2", …: steps with the same code have the same; "host": a function of the runtime
  std::string output;  ///< the type and shape of what it writes (first), "?" if only a run can tell
};

/// The steps of all plans.
std::map<const runtime::Step*, StepInfo> describe_steps(std::span<const runtime::Plan* const> plans);

}  // namespace hone::command
