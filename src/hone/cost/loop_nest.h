/// The loops around a block as a trace leaves them, and what that means for the vectors of a target: all from names and
/// factors, nothing is lowered for it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/cost/trace_walk.h"

namespace hone::cost {

/// The vectors that a target computes with.
struct VectorUnit {
  int lanes = 8;  ///< of 32 bits in a register
  int registers = 16;
  bool has_fma = true;

  bool operator==(const VectorUnit&) const = default;
};

/// What steps say about loops and buffers besides their order, by names.
struct TraceMarks {
  std::vector<std::string_view> parallel, vectorized, unrolled;
  std::vector<std::string_view> packed;                             ///< buffers whose layout was made to fit the loops
  std::vector<std::pair<std::string_view, std::int64_t>> budgets;  ///< loops inside of which so much may be unrolled
};
TraceMarks find_marks(const schedule::Trace& trace);

/// A loop of a nest. What it covers is counted in elements, of each access of NaiveAxis::strides.
struct NestLoop {
  const WalkedLoop* loop = nullptr;
  bool is_parallel = false, is_vector = false;
  bool is_straight = false;  ///< vectorized or unrolled, and so is everything inside
  double points = 1;         ///< of the loop and those inside it
  std::array<double, NaiveAxis::kAccesses> covered = {};  ///< by the same
};

/// The loops of more than one iteration around a block, innermost first.
struct LoopNest {
  std::vector<NestLoop> loops;
  const NaiveBlock* block = nullptr;
  std::array<bool, NaiveAxis::kAccesses> is_packed = {};  ///< accesses whose layout was made to fit
};
LoopNest nest_of(const TraceWalk& walk, std::size_t block, const TraceMarks& marks);

/// What the innermost loops of a nest are on a target: how many registers they fill, what they load for each
/// multiplication, how long they run between two moves of their sums. The order is that of kTileNames.
inline constexpr std::size_t kTileNumbers = 24;
std::array<float, kTileNumbers> tile_numbers(const LoopNest& nest, const VectorUnit& unit);

}  // namespace hone::cost
