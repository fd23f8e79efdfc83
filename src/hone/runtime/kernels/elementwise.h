/// Host kernels of elementwise operators for what is no tensor of numbers, and for random ones.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// The first input itself.
Result<void> identity_kernel(HostCall& call);

/// Equal of two string tensors, broadcast.
Result<void> equal_kernel(HostCall& call);

/// Where on elements of any type, strings included, broadcast.
Result<void> where_kernel(HostCall& call);

/// Dropout that drops: inputs data and ratio (0.5 if absent), attribute `seed`, outputs data and mask. The generator is
/// the Mersenne Twister that numpy seeds in the same way, so that equal seeds drop what numpy would.
Result<void> dropout_kernel(HostCall& call);

}  // namespace hone::runtime
