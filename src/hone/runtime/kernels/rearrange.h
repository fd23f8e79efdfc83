/// Host kernels of the operators that only move elements. They serve types that loops do not know: strings and complex
/// numbers.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

Result<void> shape_kernel(HostCall& call);
Result<void> size_kernel(HostCall& call);
Result<void> reshape_kernel(HostCall& call);
Result<void> flatten_kernel(HostCall& call);
Result<void> squeeze_kernel(HostCall& call);
Result<void> unsqueeze_kernel(HostCall& call);
Result<void> expand_kernel(HostCall& call);
Result<void> tile_kernel(HostCall& call);
Result<void> transpose_kernel(HostCall& call);
Result<void> slice_kernel(HostCall& call);
Result<void> split_kernel(HostCall& call);
Result<void> concat_kernel(HostCall& call);
Result<void> pad_kernel(HostCall& call);
Result<void> center_crop_pad_kernel(HostCall& call);
Result<void> depth_to_space_kernel(HostCall& call);
Result<void> space_to_depth_kernel(HostCall& call);
Result<void> reverse_sequence_kernel(HostCall& call);
Result<void> gather_kernel(HostCall& call);
Result<void> gather_elements_kernel(HostCall& call);
Result<void> gather_nd_kernel(HostCall& call);
Result<void> one_hot_kernel(HostCall& call);
/// This one serves all types, as the extent of its result depends on data.
Result<void> compress_kernel(HostCall& call);

}  // namespace hone::runtime
