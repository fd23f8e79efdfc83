/// Type rules: which operands each kind of expression takes, and the type of its value.
///
/// The parser asks before it builds a node, the verifier asks about nodes that exist. Errors say what was found and
/// what is allowed; who asked adds the place.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/ir/expr.h"

namespace hone::ir {

/// Arithmetic, comparisons, And and Or.
Result<DType> type_of_binary(Kind kind, DType a, DType b);
Result<DType> type_of_not(DType a);
Result<DType> type_of_select(DType condition, DType a, DType b);
Result<DType> type_of_cast(DType to, DType from);
/// `stated` is the type written at a bitcast; the types of all other calls follow from the arguments.
Result<DType> type_of_call(Intrinsic function, const std::vector<Expr>& args, DType stated);
Result<DType> type_of_ramp(DType base, DType stride, std::int64_t lanes);
Result<DType> type_of_broadcast(DType value, std::int64_t lanes);
/// What a Load gives, and what a Store takes; `mask` may be null.
Result<DType> type_of_access(const Expr& buffer, const std::vector<Expr>& indices, const Expr& mask);

/// Whether the type is that of loop variables, extents and scalar indices.
Result<void> check_index(std::string_view what, DType type);
/// Whether the type is a scalar bool.
Result<void> check_condition(std::string_view what, DType type);

}  // namespace hone::ir
