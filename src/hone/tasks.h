/// The tasks of a model: what its kernels compute.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hone/space/space.h"

namespace hone {

namespace runtime {
struct Step;
}

/// A task of a model, and how much it matters there.
struct TaskUse {
  std::shared_ptr<const space::Task> task;
  std::string name;                              ///< the operators: "Conv+Relu"
  std::int64_t uses = 0;                         ///< kernel calls in one run
  std::vector<const runtime::Step*> steps = {};  ///< that call it; valid as long as the session
};

}  // namespace hone
