/// Conversions between float and the narrow float types: F16, BF16, the F8 kinds, F4E2M1 and F8E8M0.
#pragma once

#include <cstdint>

#include "hone/runtime/element_type.h"

namespace hone::runtime {

/// Whether the type is one of those this header converts.
bool is_small_float(ElementType type);

/// The number that the lowest bits stand for; exact.
float small_float_to_float(ElementType type, std::uint16_t bits);

/// What becomes of numbers beyond the largest finite one: that number, or the type's infinity (its NaN if it has none).
enum class Overflow { Saturate, Infinity };

/// The nearest number of the type, ties to even. NaN stays NaN where the type has one. F4E2M1 always saturates.
std::uint16_t float_to_small_float(ElementType type, float value, Overflow overflow = Overflow::Infinity);

}  // namespace hone::runtime
