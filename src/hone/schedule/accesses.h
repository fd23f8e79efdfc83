/// Rewriting every access to one buffer, and building the copies that stand beside a computation.
#pragma once

#include <string_view>
#include <vector>

#include "hone/ir/interval.h"
#include "hone/schedule/program.h"
#include "hone/support/function_ref.h"

namespace hone::schedule {

using Indices = std::vector<ir::Expr>;

/// Gives the new indices of an access; the bounds are those of the loops and iteration variables around it.
using IndexFn = FunctionRef<Indices(const Indices& indices, const ir::Bounds& bounds)>;

/// Lets every load and store of `from` go to `to`, at the indices that `f` gives. Allocations stay as they are.
ir::Stmt redirect_accesses(const ir::Stmt& s, const ir::Expr& from, const ir::Expr& to, IndexFn f);

/// The program with an allocated buffer exchanged for another, at the indices that `f` gives.
Program exchange_buffer(const Program& program, const ir::Expr& from, const ir::Expr& to, IndexFn f);

/// The allocated buffer of this name; a parameter is an error, since its memory is the caller's.
Result<ir::Expr> find_allocated(const Program& program, std::string_view name, std::string_view step);

/// The shape as numbers; an error if an extent is not constant.
Result<std::vector<std::int64_t>> constant_shape(const ir::Expr& buffer, std::string_view step);

/// An error, naming one, if a load or store of the buffer has a vector among its indices (after tensorize).
Result<void> check_scalar_accesses(const Program& program, const ir::Expr& buffer, std::string_view step);

/// Whether every access to the buffer stands below `s`, a statement of the program.
bool is_used_only_below(const Program& program, const ir::Stmt& s, const ir::Expr& buffer);

/// A nest of serial loops with fresh names ax0, ax1, … over the extents, around a block without reduction that runs
/// what `body` gives for the block's variables.
ir::Stmt spatial_nest(const Program& program, std::string_view block_name, const std::vector<std::int64_t>& extents,
                      FunctionRef<ir::Stmt(const Indices& vars)> body, ir::Annotations annotations = {});

/// The path to what stands inside the allocations at the root of the program.
Path root(const Program& program);

/// The program with a statement put before or after everything else, inside the allocations at its root.
Program insert_first(const Program& program, const ir::Stmt& stmt);
Program insert_last(const Program& program, const ir::Stmt& stmt);

}  // namespace hone::schedule
