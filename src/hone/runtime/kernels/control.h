/// Kernels that run the graphs inside an operator: If, Loop and Scan.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// If: runs one of two branches.
Result<void> select_branch(HostCall& call);
/// Loop: runs the body until the trip count is reached or the condition it gives is false; each may be absent.
Result<void> loop(HostCall& call);
/// Scan: runs the body on the slices of its inputs along an axis.
Result<void> scan(HostCall& call);

}  // namespace hone::runtime
