/// Numbers: one scalar of any type as the interpreter computes with it, and how it is read, written and converted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/ir/dtype.h"
#include "hone/ir/expr.h"

namespace hone::ir {

/// One scalar: `f` for floating types (already rounded to the type), `i` for all others (u64 as its bits). Which of the
/// two is meant follows from the type of the expression.
union Number {
  std::int64_t i;
  double f;
};

inline Number of_int(std::int64_t value) { return Number{.i = value}; }
inline Number of_float(double value) { return Number{.f = value}; }

/// The 16-bit patterns of half precision and bfloat16. The way from a pattern to a double and back keeps every bit, NaN
/// payloads included; other doubles round to nearest even.
double from_f16_bits(std::uint16_t bits);
double from_bf16_bits(std::uint16_t bits);
std::uint16_t to_f16_bits(double value);
std::uint16_t to_bf16_bits(double value);

/// Reads or writes one element in memory; the number must already fit the type.
Number read_number(Scalar type, const std::byte* from);
void write_number(Scalar type, std::byte* to, Number value);

/// Converts as Cast does (expr.h).
Number convert(Number value, DType from, DType to);

/// round_to() without a call for the types that most tests use.
inline double rounded(Scalar type, double value) {
  if (type == Scalar::F32) return static_cast<float>(value);
  if (type == Scalar::F64) return value;
  return round_to(DType{type}, value);
}

/// wrap_to() as a switch that the compiler can see through.
inline std::int64_t wrapped(Scalar type, std::int64_t value) {
  switch (type) {
    case Scalar::Bool:
      return value != 0;
    case Scalar::I8:
      return static_cast<std::int8_t>(value);
    case Scalar::I16:
      return static_cast<std::int16_t>(value);
    case Scalar::I32:
      return static_cast<std::int32_t>(value);
    case Scalar::U8:
      return static_cast<std::uint8_t>(value);
    case Scalar::U16:
      return static_cast<std::uint16_t>(value);
    case Scalar::U32:
      return static_cast<std::uint32_t>(value);
    default:
      return value;
  }
}

}  // namespace hone::ir
