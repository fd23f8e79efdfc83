#include "hone/ir/value.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace hone::ir {

namespace {

/// A floating format of 16 bits: how many of them are the mantissa's, and the exponent's bias.
struct Narrow {
  DType type;
  int mantissa_bits, bias;
};
constexpr Narrow kHalf{kF16, 10, 15};
constexpr Narrow kBrain{kBF16, 7, 127};

constexpr int kDoubleMantissaBits = 52;
constexpr std::uint64_t kDoubleExponent = 0x7ff0'0000'0000'0000;

double from_bits(const Narrow& format, std::uint16_t bits) {
  const std::uint64_t sign = static_cast<std::uint64_t>(bits >> 15) << 63;
  const int magnitude = bits & 0x7fff;
  const int exponent = magnitude >> format.mantissa_bits;
  const int mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
  const int largest_exponent = 2 * format.bias + 1;
  if (exponent == largest_exponent) {  // infinity, or a NaN whose payload is kept
    const std::uint64_t payload = static_cast<std::uint64_t>(mantissa) << (kDoubleMantissaBits - format.mantissa_bits);
    return std::bit_cast<double>(sign | kDoubleExponent | payload);
  }
  const int implicit_one = exponent == 0 ? 0 : 1 << format.mantissa_bits;
  const double value =
      std::ldexp(implicit_one + mantissa, (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits);
  return sign ? -value : value;
}

std::uint16_t to_bits(const Narrow& format, double value) {
  const std::uint64_t wide = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>(wide >> 63 << 15);
  const int infinity = (2 * format.bias + 1) << format.mantissa_bits;
  if (std::isnan(value)) {
    const std::uint64_t payload =
        (wide & ~kDoubleExponent & ~(1ULL << 63)) >> (kDoubleMantissaBits - format.mantissa_bits);
    const int quiet = payload == 0 ? 1 << (format.mantissa_bits - 1) : static_cast<int>(payload);
    return static_cast<std::uint16_t>(sign | infinity | quiet);
  }
  const double magnitude = std::abs(round_to(format.type, value));
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | infinity);
  const int exponent = std::ilogb(magnitude) + format.bias;
  if (exponent <= 0)  // below the normal numbers: whole steps of the smallest one
    return static_cast<std::uint16_t>(sign |
                                      static_cast<int>(std::ldexp(magnitude, format.bias - 1 + format.mantissa_bits)));
  // The mantissa with its implicit one, counted in units of the last place; the one then adds 1 to the exponent.
  const int mantissa = static_cast<int>(std::ldexp(magnitude, format.mantissa_bits - (exponent - format.bias)));
  return static_cast<std::uint16_t>(sign | (((exponent - 1) << format.mantissa_bits) + mantissa));
}

template <typename T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void write(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// Cut towards zero and held within the type; NaN gives 0.
std::int64_t float_to_int(double value, DType to) {
  if (std::isnan(value)) return 0;
  if (to.scalar == Scalar::U64) {
    if (value <= -1) return 0;
    return value >= 0x1p64 ? -1 : static_cast<std::int64_t>(static_cast<std::uint64_t>(std::trunc(value)));
  }
  const auto low = static_cast<double>(min_value(to));
  const double above = to.scalar == Scalar::I64 ? 0x1p63 : static_cast<double>(max_value(to)) + 1;
  if (value <= low) return min_value(to);
  return value >= above ? max_value(to) : static_cast<std::int64_t>(value);
}

/// An integer as a double that rounds to any narrower type as the integer itself would: where 53 bits are not enough,
/// the bits lost leave a trace in the last bit kept, so that rounding twice is rounding once.
double sticky_double(std::uint64_t magnitude) {
  constexpr std::uint64_t kLost = 0xfff;  // leaves 52 bits of the 64
  if (magnitude >> 53 != 0) magnitude = (magnitude & ~kLost) | ((magnitude & kLost) != 0 ? kLost + 1 : 0);
  return static_cast<double>(magnitude);
}

double int_to_float(std::int64_t value, DType from, DType to) {
  const bool is_unsigned = !from.is_signed();
  const auto bits = static_cast<std::uint64_t>(value);
  if (to.scalar == Scalar::F64) return is_unsigned ? static_cast<double>(bits) : static_cast<double>(value);
  const bool is_negative = !is_unsigned && value < 0;
  const double exact = sticky_double(is_negative ? 0 - bits : bits);
  return rounded(to.scalar, is_negative ? -exact : exact);
}

}  // namespace

double from_f16_bits(std::uint16_t bits) { return from_bits(kHalf, bits); }
double from_bf16_bits(std::uint16_t bits) { return from_bits(kBrain, bits); }
std::uint16_t to_f16_bits(double value) { return to_bits(kHalf, value); }
std::uint16_t to_bf16_bits(double value) { return to_bits(kBrain, value); }

Number read_number(Scalar type, const std::byte* from) {
  switch (type) {
    case Scalar::Bool:
    case Scalar::U8:
      return of_int(read<std::uint8_t>(from));
    case Scalar::I8:
      return of_int(read<std::int8_t>(from));
    case Scalar::I16:
      return of_int(read<std::int16_t>(from));
    case Scalar::I32:
      return of_int(read<std::int32_t>(from));
    case Scalar::I64:
    case Scalar::U64:
      return of_int(read<std::int64_t>(from));
    case Scalar::U16:
      return of_int(read<std::uint16_t>(from));
    case Scalar::U32:
      return of_int(read<std::uint32_t>(from));
    case Scalar::F16:
      return of_float(from_f16_bits(read<std::uint16_t>(from)));
    case Scalar::BF16:
      return of_float(from_bf16_bits(read<std::uint16_t>(from)));
    case Scalar::F32:
      return of_float(read<float>(from));
    case Scalar::F64:
      return of_float(read<double>(from));
    case Scalar::Void:
      break;
  }
  HONE_CHECK(false, "memory holds no void");
  return of_int(0);
}

void write_number(Scalar type, std::byte* to, Number value) {
  switch (type) {
    case Scalar::Bool:
    case Scalar::I8:
    case Scalar::U8:
      return write(to, static_cast<std::uint8_t>(value.i));
    case Scalar::I16:
    case Scalar::U16:
      return write(to, static_cast<std::uint16_t>(value.i));
    case Scalar::I32:
    case Scalar::U32:
      return write(to, static_cast<std::uint32_t>(value.i));
    case Scalar::I64:
    case Scalar::U64:
      return write(to, value.i);
    case Scalar::F16:
      return write(to, to_f16_bits(value.f));
    case Scalar::BF16:
      return write(to, to_bf16_bits(value.f));
    case Scalar::F32:
      return write(to, static_cast<float>(value.f));
    case Scalar::F64:
      return write(to, value.f);
    case Scalar::Void:
      break;
  }
  HONE_CHECK(false, "memory holds no void");
}

Number convert(Number value, DType from, DType to) {
  if (to.is_bool()) return of_int(from.is_float() ? value.f != 0 : value.i != 0);
  if (from.is_float()) return to.is_float() ? of_float(rounded(to.scalar, value.f)) : of_int(float_to_int(value.f, to));
  return to.is_float() ? of_float(int_to_float(value.i, from, to)) : of_int(wrapped(to.scalar, value.i));
}

}  // namespace hone::ir
