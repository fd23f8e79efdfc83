/// Elements of any number type as C++ numbers, for kernels written once for all of them.
#pragma once

#include <cstdint>

#include "hone/runtime/small_float.h"
#include "hone/runtime/value.h"

namespace hone::runtime {

/// A type that is stored as it is computed with.
template <typename T>
struct PlainNumber {
  using Stored = T;
  using Wide = T;
  static Wide load(Stored stored) { return stored; }
  static Stored store(Wide wide) { return wide; }
};

/// F16 or BF16, computed with as float.
template <ElementType kType>
struct NarrowNumber {
  using Stored = std::uint16_t;
  using Wide = float;
  static Wide load(Stored stored) { return small_float_to_float(kType, stored); }
  static Stored store(Wide wide) { return float_to_small_float(kType, wide); }
};

/// Calls `f` with the description of a number type (a PlainNumber or NarrowNumber): bool counts as u8. An error for
/// types that are no numbers.
template <typename F>
Result<void> with_number(ElementType type, const F& f) {
  switch (type) {
    case ElementType::F32:
      return f(PlainNumber<float>());
    case ElementType::F64:
      return f(PlainNumber<double>());
    case ElementType::F16:
      return f(NarrowNumber<ElementType::F16>());
    case ElementType::BF16:
      return f(NarrowNumber<ElementType::BF16>());
    case ElementType::I8:
      return f(PlainNumber<std::int8_t>());
    case ElementType::I16:
      return f(PlainNumber<std::int16_t>());
    case ElementType::I32:
      return f(PlainNumber<std::int32_t>());
    case ElementType::I64:
      return f(PlainNumber<std::int64_t>());
    case ElementType::Bool:
    case ElementType::U8:
      return f(PlainNumber<std::uint8_t>());
    case ElementType::U16:
      return f(PlainNumber<std::uint16_t>());
    case ElementType::U32:
      return f(PlainNumber<std::uint32_t>());
    case ElementType::U64:
      return f(PlainNumber<std::uint64_t>());
    default:
      return error(ErrorCode::Unsupported, "elements of type {} are no numbers", name_of(type));
  }
}

/// a + b and a · b, with integers wrapping.
template <typename T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Bits>(static_cast<Bits>(a) + static_cast<Bits>(b)));
  } else {
    return a + b;
  }
}
template <typename T>
T wrapping_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>)  // in 64 bits, as narrow ones become int, which must not overflow
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

}  // namespace hone::runtime
