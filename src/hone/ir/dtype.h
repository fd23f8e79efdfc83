/// Data types: the scalar types tensors are made of, and vectors of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hone/support/result.h"

namespace hone::ir {

/// Element types. Void is the type of expressions evaluated for their effect.
enum class Scalar : std::uint8_t { Void, Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64 };

/// A scalar type, or a vector of `lanes` of it.
struct DType {
  Scalar scalar = Scalar::Void;
  std::uint16_t lanes = 1;

  bool operator==(const DType&) const = default;

  bool is_vector() const { return lanes != 1; }
  bool is_bool() const { return scalar == Scalar::Bool; }
  bool is_float() const { return scalar >= Scalar::F16; }
  bool is_signed() const { return scalar >= Scalar::I8 && scalar <= Scalar::I64; }
  bool is_unsigned() const { return scalar >= Scalar::U8 && scalar <= Scalar::U64; }
  /// Signed or unsigned, not bool.
  bool is_integer() const { return scalar >= Scalar::I8 && scalar <= Scalar::U64; }
  /// Bits of one lane as held in memory; bool takes 8.
  int bits() const;
  /// Bytes of one lane as held in memory.
  int bytes() const { return bits() / 8; }

  DType element() const { return {scalar, 1}; }
  DType with_lanes(int count) const { return {scalar, static_cast<std::uint16_t>(count)}; }
};

inline constexpr DType kVoid{Scalar::Void};
inline constexpr DType kBool{Scalar::Bool};
inline constexpr DType kI8{Scalar::I8};
inline constexpr DType kI16{Scalar::I16};
inline constexpr DType kI32{Scalar::I32};
inline constexpr DType kI64{Scalar::I64};
inline constexpr DType kU8{Scalar::U8};
inline constexpr DType kU16{Scalar::U16};
inline constexpr DType kU32{Scalar::U32};
inline constexpr DType kU64{Scalar::U64};
inline constexpr DType kF16{Scalar::F16};
inline constexpr DType kBF16{Scalar::BF16};
inline constexpr DType kF32{Scalar::F32};
inline constexpr DType kF64{Scalar::F64};
/// The type of loop variables, extents and indices.
inline constexpr DType kIndex = kI64;

/// "f32", or "f32x16" for a vector.
std::string to_string(DType type);

/// Reads what to_string writes.
Result<DType> parse_dtype(std::string_view text);

/// The smallest and the largest value of an integer type or bool (u64's largest is given as the bits of -1).
std::int64_t min_value(DType type);
std::int64_t max_value(DType type);

}  // namespace hone::ir
