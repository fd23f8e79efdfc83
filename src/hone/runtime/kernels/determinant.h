/// Determinants of square matrices.
#pragma once

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// The determinant of each matrix x[..., n, n] of floats; that of a matrix without elements is 1.
Result<void> run_determinant(HostCall& call);

}  // namespace hone::runtime
