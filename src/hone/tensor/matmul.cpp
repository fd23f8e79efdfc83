#include <fmt/core.h>

#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::tensor {

using ir::Expr;

namespace {

Result<void> expect_matrices(const Tensor& x) {
  if (x.rank() < 2)
    return error(ErrorCode::InvalidArgument, "matmul: '{}' has {} axes, allowed is 2 and more", x.name(), x.rank());
  return {};
}

/// b for one batch axis, b0, b1, … for several, then i and j.
std::vector<Axis> result_axes(const Shape& batch, std::int64_t rows, std::int64_t columns) {
  std::vector<Axis> axes;
  for (std::size_t axis = 0; axis < batch.size(); ++axis)
    axes.emplace_back(batch.size() == 1 ? "b" : fmt::format("b{}", axis), batch[axis]);
  axes.emplace_back("i", rows);
  axes.emplace_back("j", columns);
  return axes;
}

}  // namespace

Result<Tensor> matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  HONE_TRY(expect_matrices(a));
  HONE_TRY(expect_matrices(b));
  HONE_TRY(expect_equal_types("matmul", a, b));
  const std::size_t a_rows = a.rank() - 2, b_rows = b.rank() - 2;
  const std::int64_t m = a.extent(a_rows + options.transpose_a), k = a.extent(a_rows + !options.transpose_a);
  const std::int64_t inner = b.extent(b_rows + options.transpose_b), n = b.extent(b_rows + !options.transpose_b);
  if (k != inner)
    return error(ErrorCode::InvalidArgument, "matmul: inner extents {} and {} differ, they must be equal", k, inner);
  const Shape a_batch(a.shape().begin(), a.shape().end() - 2), b_batch(b.shape().begin(), b.shape().end() - 2);
  HONE_TRY(const Shape batch, broadcast("matmul", a_batch, b_batch));

  const ir::DType type = options.result == ir::kVoid ? a.type() : options.result;
  const auto element = [&](const Tensor& x, const Indices& i, Expr row, Expr column, bool is_transposed) {
    if (is_transposed) std::swap(row, column);
    const std::size_t own_batches = x.rank() - 2;
    Indices indices;
    for (std::size_t axis = 0; axis < own_batches; ++axis)
      indices.push_back(x.extent(axis) == 1 ? ir::imm(0) : i[batch.size() - own_batches + axis]);
    indices.push_back(row);
    indices.push_back(column);
    return ir::cast(type, x(indices));
  };
  return compute("matmul", result_axes(batch, m, n), [&](const Indices& i) {
    return reduce_sum({{"k", k}}, [&](const Indices& r) {
      const Expr row = i[batch.size()], column = i[batch.size() + 1];
      return element(a, i, row, r[0], options.transpose_a) * element(b, i, r[0], column, options.transpose_b);
    });
  });
}

}  // namespace hone::tensor
