#include <algorithm>

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/indexing.h"
#include "hone/runtime/kernels/rearrange.h"

namespace hone::graph {
namespace {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

/// A vector of constants.
Tensor constants(const std::string& name, const Integers& numbers) {
  return tensor::compute(name, {static_cast<std::int64_t>(numbers.size())}, [&](const Indices& i) {
    Expr value = ir::imm(numbers.empty() ? 0 : numbers.back());
    for (std::size_t k = numbers.size(); k-- > 1;)
      value = ir::select(ir::eq(i[0], static_cast<std::int64_t>(k) - 1), ir::imm(numbers[k - 1]), value);
    return value;
  });
}

Result<Tensors> define_shape(const Application& op) {
  const std::int64_t rank = op.rank(0);
  const auto clamped = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t start = clamped(op.integer("start", 0));
  const std::int64_t end = std::max(start, clamped(op.integer("end", rank)));
  return std::vector{constants("shape", Integers(op.shape(0).begin() + start, op.shape(0).begin() + end))};
}

Result<Tensors> define_size(const Application& op) {
  HONE_TRY(const std::int64_t count, runtime::element_count(op.shape(0)));
  return std::vector{tensor::compute("size", {}, [&](const Indices&) { return ir::imm(count); })};
}

Result<Tensors> viewed(const Application& op, Result<Shape> rule) {
  HONE_TRY(const Shape shape, checked(op, std::move(rule)));
  return std::vector{reshaped(op.tensor(0), shape)};
}

Result<Tensors> define_reshape(const Application& op) {
  HONE_TRY(const Integers wanted, op.ints(1));
  return viewed(op, runtime::reshape_rule(op.shape(0), wanted, op.integer("allowzero", 0) != 0));
}

Result<Tensors> define_flatten(const Application& op) {
  return viewed(op, runtime::flatten_rule(op.shape(0), op.integer("axis", 1)));
}

Result<Tensors> define_squeeze(const Application& op) {
  HONE_TRY(const std::optional<Integers> axes, optional_ints(op, 1));
  return viewed(op, runtime::squeeze_rule(op.shape(0), axes.value_or(Integers())));
}

Result<Tensors> define_unsqueeze(const Application& op) {
  HONE_TRY(const Integers axes, op.ints(1));
  return viewed(op, runtime::unsqueeze_rule(op.shape(0), axes));
}

}  // namespace

std::span<const Operator> shape_operators() {
  static const Operator operators[] = {
      {.name = "Shape",
       .schema = "data -> shape: int64; start, end",
       .define = define_shape,
       .host = runtime::shape_kernel},
      {.name = "Size", .schema = "data -> size: int64", .define = define_size, .host = runtime::size_kernel},
      {.name = "Reshape",
       .schema = "data: T, shape: int64 -> reshaped: T; allowzero",
       .define = define_reshape,
       .host = runtime::reshape_kernel,
       .is_view = true},
      {.name = "Flatten",
       .schema = "input: T -> output: T; axis",
       .define = define_flatten,
       .host = runtime::flatten_kernel,
       .is_view = true},
      {.name = "Squeeze",
       .schema = "data: T, axes?: int64 -> squeezed: T",
       .define = define_squeeze,
       .host = runtime::squeeze_kernel,
       .is_view = true},
      {.name = "Unsqueeze",
       .schema = "data: T, axes: int64 -> expanded: T",
       .define = define_unsqueeze,
       .host = runtime::unsqueeze_kernel,
       .is_view = true},
  };
  return operators;
}

}  // namespace hone::graph
