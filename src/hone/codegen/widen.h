/// Widens statements of one loop iteration to all lanes of a vector at once.
#pragma once

#include <optional>

#include "hone/ir/interval.h"
#include "hone/ir/stmt.h"

namespace hone::codegen {

/// `s` for the values base, base + 1, …, base + lanes - 1 of `var` together, or nothing if that cannot be written with
/// vectors. `bounds` is what is known of the variables around.
std::optional<ir::Stmt> widen(const ir::Stmt& s, const ir::Expr& var, const ir::Expr& base, int lanes,
                              const ir::Bounds& bounds);

}  // namespace hone::codegen
