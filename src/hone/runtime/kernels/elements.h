/// Elements of any type, strings included, as C++ values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "hone/runtime/small_float.h"
#include "hone/runtime/value.h"

namespace hone::runtime {

/// A 16-bit float as it lies in memory; arithmetic happens in float.
template <ElementType kType>
struct SmallFloat {
  std::uint16_t bits;

  SmallFloat() = default;
  explicit SmallFloat(float value) : bits(float_to_small_float(kType, value)) {}
  explicit SmallFloat(double value) : SmallFloat(static_cast<float>(value)) {}
  operator float() const { return small_float_to_float(kType, bits); }
};

using Half = SmallFloat<ElementType::F16>;
using BFloat = SmallFloat<ElementType::BF16>;

/// Calls `f` with a value of the C++ type that holds elements of `type`, whose content means nothing: f(float()),
/// f(Half()), f(std::string()) … Bool is std::uint8_t. Other types are an Unsupported error.
template <typename F>
Result<void> with_element_type(ElementType type, F&& f) {
  switch (type) {
    case ElementType::F32:
      return f(float());
    case ElementType::F64:
      return f(double());
    case ElementType::F16:
      return f(Half());
    case ElementType::BF16:
      return f(BFloat());
    case ElementType::I8:
      return f(std::int8_t());
    case ElementType::I16:
      return f(std::int16_t());
    case ElementType::I32:
      return f(std::int32_t());
    case ElementType::I64:
      return f(std::int64_t());
    case ElementType::Bool:
    case ElementType::U8:
      return f(std::uint8_t());
    case ElementType::U16:
      return f(std::uint16_t());
    case ElementType::U32:
      return f(std::uint32_t());
    case ElementType::U64:
      return f(std::uint64_t());
    case ElementType::String:
      return f(std::string());
    default:
      return error(ErrorCode::Unsupported, "elements of type {} are not supported here", name_of(type));
  }
}

/// The same for numbers only.
template <typename F>
Result<void> with_number_type(ElementType type, F&& f) {
  return with_element_type(type, [&](auto zero) -> Result<void> {
    if constexpr (std::is_same_v<decltype(zero), std::string>)
      return error(ErrorCode::Unsupported, "strings are not numbers");
    else
      return f(zero);
  });
}

/// The elements as C++ values, strings included.
template <typename T>
std::span<const T> elements_of(const Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>)
    return tensor.strings();
  else
    return tensor.as<T>();
}
template <typename T>
std::span<T> elements_of(Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>)
    return tensor.strings();
  else
    return tensor.as<T>();
}

/// A shape seen around one axis: `outer` blocks of `extent` rows of `inner` elements.
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;

  AxisView(const Shape& shape, std::size_t axis);
};

/// `axis` counted from 0, or an error if it is outside [-rank, rank).
Result<std::size_t> checked_axis(std::int64_t axis, std::size_t rank);
/// The only element of a tensor of integers or bools, or an error that calls it `what`.
Result<std::int64_t> single_integer(const Tensor& tensor, std::string_view what);

/// The tensors, all of one type and shape, along a new axis.
Result<Tensor> stack(std::span<const Tensor> tensors, std::int64_t axis);

}  // namespace hone::runtime
