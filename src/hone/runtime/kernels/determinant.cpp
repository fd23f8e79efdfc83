#include "hone/runtime/kernels/determinant.h"

#include <algorithm>
#include <cmath>

#include "hone/runtime/small_float.h"

namespace hone::runtime {
namespace {

/// Eliminates below the largest element of each column; the product of those elements, with the sign of the exchanges.
double determinant(std::vector<double> matrix, std::size_t n) {
  double product = 1;
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row)
      if (std::abs(matrix[row * n + column]) > std::abs(matrix[pivot * n + column])) pivot = row;
    const double largest = matrix[pivot * n + column];
    if (largest == 0) return 0;
    if (pivot != column) {
      std::swap_ranges(matrix.begin() + static_cast<std::ptrdiff_t>(pivot * n),
                       matrix.begin() + static_cast<std::ptrdiff_t>(pivot * n + n),
                       matrix.begin() + static_cast<std::ptrdiff_t>(column * n));
      product = -product;
    }
    product *= largest;
    for (std::size_t row = column + 1; row < n; ++row) {
      const double factor = matrix[row * n + column] / largest;
      for (std::size_t k = column; k < n; ++k) matrix[row * n + k] -= factor * matrix[column * n + k];
    }
  }
  return product;
}

}  // namespace

Result<void> run_determinant(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  if (x.rank() < 2 || x.shape().back() != x.extent(x.rank() - 2))
    return error(ErrorCode::InvalidArgument, "an input {}, allowed are square matrices", describe(x.type(), x.shape()));
  HONE_TRY(const std::vector<double> elements, x.to_doubles());
  HONE_TRY(Tensor y, call.output(0, x.type(), Shape(x.shape().begin(), x.shape().end() - 2)));
  const auto n = static_cast<std::size_t>(x.shape().back());
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const auto first = elements.begin() + i * static_cast<std::ptrdiff_t>(n * n);
    const double value = determinant(std::vector<double>(first, first + static_cast<std::ptrdiff_t>(n * n)), n);
    const auto at = static_cast<std::size_t>(i);
    if (y.type() == ElementType::F64)
      y.as<double>()[at] = value;
    else if (y.type() == ElementType::F32)
      y.as<float>()[at] = static_cast<float>(value);
    else
      y.as<std::uint16_t>()[at] = static_cast<std::uint16_t>(float_to_small_float(y.type(), static_cast<float>(value)));
  }
  return {};
}

}  // namespace hone::runtime
