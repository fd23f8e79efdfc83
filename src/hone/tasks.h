/// The tasks of a model: what its kernels compute.
#pragma once

#include <memory>
#include <string>

#include "hone/space/space.h"

namespace hone {

/// A task of a model, and how much it matters there.
struct TaskUse {
  std::shared_ptr<const space::Task> task;
  std::string name;       ///< the operators: "Conv+Relu"
  std::int64_t uses = 0;  ///< kernel calls in one run
};

}  // namespace hone
