/// Kernels that select and order elements: NonZero, Unique and TopK.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// The indices of the elements that are not zero (strings: not empty), one column each.
Result<void> non_zero(HostCall& call);

/// The different elements, or slices along `axis`, with their first places, the way back, and how often each occurs.
/// All NaNs are one element, the largest.
Result<void> unique(HostCall& call);

/// The `k` largest or smallest elements along an axis, in order; of equal ones the first comes first. NaN is larger
/// than any number.
Result<void> top_k(HostCall& call);

}  // namespace hone::runtime
