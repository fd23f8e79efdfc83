/// What primitives ask before they change a program: what a loop is to the blocks below it.
#pragma once

#include "hone/schedule/program.h"

namespace hone::schedule {

/// The error of a step that cannot be applied.
template <typename... Args>
Error illegal(std::type_identity_t<FormatHere<Args...>> format, Args&&... args) {
  return error<Args...>(ErrorCode::IllegalStep, format, std::forward<Args>(args)...);
}

/// What a loop is to a block: runs through spatial variables, reduction variables, both, or none of them.
enum class Role { None, Spatial, Reduce, Mixed };
Role role_of(const ir::Expr& loop_var, const ir::Block& block);

/// An error unless the iterations of the loop are independent, so that they may run in any order or at once: below it
/// no block reduces over it, no iteration needs another's values, and iterations write disjoint elements or (if `kind`
/// is not Vectorized) buffers used inside the loop alone, which become private to an iteration. Lanes of a Vectorized
/// loop moreover allow neither blocks that work on vectors nor prefetches. `step` names the primitive.
Result<void> check_independent(const Program& program, const Path& loop, ir::ForKind kind, std::string_view step);

/// check_independent for every parallel, vectorized or bound loop around the path: to be asked again after a step moved
/// something below them.
Result<void> check_loops_above(const Program& program, const Path& path, std::string_view step);

/// An error if the block reads elements of a buffer it writes other than those it stores to: its iterations then depend
/// on each other's order.
Result<void> check_no_scan(const ir::Block& block, std::string_view step);

/// An error if values pass from one iteration of the loop to the next (after software_pipeline).
Result<void> check_not_pipelined(const ir::For& loop, std::string_view step);
inline constexpr std::string_view kPipelined = "pipelined";  ///< the annotation such a loop carries

}  // namespace hone::schedule
