/// Kernels of decision trees.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

Result<void> tree_ensemble(HostCall& call);
Result<void> tree_ensemble_classifier(HostCall& call);
Result<void> tree_ensemble_regressor(HostCall& call);

}  // namespace hone::runtime
