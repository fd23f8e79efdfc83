/// Measures what the machine's multiply-add units and memories can do, as the yardsticks for kernels.
#pragma once

#include <cstdint>

#include "hone/codegen/target.h"

namespace hone::measure {

/// The fp32 multiply-add peak in GFLOP/s of `threads` threads at once: the best of several short runs of a loop that
/// works in registers alone, compiled by hone's own code generator at the target's vector width.
Result<double> fma_peak(const codegen::Target& target, int threads);

/// The bandwidth in GB/s at which `threads` threads at once read `bytes` bytes each, again and again: of the cache that
/// holds as much, or of the memory. Rounded down to whole vectors, one step of the loop at least.
Result<double> read_bandwidth(const codegen::Target& target, int threads, std::int64_t bytes);

}  // namespace hone::measure
