/// Constant folding: the value of an operation on constants, exactly as the interpreter computes it.
#pragma once

#include "hone/ir/expr.h"

namespace hone::ir {

/// The constant that `e` is if its operands are constants (scalars, or broadcasts of them), else null. Divisions of
/// integers by zero, calls of intrinsics and float remainders are left alone.
Expr fold_constants(const Expr& e);

/// The result of an operation on two values of an integer type or bool, before wrapping to the type; nothing if the
/// divisor is zero or the kind has not two operands.
std::optional<std::int64_t> fold_ints(Kind kind, DType type, std::int64_t a, std::int64_t b);

/// The scalar constant behind `e`: an IntImm or FloatImm, or one broadcast to all lanes; else null.
Expr scalar_constant(const Expr& e);

/// The value if `e` is an integer or bool constant, scalar or broadcast.
std::optional<std::int64_t> int_constant(const Expr& e);

}  // namespace hone::ir
