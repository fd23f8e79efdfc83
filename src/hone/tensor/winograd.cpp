/// Winograd's convolution: m by m results from (m + 2)² products a channel instead of 9 m².
///
/// A 3×3 convolution of a tile is a product of polynomials, which (m + 2) points along each axis determine: weights and
/// input become values at these points, the channels are summed there by one matrix product a point, and the results
/// are interpolated. All three transforms are separable, one axis a stage (arXiv 1509.09308, section 4).
#include <algorithm>
#include <cmath>

#include "hone/support/arithmetic.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/shapes.h"

namespace hone::tensor {

using ir::Expr;

namespace {

constexpr std::int64_t kKernel = 3;

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

/// The points but for the last, which is infinity: 0, then each with its negative, smallest numerators first.
Row finite_points(std::int64_t m) {
  const Row all = {0, 1, -1, 2, -2, 0.5, -0.5};
  return Row(all.begin(), all.begin() + m + kKernel - 2);
}

/// The coefficients of the product of (x - point) over all points but the one at `except`, lowest power first.
Row monic_polynomial(const Row& points, std::size_t except) {
  Row product = {1};
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == except) continue;
    product.push_back(0);
    for (std::size_t power = product.size(); power-- > 0;)
      product[power] = (power > 0 ? product[power - 1] : 0) - points[i] * product[power];
  }
  return product;
}

/// The matrices of F(m, 3) by Cook and Toom, one row for each value that a transform gives.
struct Transforms {
  Matrix weight, input, output;
};

Transforms make_transforms(std::int64_t m) {
  const Row points = finite_points(m);
  const std::size_t count = points.size() + 1, last = points.size();
  Transforms result{.weight = {}, .input = {}, .output = Matrix(static_cast<std::size_t>(m), Row(count, 0))};
  for (std::size_t j = 0; j < last; ++j) {
    Row input = monic_polynomial(points, j);
    double scale = 0;
    for (std::size_t power = input.size(); power-- > 0;) scale = scale * points[j] + input[power];
    input.resize(count, 0);
    result.input.push_back(std::move(input));
    result.weight.push_back({1 / scale, points[j] / scale, points[j] * points[j] / scale});
    for (std::size_t power = 0; power < result.output.size(); ++power)
      result.output[power][j] = std::pow(points[j], static_cast<double>(power));
  }
  result.input.push_back(monic_polynomial(points, last));
  result.weight.push_back({0, 0, 1});
  result.output.back()[last] = 1;
  return result;
}

/// One addend: a value and what it is multiplied by.
struct Term {
  double factor;
  Expr value;
};

/// The sum of the terms, nothing (null) if all factors are 0. Nothing is multiplied by 0 or 1, and a term that needs no
/// multiplication comes first, so that the others are one multiply-add each.
Expr sum_of(const std::vector<Term>& terms) {
  Expr sum;
  const auto add = [&](const Term& term) {
    const bool is_plain = std::abs(term.factor) == 1;
    const Expr scaled = is_plain ? term.value : term.value * ir::constant(term.value.type(), std::abs(term.factor));
    if (!sum) {
      sum = term.factor < 0 ? -scaled : scaled;
    } else {
      sum = term.factor < 0 ? sum - scaled : sum + scaled;
    }
  };
  for (const Term& term : terms)
    if (term.factor == 1) add(term);
  for (const Term& term : terms)
    if (term.factor > 0 && term.factor != 1) add(term);
  for (const Term& term : terms)
    if (term.factor < 0) add(term);
  return sum;
}

using Values = FunctionRef<Expr(std::size_t)>;

/// One value of the weight's or the input's transform. Rows of opposite points differ in the sign of their odd part
/// only, so both parts are written such that the compiler finds them equal.
Expr at_point(const Row& row, Values values) {
  std::vector<Term> even, odd;
  for (std::size_t i = 0; i < row.size(); ++i)
    if (row[i] != 0) (i % 2 == 0 ? even : odd).push_back({row[i], values(i)});
  if (odd.empty()) return sum_of(even);
  const double scale = odd.back().factor;
  for (Term& term : odd) term.factor /= scale;
  const Term odd_part{scale, sum_of(odd)};
  if (even.empty()) return sum_of({odd_part});
  return sum_of({{1, sum_of(even)}, odd_part});
}

/// One value of the output's transform: sums and differences of the values at opposite points, which all rows share.
Expr at_power(const Row& row, Values values) {
  std::vector<Term> terms = {{row.front(), values(0)}};
  for (std::size_t i = 1; i + 2 < row.size(); i += 2)
    terms.push_back({row[i], row[i] == row[i + 1] ? values(i) + values(i + 1) : values(i) - values(i + 1)});
  terms.push_back({row.back(), values(row.size() - 1)});
  return sum_of(terms);
}

/// The value of the row that an index says. Each row is a formula of its own: an unrolled loop leaves one of them.
Expr choose(const Matrix& matrix, const Expr& index, Expr (*formula)(const Row&, Values), Values values) {
  Expr chosen = formula(matrix.back(), values);
  for (std::size_t row = matrix.size() - 1; row-- > 0;)
    chosen = ir::select(ir::eq(index, static_cast<std::int64_t>(row)), formula(matrix[row], values), chosen);
  return chosen;
}

Expr at(std::size_t position) { return ir::imm(static_cast<std::int64_t>(position)); }

