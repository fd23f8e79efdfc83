#include <algorithm>

#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::tensor {

using ir::Expr;

Tensor map(std::string name, const Tensor& x, FunctionRef<Expr(const Expr&)> f) {
  return compute(std::move(name), axes_of(x.shape()), [&](const Indices& i) { return f(x(i)); });
}

Result<Tensor> zip(std::string name, const Tensor& a, const Tensor& b, FunctionRef<Expr(const Expr&, const Expr&)> f) {
  HONE_TRY(expect_equal_types(name, a, b));
  HONE_TRY(const Shape shape, broadcast(name, a.shape(), b.shape()));
  return compute(name, axes_of(shape), [&](const Indices& i) { return f(broadcast_at(a, i), broadcast_at(b, i)); });
}

Result<Tensor> add(const Tensor& a, const Tensor& b) {
  return zip("add", a, b, [](const Expr& x, const Expr& y) { return x + y; });
}

Tensor relu(const Tensor& x) {
  return map("relu", x, [](const Expr& e) { return ir::max(e, ir::constant(e.type(), std::int64_t{0})); });
}

Result<Tensor> elementwise_chain(const Tensor& x) {
  HONE_TRY(expect_float("elementwise chain", x));
  const Tensor twice = map("twice", x, [](const Expr& e) { return e * 2; });
  const Tensor next = map("next", twice, [](const Expr& e) { return e + 1; });
  const Tensor bent = map("bent", next, [](const Expr& e) { return ir::call(ir::Intrinsic::Tanh, {e}); });
  return compute("chain", axes_of(x.shape()), [&](const Indices& i) { return bent(i) * x(i); });
}

Result<Tensor> transpose(const Tensor& x, const std::vector<int>& permutation) {
  if (permutation.size() != x.rank())
    return error(ErrorCode::InvalidArgument, "transpose: {} axes for a tensor of {}, they must be as many",
                 permutation.size(), x.rank());
  Shape shape;
  std::vector<std::size_t> source;
  for (const int entry : permutation) {
    HONE_TRY(const std::size_t axis, normalize_axis("transpose", entry, x.rank()));
    if (std::find(source.begin(), source.end(), axis) != source.end())
      return error(ErrorCode::InvalidArgument, "transpose: axis {} occurs twice, allowed is once", axis);
    source.push_back(axis);
    shape.push_back(x.extent(axis));
  }
  return compute("transpose", axes_of(shape), [&](const Indices& i) {
    Indices from(i.size());
    for (std::size_t axis = 0; axis < i.size(); ++axis) from[source[axis]] = i[axis];
    return x(from);
  });
}

}  // namespace hone::tensor
