/// Which points of its domain a block visits, in terms of its own variables, so that a new nest can keep to them.
#pragma once

#include <string_view>
#include <vector>

#include "hone/schedule/nest.h"

namespace hone::schedule {

/// The points that satisfy all of this are those that a block visits.
struct Visited {
  std::vector<IterRange> ranges;     ///< one per iteration variable, over the loops that stand still
  std::vector<ir::Expr> conditions;  ///< over iteration variables and the loops that stand still; true of all points of
                                     ///< the domain are left out
};

/// What the block visits while the outermost `still` loops around it stand still. Loops and predicates of blocks that
/// were moved or split restrict them; the error says which condition cannot be put in terms of the variables.
Result<Visited> visited_below(const Path& block, std::size_t still, std::string_view step);

/// Whether the loops around a block take it to every point of its domain.
bool visits_whole_domain(const Path& block);

/// Whether the loop and the loops below it visit each point of a reduction block, around which they stand, only once:
/// then its init may stand before the loop, and their order does not matter.
bool visits_once_below(const Path& block, const ir::For& loop);

/// The outermost loop around the block that it reduces over, or null.
const ir::For* outermost_reduce_loop(const Path& block);

/// The parts of a conjunction.
std::vector<ir::Expr> conjuncts_of(const ir::Expr& predicate);

}  // namespace hone::schedule
