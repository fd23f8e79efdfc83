/// Conditions as lists of conjuncts, as the lowering passes take guards apart and put them together.
#pragma once

#include <vector>

#include "hone/ir/stmt.h"

namespace hone::codegen {

/// The conditions whose conjunction `condition` is, from left to right; a null condition has none.
std::vector<ir::Expr> conjuncts(const ir::Expr& condition);

/// The conjunction of the conditions, null if there are none. Scalars are broadcast beside vectors.
ir::Expr conjunction(const std::vector<ir::Expr>& conditions);

/// The conjunction of two conditions, either of which may be null.
ir::Expr both(const ir::Expr& a, const ir::Expr& b);

/// `then` under a condition that may be null.
ir::Stmt guarded(const ir::Expr& condition, const ir::Stmt& then);

/// What must be positive for a comparison of indices to hold; null for other conditions.
ir::Expr slack_of(const ir::Expr& condition);

/// Whether evaluating the expression reads memory.
bool has_load(const ir::Expr& e);

}  // namespace hone::codegen
