/// Recurrent networks step by step: what is left of RNN, LSTM and GRU when the inputs of all steps are projected.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// Inputs, of f32 or f64 where no type is named:
///   0  projected inputs [step, batch, direction · gate · hidden], with all biases that can be added beforehand
///   1  recurrent weights [direction, hidden, gate · hidden]: row k is what hidden unit k adds to the gates
///   2  recurrent bias [direction, hidden] of the hidden gate; GRU with `linear_before_reset` only
///   3  lengths of the sequences [batch], i32
///   4  initial hidden state [direction, batch, hidden], and 5 the initial cell (LSTM only)
///   6  peepholes [direction, 3 · hidden] (LSTM only)
/// Only the first two are required. Outputs: Y [step, direction, batch, hidden], then the last hidden state and the
/// last cell as [direction, batch, hidden]. Attributes: `cell` is "RNN", "LSTM" or "GRU"; the others are those of the
/// ONNX operators.
Result<void> run_recurrence(HostCall& call);

}  // namespace hone::runtime
