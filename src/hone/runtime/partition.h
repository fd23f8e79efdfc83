/// Which iterations of a parallel loop each thread runs.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hone::runtime {

/// The iterations [begin, end).
struct IterationRange {
  std::int64_t begin;
  std::int64_t end;
  bool operator==(const IterationRange&) const = default;
};

/// Part `rank` of [0, count) cut into `parts` contiguous parts whose sizes differ by at most one, the larger first.
constexpr IterationRange partition(std::int64_t count, std::int64_t parts, std::int64_t rank) {
  const std::int64_t size = count / parts;
  const std::int64_t larger_parts = count % parts;
  const std::int64_t begin = rank * size + std::min(rank, larger_parts);
  return {begin, begin + size + (rank < larger_parts ? 1 : 0)};
}

}  // namespace hone::runtime
