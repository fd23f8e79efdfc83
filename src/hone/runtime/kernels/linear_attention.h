/// Linear attention: a state per head that each token changes and reads.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// LinearAttention of ai.onnx on f32: inputs query, key, value, past_state, decay, beta; outputs the result and the
/// last state.
Result<void> run_linear_attention(HostCall& call);

}  // namespace hone::runtime
