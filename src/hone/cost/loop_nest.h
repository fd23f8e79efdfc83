/// The loops around a block as a trace leaves them, and what that means for the vectors and threads of a target: all
/// from names and factors, nothing is lowered for it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/cost/trace_walk.h"

namespace hone::cost {

/// What a target computes with: the vectors of a core, and threads.
struct ComputeUnit {
  int lanes = 8;  ///< of 32 bits in a register
  int registers = 16;
  int multiply_adds = 2;  ///< fused, of whole vectors, that a core begins in a cycle; 0: there are none
  int threads = 1;
  double l3_bytes_per_cycle = 3.5;  ///< that a core reads from the last cache

  bool operator==(const ComputeUnit&) const = default;
};

/// What steps say about loops and buffers besides their order, by names.
struct TraceMarks {
  std::vector<std::string_view> parallel, vectorized, unrolled;
  std::vector<std::string_view> packed;                            ///< buffers whose layout was made to fit the loops
  std::vector<std::pair<std::string_view, std::int64_t>> budgets;  ///< loops inside of which so much may be unrolled
};
TraceMarks find_marks(const schedule::Trace& trace);

/// A loop of a nest. What it covers is counted in elements, of each access of NaiveAxis::strides.
struct NestLoop {
  const WalkedLoop* loop = nullptr;
  bool is_parallel = false, is_vector = false;
  bool is_straight = false;                               ///< vectorized or unrolled, and so is everything inside
  double points = 1;                                      ///< of the loop and those inside it
  std::array<double, NaiveAxis::kAccesses> covered = {};  ///< by the same
};

/// The loops of more than one iteration around a block, innermost first.
struct LoopNest {
  std::vector<NestLoop> loops;
  const NaiveBlock* block = nullptr;
  std::array<bool, NaiveAxis::kAccesses> is_packed = {};  ///< accesses whose layout was made to fit
};
LoopNest nest_of(const TraceWalk& walk, std::size_t block, const TraceMarks& marks);

/// What the innermost loops of a nest are on a target, as far as they become straight code.
struct InnerTile {
  double width = 1;                            ///< of the vectorized loop, in numbers
  double vectors = 1;                          ///< that are as wide
  double rows = 1, sums = 1;                   ///< of vectors, and vectors in them all: what is summed up in registers
  double steps = 1;                            ///< of sums, in straight code
  double whole = 0, single = 0, gathered = 0;  ///< loads at a step: vectors, numbers for all lanes, lanes one by one
  double live = 1;                             ///< registers that are wanted at a time
  double run = 1, outside = 1;                 ///< steps of sums until these are moved, and how often they come back
  double bytes = 0;                            ///< that are touched until sums are moved
  double waste = 0;                            ///< the share of iterations that splits added
  bool stores_whole = false;                   ///< whether vectors are stored as such
  bool is_in_sum = false;                      ///< whether the loop around is one over a sum
};
InnerTile inner_tile(const LoopNest& nest, const ComputeUnit& unit);

/// The same as numbers for networks, about as large as each other.
inline constexpr std::size_t kTileNumbers = 24;
std::array<float, kTileNumbers> tile_numbers(const InnerTile& tile, const ComputeUnit& unit);

/// How threads share a nest, as numbers for networks: whether there are several, the share of them that is busy while
/// pieces of parallel loops are handed out, how many pieces there are, and iterations in each.
inline constexpr std::size_t kShareNumbers = 4;
std::array<float, kShareNumbers> share_numbers(const LoopNest& nest, const ComputeUnit& unit);

/// The bytes that a nest reads and writes beyond a cache of this size. What the innermost loops touch stays there as
/// far as it fits, and what the loop around them does not move stays for its iterations; everything else comes again.
double traffic_beyond(const LoopNest& nest, double cache_bytes);

/// That for each iteration, as numbers for networks, of caches from an L1 to an L3, about as large as those of targets
/// are; and how fast a target reads from the last of its own.
inline constexpr std::array<double, 4> kCacheBytes = {32 << 10, 512 << 10, 2 << 20, 16 << 20};
inline constexpr std::size_t kTrafficNumbers = kCacheBytes.size() + 1;
std::array<float, kTrafficNumbers> traffic_numbers(const LoopNest& nest, const ComputeUnit& unit);

}  // namespace hone::cost
