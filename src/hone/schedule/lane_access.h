/// Accesses as functions of a few loops, and the vector accesses that do several iterations at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hone/ir/interval.h"
#include "hone/ir/rewrite.h"
#include "hone/schedule/accesses.h"

namespace hone::schedule {

/// An access as a function of some loops: each index is its base (over other loops) plus, for each of the loops, a
/// coefficient times the loop's variable.
struct LaneAccess {
  ir::Expr buffer;
  Indices bases;
  std::vector<std::vector<std::int64_t>> coefficients;  ///< [axis][loop]

  /// How many elements further an iteration of a loop goes in row-major memory; nothing if that is not fixed.
  std::optional<std::int64_t> stride(std::size_t loop) const;
};

/// Takes an access apart; nothing if an index is not linear in the loops. `bindings` are those of the block.
std::optional<LaneAccess> take_apart(const ir::Expr& buffer, const Indices& indices, const ir::Substitution& bindings,
                                     const std::vector<ir::Expr>& loops, const ir::Bounds& bounds);

/// The indices with one lane for each value of the loops listed (by place), the last of them running fastest; an index
/// that does not depend on them stays a scalar.
Indices lane_indices(const LaneAccess& access, const std::vector<std::size_t>& loops,
                     const std::vector<std::int64_t>& extents);

}  // namespace hone::schedule
