/// Kernels on sequences and optionals.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

Result<void> sequence_construct(HostCall& call);
Result<void> sequence_empty(HostCall& call);
/// Inserts before `position`, which counts from the end if it is negative; without one, appends.
Result<void> sequence_insert(HostCall& call);
/// Removes the element at `position`; without one, the last.
Result<void> sequence_erase(HostCall& call);
Result<void> sequence_at(HostCall& call);
Result<void> sequence_length(HostCall& call);
/// Cuts a tensor along an axis, into pieces of one extent (`split` is a scalar), of given extents, or of extent 1.
Result<void> split_to_sequence(HostCall& call);
Result<void> concat_from_sequence(HostCall& call);
/// Runs the body on each element; further inputs that are sequences are walked along, tensors are passed each time.
Result<void> sequence_map(HostCall& call);

/// Optional: an optional with a value is that value, so that these pass on what they get.
Result<void> optional(HostCall& call);
Result<void> optional_has_element(HostCall& call);
Result<void> optional_get_element(HostCall& call);

}  // namespace hone::runtime
