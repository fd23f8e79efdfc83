#include "hone/ir/number_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "hone/ir/expr.h"

namespace hone::ir {

namespace {

template <typename Float>
std::optional<double> read(std::string_view digits) {
  Float value = 0;
  const auto [stop, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc() || stop != digits.data() + digits.size() || !std::isfinite(value)) return std::nullopt;
  return static_cast<double>(value);
}

}  // namespace

std::string float_to_text(DType type, double value) {
  std::array<char, 64> buffer;
  const auto finish = [&](std::to_chars_result result) { return std::string(buffer.data(), result.ptr); };
  if (type.scalar == Scalar::F64) return finish(std::to_chars(buffer.begin(), buffer.end(), value));
  if (type.scalar == Scalar::F32) return finish(std::to_chars(buffer.begin(), buffer.end(), static_cast<float>(value)));

  // The library knows no narrower type: ask for ever more digits until they suffice.
  for (int digits = 1;; ++digits) {
    const std::string text =
        finish(std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::general, digits));
    if (digits == 17 || float_from_text(type, text) == value) return text;
  }
}

std::optional<double> float_from_text(DType type, std::string_view digits) {
  // Reading an f32 by way of a double would round twice.
  if (type.scalar == Scalar::F32) return read<float>(digits);
  const std::optional<double> value = read<double>(digits);
  if (!value || type.scalar == Scalar::F64) return value;
  const double rounded = round_to(type.element(), *value);
  return std::isfinite(rounded) ? std::optional(rounded) : std::nullopt;
}

}  // namespace hone::ir
