/// What the tests of the primitives share: a program to schedule, and the comparison with the interpreter.
#pragma once

#include <gtest/gtest.h>

#include "hone/schedule/program.h"

namespace hone::schedule {

/// C[i, j] = Σ_k A[i, k] · B[k, j], naive; the loops are i, j, k and the block is C.
Program matmul(std::int64_t m, std::int64_t n, std::int64_t k);

/// Whether the interpreter gives the same values for both programs, bit for bit, on random whole numbers.
testing::AssertionResult same_values(const Program& expected, const Program& found, std::uint64_t seed = 1);

}  // namespace hone::schedule
