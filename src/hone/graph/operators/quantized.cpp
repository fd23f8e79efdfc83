#include "hone/graph/operators/quantized.h"

#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

bool is_single(const Application& op, std::size_t input) {
  for (const std::int64_t extent : op.shape(input))
    if (extent != 1) return false;
  return true;
}

Result<void> expect_single(const Application& op, std::size_t input) {
  if (!op.has(input) || is_single(op, input)) return {};
  return op.fail("input {} has shape {}, allowed is one number", input, tensor::show_shape(op.shape(input)));
}

Expr scalar_or_entry(const Application& op, std::size_t input, const Expr& index) {
  const Tensor& x = op.tensor(input);
  Indices at(x.rank(), ir::imm(0));
  if (!is_single(op, input) && !at.empty()) at.back() = index;
  return x(at);
}

Result<Tensor> without_zero_point(const Application& op, std::size_t input, std::size_t zero_point, std::size_t axis) {
  const Tensor& x = op.tensor(input);
  if (!op.has(zero_point)) return tensor::map("widened", x, [](const Expr& e) { return ir::cast(ir::kI32, e); });
  const bool fits = is_single(op, zero_point) ||
                    (op.rank(zero_point) == 1 && axis < x.rank() && op.shape(zero_point)[0] == x.extent(axis));
  if (!fits)
    return op.fail(
        "a zero point of shape {} for an input of shape {}, allowed is one number, or one for each of axis {}",
        tensor::show_shape(op.shape(zero_point)), tensor::show_shape(x.shape()), axis);
  return tensor::compute("centered", tensor::axes_of(x.shape()), [&](const Indices& i) {
    const Expr index = axis < i.size() ? i[axis] : ir::imm(0);
    return ir::cast(ir::kI32, x(i)) - ir::cast(ir::kI32, scalar_or_entry(op, zero_point, index));
  });
}

Expr quantized(const Expr& value, const Expr& zero_point, ir::DType type) {
  // the sum in floats is exact where it matters: within the narrow type
  const Expr moved = ir::call(ir::Intrinsic::Round, {value}) + ir::cast(value.type(), zero_point);
  const Expr low = ir::constant(value.type(), static_cast<double>(ir::min_value(type)));
  const Expr high = ir::constant(value.type(), static_cast<double>(ir::max_value(type)));
  return ir::cast(type, ir::min(ir::max(moved, low), high));
}

}  // namespace hone::graph
