/// What the rules of sketches ask of blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/space/blocks.h"

namespace hone::space {

/// A block whose loops are the naive ones, taken apart.
struct BlockParts {
  std::vector<NaiveLoop> spatial, reduced;
  std::vector<Read> reads;
  ir::Expr written;       ///< the buffer
  bool is_empty = false;  ///< some loop has no iterations
  bool is_naive = false;  ///< else nothing but `is_naive` and `written` is known
  bool is_reduction() const { return !reduced.empty(); }
  std::int64_t iterations() const;
};
BlockParts parts_of(const Program& program, const std::string& block);

/// Whether elements are read more than once: some loop that a read does not use, twice, or once in a reduction.
bool needs_tiling(const BlockParts& parts);

/// Whether a block may always be computed where it is read: plain reads in the order of its axes, no branch, no
/// function that costs much. Blocks that read nothing are.
bool is_strictly_inlinable(const Program& program, const std::string& block);

/// The only block that reads what a block makes, if it does so element by element and reduces nothing.
std::optional<std::string> elementwise_consumer(const Program& program, const std::string& block);

/// Whether a sum is worth adding up in several positions at once: what it reads stands side by side along its last
/// spatial axis.
bool runs_along_space(const BlockParts& parts);

/// Whether a reduction has so little else to do in parallel that its sum should be cut in parts.
bool needs_rfactor(const BlockParts& parts, const codegen::Target& target);

}  // namespace hone::space
