#include "hone/runtime/small_float.h"

#include <bit>
#include <cmath>
#include <limits>

#include "hone/support/error.h"

namespace hone::runtime {

SmallFloatFormat small_float_format(ElementType type) {
  switch (type) {
    case ElementType::F16:
      return {5, 10, 15, Specials::Ieee};
    case ElementType::BF16:
      return {8, 7, 127, Specials::Ieee};
    case ElementType::F8E4M3FN:
      return {4, 3, 7, Specials::NanAtTop};
    case ElementType::F8E4M3FNUZ:
      return {4, 3, 8, Specials::NanAtZero};
    case ElementType::F8E5M2:
      return {5, 2, 15, Specials::Ieee};
    case ElementType::F8E5M2FNUZ:
      return {5, 2, 16, Specials::NanAtZero};
    case ElementType::F4E2M1:
      return {2, 1, 1, Specials::None};
    case ElementType::F6E2M3:
      return {2, 3, 1, Specials::None};
    case ElementType::F6E3M2:
      return {3, 2, 3, Specials::None};
    default:
      break;
  }
  HONE_CHECK(false, "{} is not a narrow float", name_of(type));
}

std::uint32_t SmallFloatFormat::largest() const {
  const std::uint32_t all = (1u << (width() - 1)) - 1;
  switch (specials) {
    case Specials::Ieee:
      return all - (1u << mantissa_bits);
    case Specials::NanAtTop:
      return all - 1;
    case Specials::NanAtZero:
    case Specials::None:
      return all;
  }
  return all;
}

std::uint32_t SmallFloatFormat::nan() const {
  switch (specials) {
    case Specials::Ieee:
      if (width() == 16) return (((1u << exponent_bits) - 1) << mantissa_bits) | (1u << (mantissa_bits - 1));
      [[fallthrough]];  // of the NaNs of F8E5M2, ONNX writes the largest
    case Specials::NanAtTop:
      return (1u << (width() - 1)) - 1;
    case Specials::NanAtZero:
    case Specials::None:
      return 1u << (width() - 1);
  }
  return 0;
}

namespace {

std::uint16_t to_e8m0(float value, Overflow overflow) {
  if (std::isnan(value)) return 255;
  if (std::isinf(value)) return overflow == Overflow::Saturate ? 254 : 255;
  const float size = std::fabs(value);
  if (size == 0) return 0;
  int exponent = 0;
  const float mantissa = std::frexp(size, &exponent);  // in [0.5, 1)
  exponent -= 1;
  if (mantissa * 2 >= 1.5f) ++exponent;
  if (exponent > 127) return overflow == Overflow::Saturate ? 254 : 255;
  return static_cast<std::uint16_t>(std::max(exponent + 127, 0));
}

}  // namespace

bool is_small_float(ElementType type) {
  switch (type) {
    case ElementType::F16:
    case ElementType::BF16:
    case ElementType::F8E4M3FN:
    case ElementType::F8E4M3FNUZ:
    case ElementType::F8E5M2:
    case ElementType::F8E5M2FNUZ:
    case ElementType::F4E2M1:
    case ElementType::F8E8M0:
    case ElementType::F6E2M3:
    case ElementType::F6E3M2:
      return true;
    default:
      return false;
  }
}

float small_float_to_float(ElementType type, std::uint16_t bits) {
  if (type == ElementType::F8E8M0)
    return bits == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, static_cast<int>(bits) - 127);
  const SmallFloatFormat format = small_float_format(type);
  const std::uint32_t sign = (bits >> (format.width() - 1)) & 1u;
  const std::uint32_t size = bits & ((1u << (format.width() - 1)) - 1);
  if (format.specials == Specials::NanAtZero && sign == 1 && size == 0) return std::numeric_limits<float>::quiet_NaN();
  if (size > format.largest()) {
    const bool is_infinity = format.specials == Specials::Ieee && size == format.largest() + 1;
    if (!is_infinity) return std::numeric_limits<float>::quiet_NaN();
    return sign == 1 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  }
  const std::uint32_t exponent = size >> format.mantissa_bits;
  const std::uint32_t mantissa = size & ((1u << format.mantissa_bits) - 1);
  const std::uint32_t whole = exponent == 0 ? mantissa : mantissa | (1u << format.mantissa_bits);
  const int power = static_cast<int>(exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits;
  const float number = std::ldexp(static_cast<float>(whole), power);
  return sign == 1 ? -number : number;
}

std::uint16_t float_to_small_float(ElementType type, float value, Overflow overflow) {
  if (type == ElementType::F8E8M0) return to_e8m0(value, overflow);
  const SmallFloatFormat format = small_float_format(type);
  if (format.specials == Specials::None) overflow = Overflow::Saturate;
  const std::uint32_t sign = std::signbit(value) ? 1u << (format.width() - 1) : 0;
  if (std::isnan(value)) return static_cast<std::uint16_t>(format.nan() | sign);
  const float size = std::fabs(value);
  std::uint32_t pattern = format.largest() + 1;
  if (!std::isinf(size)) {
    // The spacing of the type's numbers around `size`, which ldexp and nearbyint round to without error.
    const int exponent = size == 0 ? -1000 : std::ilogb(size);
    const int power = std::max(exponent, 1 - format.bias) - format.mantissa_bits;
    const double steps = std::nearbyint(std::ldexp(static_cast<double>(size), -power));
    const double offset = std::ldexp(1.0, format.mantissa_bits) * (power + format.mantissa_bits + format.bias - 1);
    pattern = static_cast<std::uint32_t>(std::min(steps + offset, 65536.0));
  }
  if (pattern > format.largest()) {
    if (overflow == Overflow::Saturate)
      pattern = format.largest();
    else if (format.specials == Specials::Ieee)
      pattern = format.largest() + 1;
    else
      return static_cast<std::uint16_t>(format.nan() | sign);
  }
  if (pattern == 0 && format.specials == Specials::NanAtZero) return 0;
  return static_cast<std::uint16_t>(pattern | sign);
}

}  // namespace hone::runtime