/// An error unless F(m, 3) is defined for the operands.
Result<void> check(const Tensor& x, const Tensor& weight, const ConvOptions& options, std::int64_t m) {
  constexpr std::string_view kWhat = "winograd conv";
  HONE_TRY(expect_float(kWhat, x));
  HONE_TRY(expect_equal_types(kWhat, x, weight));
  if (m != 2 && m != 4 && m != 6)
    return error(ErrorCode::InvalidArgument, "{}: tiles of {}, allowed are 2, 4 and 6", kWhat, m);
  if (x.rank() != 4 || weight.rank() != 4 || weight.extent(2) != kKernel || weight.extent(3) != kKernel)
    return error(ErrorCode::InvalidArgument, "{}: input {} by weight {}, allowed are four axes and kernels of 3 by 3",
                 kWhat, show_shape(x.shape()), show_shape(weight.shape()));
  if (weight.extent(1) != x.extent(1))
    return error(ErrorCode::InvalidArgument, "{}: the weight has {} input channels, the input {}, they must be equal",
                 kWhat, weight.extent(1), x.extent(1));
  const auto is_one = [](std::int64_t value) { return value == 1; };
  for (const auto* list : {&options.strides, &options.dilations})
    if (!std::all_of(list->begin(), list->end(), is_one))
      return error(ErrorCode::InvalidArgument, "{}: strides {} and dilations {}, allowed is 1", kWhat,
                   show_shape(options.strides), show_shape(options.dilations));
  if (options.groups != 1)
    return error(ErrorCode::InvalidArgument, "{}: {} groups, allowed is 1", kWhat, options.groups);
  if (!options.output_padding.empty())
    return error(ErrorCode::InvalidArgument, "{}: output padding {}, allowed for transposed convolutions only", kWhat,
                 show_shape(options.output_padding));
  return {};
}

}  // namespace

Result<Tensor> winograd_conv(const Tensor& x, const Tensor& weight, const ConvOptions& options, std::int64_t m) {
  HONE_TRY(check(x, weight, options, m));
  HONE_TRY(Window window, make_window("winograd conv", {kKernel, kKernel}, options.strides, options.padding_before,
                                      options.padding_after, options.dilations));
  HONE_TRY(const Shape positions, window_positions("winograd conv", x.shape(), window));
  const std::int64_t tiles_y = ceil_div(positions[0], m), tiles_x = ceil_div(positions[1], m);
  window.after[0] += tiles_y * m - positions[0];  // whole tiles
  window.after[1] += tiles_x * m - positions[1];
  const Tensor padded = pad_spatial(x, window, ir::constant(x.type(), 0.0));
  const ir::DType type = options.result == ir::kVoid ? x.type() : options.result;

  const Transforms transforms = make_transforms(m);
  const Axis a{"a", m + kKernel - 1}, b{"b", m + kKernel - 1}, in{"c", x.extent(1)}, out{"o", weight.extent(0)};
  const Axis batch{"n", x.extent(0)}, tile_y{"y", tiles_y}, tile_x{"x", tiles_x};

  const Tensor weight_rows = compute("weight_rows", {a, {"kx", kKernel}, out, in}, [&](const Indices& i) {
    return choose(transforms.weight, i[0], at_point,
                  [&](std::size_t ky) { return ir::cast(type, weight(i[2], i[3], at(ky), i[1])); });
  });
  const Tensor weight_points = compute("weight_points", {a, b, out, in}, [&](const Indices& i) {
    return choose(transforms.weight, i[1], at_point,
                  [&](std::size_t kx) { return weight_rows(i[0], at(kx), i[2], i[3]); });
  });
  const Tensor input_rows =
      compute("input_rows", {a, {"ix", b.extent}, batch, tile_y, tile_x, in}, [&](const Indices& i) {
        return choose(transforms.input, i[0], at_point, [&](std::size_t iy) {
          return ir::cast(type, padded(i[2], i[5], i[3] * m + at(iy), i[4] * m + i[1]));
        });
      });
  const Tensor input_points = compute("input_points", {a, b, batch, tile_y, tile_x, in}, [&](const Indices& i) {
    return choose(transforms.input, i[1], at_point,
                  [&](std::size_t ix) { return input_rows(i[0], at(ix), i[2], i[3], i[4], i[5]); });
  });
  const Tensor products = compute(kWinogradProducts, {a, b, batch, tile_y, tile_x, out}, [&](const Indices& i) {
    return reduce_sum({in}, [&](const Indices& r) {
      return input_points(i[0], i[1], i[2], i[3], i[4], r[0]) * weight_points(i[0], i[1], i[5], r[0]);
    });
  });
  const Tensor output_rows = compute("output_rows", {{"oy", m}, b, batch, tile_y, tile_x, out}, [&](const Indices& i) {
    return choose(transforms.output, i[0], at_power,
                  [&](std::size_t point) { return products(at(point), i[1], i[2], i[3], i[4], i[5]); });
  });
  return compute("winograd_conv", {batch, out, {"y", positions[0]}, {"x", positions[1]}}, [&](const Indices& i) {
    return choose(transforms.output, ir::floor_mod(i[3], m), at_power, [&](std::size_t point) {
      return output_rows(ir::floor_mod(i[2], m), at(point), i[0], ir::floor_div(i[2], m), ir::floor_div(i[3], m), i[1]);
    });
  });
}

}  // namespace hone::tensor
