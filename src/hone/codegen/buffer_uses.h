/// Where and when a buffer is accessed, with blocks seen through: what compaction decides by.
#pragma once

#include <vector>

#include "hone/ir/interval.h"
#include "hone/ir/stmt.h"

namespace hone::codegen {

/// One access to a buffer, written over the variables of the loops around.
struct BufferUse {
  bool is_write;
  int order;                            ///< accesses of one statement share it; later statements have larger ones
  std::vector<ir::Expr> indices;        ///< one per axis
  std::vector<ir::Expr> guards;         ///< conditions that must all hold for the access to happen
  std::vector<ir::Expr> vars, extents;  ///< of the loops around, outermost first
};

/// All accesses to `buffer` below `s`, in the order of evaluation.
std::vector<BufferUse> uses_of_buffer(const ir::Stmt& s, const ir::Expr& buffer);

/// Whether the buffer can be private to each iteration of the loop over `var`, around all of `uses`: no iteration reads
/// what an earlier one wrote.
bool is_private_to_iteration(const std::vector<BufferUse>& uses, const ir::Expr& buffer, const ir::Expr& var,
                             const ir::Bounds& bounds);

}  // namespace hone::codegen
