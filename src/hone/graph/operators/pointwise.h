/// Parts that elementwise definitions share: one value per element of the broadcast inputs.
#pragma once

#include <string>
#include <vector>

#include "hone/graph/operator.h"
#include "hone/ir/expr.h"
#include "hone/support/function_ref.h"

namespace hone::graph {

/// `f` of each element of the first input.
Result<Tensors> map_first(const Application& op, FunctionRef<ir::Expr(const ir::Expr&)> f);
/// The same with elements of f16 and bf16 widened to f32, and what `f` gives of them rounded once. Floats only.
Result<Tensors> map_first_widened(const Application& op, FunctionRef<ir::Expr(const ir::Expr&)> f);
/// `f` of the elements of the first two inputs, broadcast; the types may differ. Before opset 7 the second broadcasts
/// only if attribute `broadcast` says so, and attribute `axis` may say which axis of the first its own begin at.
Result<Tensors> zip_first_two(const Application& op, FunctionRef<ir::Expr(const ir::Expr&, const ir::Expr&)> f);

/// The two as definitions, for the tables of operators.
template <auto f>
Result<Tensors> unary(const Application& op) {
  return map_first(op, f);
}

template <auto f>
Result<Tensors> binary(const Application& op) {
  return zip_first_two(op, f);
}

/// `f` of the elements of all these tensors, broadcast.
Result<tensor::Tensor> pointwise(const Application& op, const Tensors& tensors,
                                 FunctionRef<ir::Expr(const std::vector<ir::Expr>&)> f);

/// The shape that all these broadcast to.
Result<tensor::Shape> broadcast_all(const Application& op, const Tensors& tensors);

/// The only element of a tensor.
ir::Expr only_element(const tensor::Tensor& x);
/// An error that names input `i` if it has more or less than one element.
Result<void> expect_one_element(const Application& op, std::size_t i);

/// f32 for f16 and bf16, otherwise the type itself: what composites compute in.
ir::DType widened(ir::DType type);

/// x · Φ(x), its approximation by tanh, and x · sigmoid(alpha · x).
ir::Expr gelu(const ir::Expr& x);
ir::Expr gelu_by_tanh(const ir::Expr& x);
ir::Expr swish(const ir::Expr& x, double alpha);

/// A constant of the type of `like`.
ir::Expr number(const ir::Expr& like, double value);
ir::Expr zero(const ir::Expr& like);

}  // namespace hone::graph
