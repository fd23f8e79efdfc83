#include "hone/measure/check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace hone::measure {
namespace {

/// Reads floats at full speed and everything else by way of ir::Number.
class Elements {
 public:
  explicit Elements(const Buffer& buffer) : buffer_(buffer), is_f32_(buffer.type.scalar == ir::Scalar::F32) {}

  double operator[](std::int64_t i) const {
    if (!is_f32_) return element(buffer_, i);
    float value = 0;
    std::memcpy(&value, buffer_.data() + i * 4, 4);
    return value;
  }

 private:
  const Buffer& buffer_;
  bool is_f32_;
};

/// How far `a` is from `b` in units of the larger of |b| and `scale`; NaN counts as infinitely far from numbers.
double distance(double a, double b, double scale) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double unit = std::max(std::abs(b), scale), difference = std::abs(a - b) / (unit > 0 ? unit : 1);
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

/// A number for people: NaN has no sign that would tell them anything.
std::string number_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

/// Whether all floats are within `allowed`, and the largest distance: what compare_values finds out for each element,
/// but in several lanes at once. False if one is too far off, or nearly: then they are looked at one by one.
bool are_surely_close(const Buffer& actual, const Buffer& expected, float scale, float allowed, double& largest) {
  constexpr std::int64_t kLanes = 16;
  const std::int64_t whole = actual.count / kLanes * kLanes;
  const float limit = 0.999F * allowed;
  std::array<float, kLanes> a{}, b{}, worst{};
  std::array<std::int32_t, kLanes> wrong{};
  const auto add = [&] {
    for (std::int64_t k = 0; k < kLanes; ++k) {
      const float size = b[k] < 0 ? -b[k] : b[k], unit = size > scale ? size : scale;
      const float signed_off = (a[k] - b[k]) / unit, off = signed_off < 0 ? -signed_off : signed_off;
      worst[k] = off > worst[k] ? off : worst[k];
      wrong[k] |= off <= limit ? 0 : 1;  // NaN is wrong as well
    }
  };
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    std::memcpy(a.data(), actual.data() + i * 4, sizeof a);
    std::memcpy(b.data(), expected.data() + i * 4, sizeof b);
    add();
  }
  a = b = {};
  std::memcpy(a.data(), actual.data() + whole * 4, static_cast<std::size_t>(actual.count - whole) * 4);
  std::memcpy(b.data(), expected.data() + whole * 4, static_cast<std::size_t>(actual.count - whole) * 4);
  add();
  largest = *std::max_element(worst.begin(), worst.end());
  return std::all_of(wrong.begin(), wrong.end(), [](std::int32_t lane) { return lane == 0; });
}

}  // namespace

Expected expect(Buffer values) {
  Expected expected{std::move(values), 0};
  if (!expected.values.type.is_float()) return expected;
  const Elements elements(expected.values);
  double sum = 0, numbers = 0;
  for (std::int64_t i = 0; i < expected.values.count; ++i) {
    const double value = elements[i];
    if (!std::isfinite(value)) continue;
    sum += value * value;
    numbers += 1;
  }
  if (numbers > 0) expected.scale = std::sqrt(sum / numbers);
  return expected;
}

double default_tolerance(ir::DType type) {
  switch (type.scalar) {
    case ir::Scalar::F16:
      return 1e-2;
    case ir::Scalar::BF16:
      return 5e-2;
    case ir::Scalar::F64:
      return 1e-9;
    default:
      return 1e-3;
  }
}

Comparison compare_values(std::string_view name, const Buffer& actual, const Expected& expected, double tolerance,
                          std::int64_t integer_tolerance) {
  if (actual.type != expected.values.type || actual.shape != expected.values.shape)
    return {TrialStatus::WrongAnswer, 0, fmt::format("output '{}' has another type or shape than is expected", name)};
  const bool is_float = actual.type.is_float();
  const double allowed = !is_float       ? static_cast<double>(integer_tolerance)
                         : tolerance < 0 ? default_tolerance(actual.type)
                                         : tolerance;
  Comparison comparison;
  if (actual.type == ir::kF32 && expected.scale > 0 &&
      are_surely_close(actual, expected.values, static_cast<float>(expected.scale), static_cast<float>(allowed),
                       comparison.largest_error))
    return comparison;
  comparison.largest_error = 0;
  const Elements got(actual), wanted(expected.values);
  std::int64_t first = -1, wrong = 0;
  bool has_nan = false;
  for (std::int64_t i = 0; i < actual.count; ++i) {
    const double a = got[i], b = wanted[i];
    const double off = is_float ? distance(a, b, expected.scale) : std::abs(a - b);
    comparison.largest_error = std::max(comparison.largest_error, off);
    if (off <= allowed) continue;
    if (first < 0) first = i;
    if (std::isnan(a)) has_nan = true;
    ++wrong;
  }
  if (first < 0) return comparison;
  comparison.status = has_nan ? TrialStatus::NotANumber : TrialStatus::WrongAnswer;
  comparison.message = fmt::format("output '{}': element {} is {}, expected is {}; {} of {} elements are wrong", name,
                                   first, number_text(got[first]), number_text(wanted[first]), wrong, actual.count);
  return comparison;
}

Comparison look_for_nan(std::string_view name, const Buffer& actual) {
  if (!actual.type.is_float()) return {};
  const Elements elements(actual);
  for (std::int64_t i = 0; i < actual.count; ++i)
    if (std::isnan(elements[i]))
      return {TrialStatus::NotANumber, 0, fmt::format("output '{}': element {} is nan", name, i)};
  return {};
}

}  // namespace hone::measure
