/// Host kernels that pool regions of images, whose places and sizes come from data.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

Result<void> roi_align_kernel(HostCall& call);
Result<void> max_roi_pool_kernel(HostCall& call);

}  // namespace hone::runtime
