/// Kernels that draw random numbers. A `seed` attribute makes each run give the same numbers; without it no two runs
/// do.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// RandomNormal and RandomUniform: numbers in the attribute `shape`.
Result<void> random_normal(HostCall& call);
Result<void> random_uniform(HostCall& call);
/// RandomNormalLike and RandomUniformLike: numbers in the shape of the input, and in its type unless `dtype` says more.
Result<void> random_normal_like(HostCall& call);
Result<void> random_uniform_like(HostCall& call);

/// Bernoulli: 1 with the probability that the input has there, otherwise 0.
Result<void> bernoulli(HostCall& call);
/// Multinomial: per row, `sample_size` places drawn with probabilities whose logarithms the row holds.
Result<void> multinomial(HostCall& call);

}  // namespace hone::runtime
