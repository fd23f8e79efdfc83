/// Putting a block under loops of its own, for the primitives that move blocks or make new ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hone/ir/region.h"
#include "hone/schedule/program.h"

namespace hone::schedule {

/// The values that an iteration variable takes in a nest: [min, min + extent), `min` being over the loops outside.
struct IterRange {
  ir::Expr min;
  std::int64_t extent;
};

/// All values of an iteration variable.
IterRange full_range(const ir::Iter& iter);

/// The range cut to the values of an iteration variable as far as that is known: all values if it may contain them all,
/// or if it has no bound.
IterRange within(const ir::Range& range, const ir::Iter& iter, const ir::Bounds& outer);

/// The block below one new loop per iteration variable, the spatial ones outside, each in the order of the block. The
/// loop of variable `vi` is named `i`, if that is free in the program. The predicate becomes: the variables are in
/// their domains and satisfy the `conditions`, as far as that is not certain. The old bindings and predicate are
/// forgotten.
ir::Stmt make_nest(const Program& program, const ir::Block& block, std::span<const IterRange> ranges,
                   std::span<const ir::Expr> conditions, const ir::Bounds& outer);

/// A block that copies the elements of `from` within the ranges (one per axis) to `to`, below loops `ax0`, `ax1`, ….
ir::Stmt make_copy(const Program& program, const std::string& name, const ir::Expr& from, const ir::Expr& to,
                   std::span<const IterRange> ranges);

/// The elements of a buffer, one range per axis, that the program writes; all of them for an input.
std::vector<IterRange> written_ranges(const Program& program, const ir::Expr& buffer);

/// The outermost of a block's loops, which must be as a definition leaves them: one serial loop per variable, directly
/// nested, at the root of the program.
Result<Path> naive_nest(const Path& path, std::string_view step);

/// The statement right below the function's allocations that contains the target.
Path top_level(const Path& path);

/// Whether the target stands below (or is) the statement.
bool is_below(const Path& path, const ir::Stmt& stmt);

/// The number of loops around both targets.
std::size_t common_loops(const Path& a, const Path& b);

/// Whether the values of all `loops` follow from the values of `indices`, while the variables `free` take any value and
/// all others are fixed: then different iterations have different indices.
bool determines_all(std::span<const ir::Expr> indices, std::span<const ir::Expr> loops, std::span<const ir::Expr> free,
                    const ir::Bounds& bounds);

/// An error if one of the loops above the target, or the target itself, is software-pipelined.
Result<void> check_none_pipelined(const Path& path, std::string_view step);
/// The same, and an error if the target is a block whose body uses the variable of a loop itself, as those of
/// double_buffer do: it stays where it is.
Result<void> check_may_move(const Path& path, std::string_view step);

/// The bindings of a block as what to put in place of its variables.
std::vector<std::pair<ir::Expr, ir::Expr>> bindings_of(const ir::Block& block);

}  // namespace hone::schedule
