/// Helpers for definitions that move elements: index expressions, and arguments that come as optional inputs.
#pragma once

#include <optional>
#include <vector>

#include "hone/graph/operator.h"
#include "hone/graph/operators/pointwise.h"
#include "hone/runtime/kernels/shape_rules.h"

namespace hone::graph {

using runtime::Integers;

/// The value of a rule, or its error with the operator's name before it.
template <typename T>
Result<T> checked(const Application& op, Result<T> rule) {
  if (!rule) return op.fail("{}", rule.error().message);
  return rule;
}

/// The numbers of an input, or none if it is left out.
Result<std::optional<Integers>> optional_ints(const Application& op, std::size_t i);

/// The numbers of an attribute, or none if it is left out.
std::optional<Integers> optional_integers(const Application& op, std::string_view name);

/// The numbers of the input that must be a single one, as an i64.
Result<std::int64_t> single_int(const Application& op, std::size_t i);

/// An index that comes from data: negative ones count from the end, and whatever is outside is brought inside.
ir::Expr safe_index(const ir::Expr& index, std::int64_t extent);

/// Where the element at `indices` of shape `to` stands in a tensor of shape `from`, which has as many elements.
tensor::Indices reshaped_indices(const tensor::Indices& indices, const tensor::Shape& to, const tensor::Shape& from);

/// The tensor under another shape.
tensor::Tensor reshaped(const tensor::Tensor& x, const tensor::Shape& shape);

/// A zero of any type.
ir::Expr zero(ir::DType type);

}  // namespace hone::graph
