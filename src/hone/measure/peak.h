/// Measures what the machine's multiply-add units can do, as the yardstick for kernels timed in the same run.
#pragma once

#include "hone/codegen/target.h"

namespace hone::measure {

/// The fp32 multiply-add peak in GFLOP/s of `threads` threads at once: the best of several short runs of a loop that
/// works in registers alone, compiled by hone's own code generator at the target's vector width.
Result<double> fma_peak(const codegen::Target& target, int threads);

}  // namespace hone::measure
