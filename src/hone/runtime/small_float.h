/// Conversions between float and the narrow float types: F16, BF16, the F8, F6 and F4 kinds.
#pragma once

#include <cstdint>

#include "hone/runtime/element_type.h"

namespace hone::runtime {

/// Whether the type is one of those this header converts.
bool is_small_float(ElementType type);

/// The number that the lowest bits stand for; exact.
float small_float_to_float(ElementType type, std::uint16_t bits);

/// What the largest exponents of a format stand for.
enum class Specials {
  Ieee,       ///< infinities and NaNs, as in F16
  NanAtTop,   ///< only the all-ones pattern is NaN, no infinity (FN)
  NanAtZero,  ///< only the negative zero is NaN, no infinity (FNUZ)
  None,       ///< every pattern is a finite number
};

/// The bits of a narrow float: from the top a sign, an exponent and a mantissa.
struct SmallFloatFormat {
  int exponent_bits, mantissa_bits, bias;
  Specials specials;

  int width() const { return 1 + exponent_bits + mantissa_bits; }
  /// The pattern of the largest finite number.
  std::uint32_t largest() const;
  /// The pattern that NaN becomes: the negative zero where there is none.
  std::uint32_t nan() const;
};

/// The format of a narrow float other than F8E8M0, which is a power of two without sign: 255 is NaN.
SmallFloatFormat small_float_format(ElementType type);

/// What becomes of numbers beyond the largest finite one: that number, or the type's infinity (its NaN if it has none).
enum class Overflow { Saturate, Infinity };

/// The nearest number of the type, ties to even. NaN stays NaN where the type has one. Types of 6 and 4 bits always
/// saturate, and have no NaN: it becomes their negative zero. F8E8M0 rounds halves up and ignores the sign.
std::uint16_t float_to_small_float(ElementType type, float value, Overflow overflow = Overflow::Infinity);

}  // namespace hone::runtime
