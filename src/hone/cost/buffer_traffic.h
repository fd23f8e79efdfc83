/// How a statement moves through one of its buffers: bytes, cache lines, and how soon it comes back.
#pragma once

#include "hone/cost/program_tables.h"
#include "hone/cost/touched_regions.h"

namespace hone::cost {

/// Whether data is used again: by a loop that does not move the access, by another statement below the same loop, or
/// not at all.
enum class Reuse : std::uint8_t { Loop, Serial, None };

struct BufferTraffic {
  bool reads = false, writes = false;
  double bytes = 0, unique_bytes = 0;  ///< of all accesses, and of the box they touch
  double lines = 0, unique_lines = 0;
  double stride = 0;  ///< elements that the innermost loop moves by
  Reuse reuse = Reuse::None;
  double distance_iterations = 0, distance_bytes = 0;  ///< what happens until the data is used again
  double reuse_count = 0;
};

/// The traffic of one touch of the statement at a place of the tables.
BufferTraffic traffic_of(const Touch& touch, const ProgramTables& tables, const TouchedRegions& regions,
                         std::size_t statement);

}  // namespace hone::cost
