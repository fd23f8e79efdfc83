#include <algorithm>

#include "hone/graph/operators/families.h"
#include "hone/graph/operators/product.h"
#include "hone/graph/operators/quantized.h"
#include "hone/graph/operators/reduce_plan.h"
#include "hone/runtime/kernels/determinant.h"
#include "hone/tensor/shapes.h"

namespace hone::graph {

using ir::Expr;
using tensor::Indices;
using tensor::Tensor;

Result<Tensor> product_of(const Application& op, const Tensor& a, const Tensor& b, tensor::MatmulOptions options) {
  if (a.rank() == 0 || b.rank() == 0) return op.fail("a scalar as operand, allowed is 1 axis and more");
  const bool is_row = a.rank() == 1, is_column = b.rank() == 1;
  const Tensor left = !is_row ? a : tensor::compute("row", {1, a.extent(0)}, [&](const Indices& i) { return a(i[1]); });
  const Tensor right =
      !is_column ? b : tensor::compute("column", {b.extent(0), 1}, [&](const Indices& i) { return b(i[0]); });
  if (is_row) options.transpose_a = false;
  if (is_column) options.transpose_b = false;
  auto product = tensor::matmul(left, right, options);
  if (!product) return op.fail("{}", product.error().message);
  if (!is_row && !is_column) return *product;
  tensor::Shape shape = product->shape();
  if (is_row) shape.erase(shape.end() - 2);
  if (is_column) shape.pop_back();
  return tensor::compute("product", tensor::axes_of(shape), [&](const Indices& i) {
    Indices at = i;
    if (is_row) at.insert(is_column ? at.end() : at.end() - 1, ir::imm(0));
    if (is_column) at.push_back(ir::imm(0));
    return (*product)(at);
  });
}

Result<Tensor> centered_operand(const Application& op, std::size_t input, std::size_t zero_point, Side side) {
  const Tensor& x = op.tensor(input);
  const bool is_vector = op.has(zero_point) && op.rank(zero_point) == 1 && !is_single(op, zero_point);
  if (!op.has(zero_point) || is_single(op, zero_point) || (is_vector && side == Side::Left && x.rank() >= 2))
    return without_zero_point(op, input, zero_point, std::max<std::size_t>(x.rank(), 2) - 2);
  const auto shape = tensor::broadcast(op.op(), x.shape(), op.shape(zero_point));
  if (!shape || *shape != x.shape())
    return op.fail("a zero point of shape {} for an operand of shape {}", tensor::show_shape(op.shape(zero_point)),
                   tensor::show_shape(x.shape()));
  return tensor::compute("centered", tensor::axes_of(x.shape()), [&](const Indices& i) {
    return ir::cast(ir::kI32, x(i)) - ir::cast(ir::kI32, tensor::broadcast_at(op.tensor(zero_point), i));
  });
}

namespace {

Result<std::vector<Tensor>> define_matmul(const Application& op) {
  const Tensor& a = op.tensor(0);
  HONE_TRY(const Tensor product, product_of(op, a, op.tensor(1), {.result = accumulator_type(a.type())}));
  return std::vector<Tensor>{converted(product, a.type())};
}

/// factor · e; integers are multiplied as reals and cut.
Expr scaled(const Expr& e, double factor) {
  if (factor == 1) return e;
  if (e.type().is_float()) return e * ir::constant(e.type(), factor);
  return ir::cast(e.type(), ir::cast(ir::kF64, e) * ir::constant(ir::kF64, factor));
}

Result<std::vector<Tensor>> define_gemm(const Application& op) {
  const Tensor &a = op.tensor(0), &b = op.tensor(1);
  if (a.rank() != 2 || b.rank() != 2)
    return op.fail("operands of {} and {} axes, allowed are 2 and 2", a.rank(), b.rank());
  const ir::DType type = accumulator_type(a.type());
  const tensor::MatmulOptions options{
      .transpose_a = op.integer("transA", 0) != 0, .transpose_b = op.integer("transB", 0) != 0, .result = type};
  HONE_TRY(const Tensor product, product_of(op, a, b, options));
  const double alpha = op.real("alpha", 1), beta = op.real("beta", 1);
  const bool has_c = op.has(2) && beta != 0;
  if (has_c) {
    const auto shape = tensor::broadcast(op.op(), product.shape(), op.shape(2));
    if (!shape || *shape != product.shape())
      return op.fail("C of shape {} does not broadcast to {}", tensor::show_shape(op.shape(2)),
                     tensor::show_shape(product.shape()));
  }
  if (!has_c && alpha == 1) return std::vector<Tensor>{converted(product, a.type())};
  return std::vector<Tensor>{tensor::compute("gemm", tensor::axes_of(product.shape()), [&](const Indices& i) {
    Expr value = scaled(product(i), alpha);
    if (has_c) value = value + scaled(ir::cast(type, tensor::broadcast_at(op.tensor(2), i)), beta);
    return ir::cast(a.type(), value);
  })};
}

// Integers.

Result<std::vector<Tensor>> define_matmul_integer(const Application& op) {
  HONE_TRY(const Tensor a, centered_operand(op, 0, 2, Side::Left));
  HONE_TRY(const Tensor b, centered_operand(op, 1, 3, Side::Right));
  HONE_TRY(const Tensor product, product_of(op, a, b));
  return std::vector<Tensor>{product};
}

/// The scale of a result's element: a number, one per row, one per column, or what broadcasts.
Expr scale_at(const Application& op, std::size_t input, const Indices& i, bool is_left) {
  const Tensor& scale = op.tensor(input);
  if (is_single(op, input)) return ir::cast(ir::kF32, scalar_or_entry(op, input, ir::imm(0)));
  if (scale.rank() == 1 && is_left && i.size() >= 2) return ir::cast(ir::kF32, scale(i[i.size() - 2]));
  return ir::cast(ir::kF32, tensor::broadcast_at(scale, i));
}

Result<void> check_scale(const Application& op, std::size_t input, const tensor::Shape& result, bool is_left) {
  if (is_single(op, input)) return {};
  tensor::Shape shape = op.shape(input);
  if (shape.size() == 1 && is_left && result.size() >= 2) shape.push_back(1);
  const auto broadcast = tensor::broadcast(op.op(), shape, result);
  if (broadcast && *broadcast == result) return {};
  return op.fail("a scale of shape {} for a result of shape {}", tensor::show_shape(op.shape(input)),
                 tensor::show_shape(result));
}

/// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point.
Result<std::vector<Tensor>> define_quantized_matmul(const Application& op) {
  HONE_TRY(const Tensor a, centered_operand(op, 0, 2, Side::Left));
  HONE_TRY(const Tensor b, centered_operand(op, 3, 5, Side::Right));
  HONE_TRY(const Tensor product, product_of(op, a, b));
  HONE_TRY(expect_single(op, 7));
  HONE_TRY(check_scale(op, 1, product.shape(), true));
  HONE_TRY(check_scale(op, 4, product.shape(), false));
  HONE_TRY(check_scale(op, 6, product.shape(), true));
  const ir::DType type = op.tensor(op.has(7) ? 7 : 0).type();
  return std::vector<Tensor>{tensor::compute("quantized", tensor::axes_of(product.shape()), [&](const Indices& i) {
    const Expr scale = scale_at(op, 1, i, true) * scale_at(op, 4, i, false) / scale_at(op, 6, i, true);
    const Expr zero =
        op.has(7) ? ir::cast(ir::kI32, scalar_or_entry(op, 7, ir::imm(0))) : ir::constant(ir::kI32, std::int64_t{0});
    return quantized(ir::cast(ir::kF32, product(i)) * scale, zero, type);
  })};
}

Result<std::vector<OutputSpec>> infer_determinant(const Application& op) {
  const Shape& shape = op.shape(0);
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2])
    return op.fail("an input of shape {}, allowed are square matrices", tensor::show_shape(shape));
  return std::vector<OutputSpec>{{op.type(0), Shape(shape.begin(), shape.end() - 2)}};
}

}  // namespace

std::span<const Operator> matmul_operators() {
  static const Operator entries[] = {
      {.name = "MatMul", .schema = "A: T, B: T -> Y: T; ; T: number", .define = define_matmul},
      {.name = "Gemm",
       .schema = "A: T, B: T, C?: T -> Y: T; alpha, beta, transA, transB; T: number",
       .define = define_gemm},
      {.name = "Det",
       .schema = "X: T -> Y: T; ; T: float",
       .host = runtime::run_determinant,
       .infer = infer_determinant},
      {.name = "MatMulInteger",
       .schema = "A: uint8|int8, B: uint8|int8, a_zero_point?: uint8|int8, b_zero_point?: uint8|int8 -> Y: int32",
       .define = define_matmul_integer},
      {.name = "QLinearMatMul",
       .schema =
           "a: uint8|int8, a_scale: float, a_zero_point?: uint8|int8, b: uint8|int8, b_scale: float, b_zero_point?: "
           "uint8|int8, y_scale: float, y_zero_point?: Q -> y: Q; ; Q: uint8|int8",
       .define = define_quantized_matmul},
  };
  return entries;
}

}  // namespace hone::graph
