/// Operations on two operands, treated alike.
#pragma once

#include "hone/ir/expr.h"

namespace hone::ir {

/// The operands of an arithmetic operation, comparison, And or Or; null pointers for any other node.
struct Operands {
  const Expr* a = nullptr;
  const Expr* b = nullptr;
  explicit operator bool() const { return a != nullptr; }
};
Operands operands_of(const Expr& e);

/// Makes a node of a kind that has operands.
Expr make_binary(Kind kind, Expr a, Expr b);

/// Whether `a` and `b` can be exchanged without changing the value.
bool is_commutative(Kind kind);

/// Eq, Ne, Lt or Le.
inline bool is_comparison(Kind kind) { return kind >= Kind::Eq && kind <= Kind::Le; }

}  // namespace hone::ir
