/// Discrete Fourier transforms of any length, in a time that grows with n log n.
#pragma once

#include <complex>
#include <vector>

#include "hone/runtime/host_kernel.h"

namespace hone::runtime {

/// The transform of the numbers: y[k] = Σ x[n] · exp(∓2πi·n·k / N); `is_inverse` chooses the plus and does not divide.
std::vector<std::complex<double>> fourier(std::vector<std::complex<double>> x, bool is_inverse);

/// x[..., n, 1 or 2 parts] of f32 or f64 transformed along the axis before the last. Attributes: `length` is N (entries
/// that are not there count as 0), `outputs` how many entries are given, `inverse` divides by N, and `onesided` takes
/// half of a spectrum as input and gives real numbers.
Result<void> run_fourier(HostCall& call);

}  // namespace hone::runtime
