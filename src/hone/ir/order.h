/// A structural order of expressions, for sums and products in a canonical order.
#pragma once

#include "hone/ir/expr.h"

namespace hone::ir {

/// How two expressions compare. Alike: they differ only in variables or buffers of one name, so neither comes first.
enum class Order : std::int8_t { Before, Same, After, Alike };

/// Compares kinds, types and fields, variables by name; depends on no address.
Order compare(const Expr& a, const Expr& b);

/// Whether both are built alike from the same variables and buffers.
inline bool same(const Expr& a, const Expr& b) { return a.is(b) || compare(a, b) == Order::Same; }

}  // namespace hone::ir
