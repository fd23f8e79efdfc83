/// Kernels of support-vector machines.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

Result<void> svm_classifier(HostCall& call);
Result<void> svm_regressor(HostCall& call);

}  // namespace hone::runtime
