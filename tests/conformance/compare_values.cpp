#include "compare_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace hone::conformance {
namespace {

using runtime::ElementType;
using runtime::Tensor;
using runtime::Value;

bool is_close(double found, double expected, const Tolerance& tolerance) {
  if (std::isnan(expected)) return std::isnan(found);
  if (found == expected) return true;
  return std::abs(found - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

bool is_integral(ElementType type) {
  switch (type) {
    case ElementType::U4:
    case ElementType::I4:
    case ElementType::U2:
    case ElementType::I2:
    case ElementType::Bool:
      return true;
    default:
      return runtime::is_integer(type);
  }
}

/// Describes how many of `size` elements differ and the first of them.
template <typename T>
std::optional<std::string> first_of(std::size_t wrong, std::size_t size, std::size_t first, const T& found,
                                    const T& expected) {
  if (wrong == 0) return std::nullopt;
  return fmt::format("{} of {} elements differ, the first at {}: {} instead of {}", wrong, size, first, found,
                     expected);
}

template <typename T, typename IsEqual>
std::optional<std::string> compare(const T& found, const T& expected, const IsEqual& is_equal) {
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!is_equal(found[i], expected[i]) && wrong++ == 0) first = i;
  if (wrong == 0) return std::nullopt;
  return first_of(wrong, expected.size(), first, found[first], expected[first]);
}

std::optional<std::string> compare_tensors(const Tensor& found, const Tensor& expected, const Tolerance& tolerance) {
  if (found.type() == ElementType::BF16 && expected.type() == ElementType::U16 && found.shape() == expected.shape()) {
    // the bits of bfloat16, which numpy lacks: the suite compares them as numbers
    return compare(*found.reinterpreted(ElementType::U16).to_doubles(), *expected.to_doubles(),
                   [&](double x, double y) { return is_close(x, y, tolerance); });
  }
  if (found.type() != expected.type() || found.shape() != expected.shape())
    return fmt::format("{} instead of {}", runtime::describe(found.type(), found.shape()),
                       runtime::describe(expected.type(), expected.shape()));
  if (expected.type() == ElementType::String) return compare(found.strings(), expected.strings(), std::equal_to<>());
  if (is_integral(expected.type())) {
    const auto a = found.to_ints(), b = expected.to_ints();
    return compare(*a, *b, std::equal_to<>());
  }
  if (expected.type() == ElementType::C64) {
    const Tensor a = Tensor::view(ElementType::F32, {2 * found.size()}, const_cast<std::byte*>(found.data()), nullptr);
    const Tensor b =
        Tensor::view(ElementType::F32, {2 * expected.size()}, const_cast<std::byte*>(expected.data()), nullptr);
    return compare_tensors(a, b, tolerance);
  }
  const auto a = found.to_doubles(), b = expected.to_doubles();
  if (!a || !b)
    return std::memcmp(found.data(), expected.data(), expected.bytes()) == 0
               ? std::nullopt
               : std::optional<std::string>("the bytes differ");
  return compare(*a, *b, [&](double x, double y) { return is_close(x, y, tolerance); });
}

std::optional<std::string> compare_all(const std::vector<Value>& found, const std::vector<Value>& expected,
                                       const Tolerance& tolerance) {
  if (found.size() != expected.size()) return fmt::format("{} values instead of {}", found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (auto differs = difference(found[i], expected[i], tolerance)) return fmt::format("value {}: {}", i, *differs);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> difference(const Value& found, const Value& expected, const Tolerance& tolerance) {
  if (expected.tensor() && found.tensor()) return compare_tensors(*found.tensor(), *expected.tensor(), tolerance);
  if (expected.sequence() && found.sequence()) return compare_all(*found.sequence(), *expected.sequence(), tolerance);
  if (expected.map() && found.map()) {
    if (found.map()->keys != expected.map()->keys) return "the keys of the map differ";
    return compare_all(found.map()->values, expected.map()->values, tolerance);
  }
  if (expected.is_absent() && found.is_absent()) return std::nullopt;
  return fmt::format("{} instead of {}", found.describe(), expected.describe());
}

}  // namespace hone::conformance
