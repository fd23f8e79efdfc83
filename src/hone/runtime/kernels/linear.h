/// Kernels of linear models.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

Result<void> linear_classifier(HostCall& call);
Result<void> linear_regressor(HostCall& call);

}  // namespace hone::runtime
