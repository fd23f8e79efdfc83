#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::tensor {

using ir::Expr;

Result<Tensor> softmax(const Tensor& x, int axis_from) {
  HONE_TRY(expect_float("softmax", x));
  HONE_TRY(const std::size_t axis, normalize_axis("softmax", axis_from, x.rank()));
  const int only = static_cast<int>(axis);
  const auto row = [&](Indices i) {  // the indices of the row's maximum and sum
    i[axis] = ir::imm(0);
    return i;
  };
  HONE_TRY(const Tensor largest, reduce_axes(x, ReduceKind::Max, {only}, KeepAxes::Yes));
  const Tensor exponential = compute("exp", axes_of(x.shape()), [&](const Indices& i) {
    return ir::call(ir::Intrinsic::Exp, {x(i) - largest(row(i))});
  });
  HONE_TRY(const Tensor sum, reduce_axes(exponential, ReduceKind::Sum, {only}, KeepAxes::Yes));
  return compute("softmax", axes_of(x.shape()), [&](const Indices& i) { return exponential(i) / sum(row(i)); });
}

Result<Tensor> layer_norm(const Tensor& x, const Tensor& scale, const Tensor& bias, int first_axis, double epsilon) {
  HONE_TRY(expect_float("layer norm", x));
  HONE_TRY(expect_equal_types("layer norm", x, scale));
  HONE_TRY(expect_equal_types("layer norm", x, bias));
  HONE_TRY(const std::size_t first, normalize_axis("layer norm", first_axis, x.rank()));
  const auto split = static_cast<std::ptrdiff_t>(first);
  const Shape normalized(x.shape().begin() + split, x.shape().end());
  for (const Tensor* operand : {&scale, &bias})
    if (operand->shape() != normalized)
      return error(ErrorCode::InvalidArgument, "layer norm: '{}' has shape {}, allowed is {}", operand->name(),
                   show_shape(operand->shape()), show_shape(normalized));

  std::vector<int> axes;
  for (std::size_t axis = first; axis < x.rank(); ++axis) axes.push_back(static_cast<int>(axis));
  const auto outer = [&](const Indices& i) { return Indices(i.begin(), i.begin() + split); };
  const auto inner = [&](const Indices& i) { return Indices(i.begin() + split, i.end()); };
  HONE_TRY(const Tensor mean, reduce_axes(x, ReduceKind::Mean, axes));
  const Tensor centered =
      compute("centered", axes_of(x.shape()), [&](const Indices& i) { return x(i) - mean(outer(i)); });
  const Tensor square = map("square", centered, [](const Expr& e) { return e * e; });
  HONE_TRY(const Tensor variance, reduce_axes(square, ReduceKind::Mean, axes));
  return compute("layer_norm", axes_of(x.shape()), [&](const Indices& i) {
    const Expr factor = ir::call(ir::Intrinsic::Rsqrt, {variance(outer(i)) + ir::constant(x.type(), epsilon)});
    return centered(i) * factor * scale(inner(i)) + bias(inner(i));
  });
}

}  // namespace hone::tensor
