/// Arithmetic on sizes and counts.
#pragma once

#include <cstdint>

namespace hone {

/// a / b rounded up, for a from 0 and b from 1 on.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace hone
