#include "hone/runtime/kernels/fourier.h"

#include <algorithm>
#include <numbers>

namespace hone::runtime {
namespace {

using Complex = std::complex<double>;
using Complexes = std::vector<Complex>;

/// exp(sign · 2πi · n / count).
Complex root_of_unity(std::int64_t n, std::int64_t count, double sign) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(count);
  return {std::cos(angle), sign * std::sin(angle)};
}

/// In place, for powers of two: exchanges by reversed bits, then merges ever longer transforms.
void transform_power_of_two(Complexes& x, double sign) {
  const std::size_t count = x.size();
  for (std::size_t i = 1, reversed = 0; i < count; ++i) {
    std::size_t bit = count >> 1;
    for (; (reversed & bit) != 0; bit >>= 1) reversed ^= bit;
    reversed ^= bit;
    if (i < reversed) std::swap(x[i], x[reversed]);
  }
  Complexes roots(count / 2);
  for (std::size_t n = 0; n < roots.size(); ++n)
    roots[n] = root_of_unity(static_cast<std::int64_t>(n), static_cast<std::int64_t>(count), sign);
  for (std::size_t half = 1; half < count; half *= 2)
    for (std::size_t begin = 0; begin < count; begin += 2 * half)
      for (std::size_t n = 0; n < half; ++n) {
        const Complex odd = x[begin + half + n] * roots[n * (count / (2 * half))];
        x[begin + half + n] = x[begin + n] - odd;
        x[begin + n] += odd;
      }
}

/// Any length as a convolution of a power of two (Bluestein): n·k = (n² + k² - (k - n)²) / 2.
Complexes transform_any(const Complexes& x, double sign) {
  const auto count = static_cast<std::int64_t>(x.size());
  std::size_t padded = 1;
  while (padded < 2 * x.size()) padded *= 2;
  Complexes chirp(x.size()), a(padded), b(padded);
  for (std::int64_t n = 0; n < count; ++n) {
    const auto at = static_cast<std::size_t>(n);
    chirp[at] = root_of_unity(n * n % (2 * count), 2 * count, sign);
    a[at] = x[at] * chirp[at];
    b[at] = std::conj(chirp[at]);
    if (n > 0) b[padded - at] = b[at];
  }
  transform_power_of_two(a, -1);
  transform_power_of_two(b, -1);
  for (std::size_t n = 0; n < padded; ++n) a[n] *= b[n];
  transform_power_of_two(a, 1);
  Complexes y(x.size());
  for (std::size_t k = 0; k < y.size(); ++k) y[k] = a[k] * chirp[k] / static_cast<double>(padded);
  return y;
}

template <typename T>
void run_rows(const Tensor& x, Tensor& y, std::int64_t length, bool is_inverse, bool is_one_sided) {
  const auto inputs = x.extent(x.rank() - 2), in_parts = x.extent(x.rank() - 1);
  const auto outputs = y.extent(y.rank() - 2), out_parts = y.extent(y.rank() - 1);
  const std::int64_t rows = inputs * in_parts == 0 ? 0 : x.size() / (inputs * in_parts);
  const bool is_mirrored = is_inverse && is_one_sided;
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* from = x.as<T>().data() + row * inputs * in_parts;
    T* to = y.as<T>().data() + row * outputs * out_parts;
    Complexes numbers(static_cast<std::size_t>(length));
    for (std::int64_t n = 0; n < std::min(inputs, length); ++n) {
      const Complex number(from[n * in_parts], in_parts == 2 ? from[n * in_parts + 1] : T{0});
      numbers[static_cast<std::size_t>(n)] = number;
      if (is_mirrored && n > 0 && 2 * n < length) numbers[static_cast<std::size_t>(length - n)] = std::conj(number);
      if (is_mirrored && (n == 0 || 2 * n == length)) numbers[static_cast<std::size_t>(n)] = number.real();
    }
    const Complexes result = fourier(std::move(numbers), is_inverse);
    const double factor = is_inverse ? 1 / static_cast<double>(length) : 1;
    for (std::int64_t k = 0; k < outputs; ++k) {
      const Complex value = result[static_cast<std::size_t>(k)] * factor;
      to[k * out_parts] = static_cast<T>(value.real());
      if (out_parts == 2) to[k * out_parts + 1] = static_cast<T>(value.imag());
    }
  }
}

}  // namespace

std::vector<Complex> fourier(std::vector<Complex> x, bool is_inverse) {
  const double sign = is_inverse ? 1 : -1;
  if (x.empty() || (x.size() & (x.size() - 1)) != 0) return x.empty() ? x : transform_any(x, sign);
  transform_power_of_two(x, sign);
  return x;
}

Result<void> run_fourier(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  const bool is_inverse = call.attributes.integer("inverse", 0) != 0;
  const bool is_one_sided = call.attributes.integer("onesided", 0) != 0;
  const std::int64_t length = call.attributes.integer("length", 0), outputs = call.attributes.integer("outputs", 0);
  if (x.rank() < 2 || length < 1 || outputs < 0 || outputs > length || x.extent(x.rank() - 1) < 1)
    return error(ErrorCode::InvalidArgument, "{} of {} entries from {}", outputs, length,
                 describe(x.type(), x.shape()));
  Shape shape = x.shape();
  shape[shape.size() - 2] = outputs;
  shape.back() = is_inverse && is_one_sided ? 1 : 2;
  HONE_TRY(Tensor y, call.output(0, x.type(), shape));
  if (x.type() == ElementType::F32)
    run_rows<float>(x, y, length, is_inverse, is_one_sided);
  else if (x.type() == ElementType::F64)
    run_rows<double>(x, y, length, is_inverse, is_one_sided);
  else
    return error(ErrorCode::Unsupported, "a transform of {}, allowed are float and double", name_of(x.type()));
  return {};
}

}  // namespace hone::runtime
