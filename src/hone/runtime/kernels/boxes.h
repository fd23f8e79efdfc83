/// Kernels on boxes in pictures.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// NonMaxSuppression: per batch and class, the boxes with the highest scores that overlap no better one too much.
Result<void> non_max_suppression(HostCall& call);

}  // namespace hone::runtime
