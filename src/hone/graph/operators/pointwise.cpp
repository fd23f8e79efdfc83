#include "hone/graph/operators/pointwise.h"

#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

Result<Tensors> map_first(const Application& op, FunctionRef<Expr(const Expr&)> f) {
  const Tensor& x = op.tensor(0);
  return Tensors{
      tensor::compute(op.op(), tensor::axes_of(x.shape()), [&](const Indices& i) { return f(x(i)); }),
  };
}

Result<Tensors> map_first_widened(const Application& op, FunctionRef<Expr(const Expr&)> f) {
  return map_first(op, [&](const Expr& x) { return ir::cast(x.type(), f(ir::cast(widened(x.type()), x))); });
}

namespace {

/// The second input with axes of extent 1 after its own, so that those begin at `axis` of the first.
Result<Tensor> begun_at(const Application& op, const Tensor& b, std::int64_t given_axis) {
  HONE_TRY(const std::int64_t axis, op.axis(given_axis, op.rank(0)));
  const std::int64_t missing = op.rank(0) - axis - static_cast<std::int64_t>(b.rank());
  if (missing < 0) return op.fail("input 1 of rank {} at axis {} of rank {}", b.rank(), axis, op.rank(0));
  tensor::Shape shape = b.shape();
  shape.resize(shape.size() + static_cast<std::size_t>(missing), 1);
  return tensor::compute("aligned", tensor::axes_of(shape), [&](Indices i) {
    i.resize(b.rank());
    return b(i);
  });
}

}  // namespace

Result<Tensors> zip_first_two(const Application& op, FunctionRef<Expr(const Expr&, const Expr&)> f) {
  if (op.opset() < 7 && op.node().domain.empty() && op.attributes().has("axis")) {
    HONE_TRY(const Tensor b, begun_at(op, op.tensor(1), op.integer("axis", 0)));
    HONE_TRY(Tensor result, pointwise(op, {op.tensor(0), b},
                                      [&](const std::vector<Expr>& values) { return f(values[0], values[1]); }));
    return Tensors{std::move(result)};
  }
  const auto apply = [&](const std::vector<Expr>& values) { return f(values[0], values[1]); };
  HONE_TRY(Tensor result, pointwise(op, {op.tensor(0), op.tensor(1)}, apply));
  return Tensors{std::move(result)};
}

Result<tensor::Shape> broadcast_all(const Application& op, const Tensors& tensors) {
  tensor::Shape shape;
  for (const Tensor& part : tensors) {
    auto wider = tensor::broadcast(op.op(), shape, part.shape());
    if (!wider)
      return op.fail("shapes {} and {} do not broadcast", tensor::show_shape(shape), tensor::show_shape(part.shape()));
    shape = *wider;
  }
  return shape;
}

Result<Tensor> pointwise(const Application& op, const Tensors& tensors, FunctionRef<Expr(const std::vector<Expr>&)> f) {
  HONE_TRY(const tensor::Shape shape, broadcast_all(op, tensors));
  return tensor::compute(op.op(), tensor::axes_of(shape), [&](const Indices& i) {
    std::vector<Expr> values;
    for (const Tensor& part : tensors) values.push_back(tensor::broadcast_at(part, i));
    return f(values);
  });
}

Expr only_element(const Tensor& x) { return x(Indices(x.rank(), ir::imm(0))); }

Result<void> expect_one_element(const Application& op, std::size_t i) {
  for (const std::int64_t extent : op.shape(i))
    if (extent != 1)
      return op.fail("input {} has shape {}, allowed is one element", i, tensor::show_shape(op.shape(i)));
  return {};
}

ir::DType widened(ir::DType type) { return type.is_float() && type.bits() < 32 ? ir::kF32 : type; }

Expr number(const Expr& like, double value) { return ir::constant(like.type(), value); }

Expr zero(const Expr& like) { return ir::constant(like.type(), std::int64_t{0}); }

}  // namespace hone::graph
