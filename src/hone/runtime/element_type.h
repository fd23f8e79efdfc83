/// Element types of the tensors that models exchange, the ones that are storage only included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hone::runtime {

/// The types of ONNX tensors; the numbers are those of its TensorProto.DataType.
enum class ElementType : std::uint8_t {
  Undefined = 0,
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  String = 8,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  C64 = 14,
  C128 = 15,
  BF16 = 16,
  F8E4M3FN = 17,
  F8E4M3FNUZ = 18,
  F8E5M2 = 19,
  F8E5M2FNUZ = 20,
  U4 = 21,
  I4 = 22,
  F4E2M1 = 23,
  F8E8M0 = 24,
  U2 = 25,
  I2 = 26,
  F6E2M3 = 27,
  F6E3M2 = 28,
};

/// Bytes of one element in our tensors. Types below 8 bits take a byte each: signed ones hold the sign-extended number,
/// unsigned ones the number, narrow floats their bits. A string has no size (0).
std::size_t bytes_of(ElementType type);

/// Bits of one element by itself: 2, 4 or 6 for the types below 8 bits, otherwise those of its bytes.
int bits_of(ElementType type);
/// The byte that our tensors hold for an element below 8 bits, whose bits are the lowest of `code`.
std::uint8_t byte_of(ElementType type, unsigned code);

/// The type's name as ONNX prints it in type strings: "float", "int64", "float8e4m3fn", …
std::string_view name_of(ElementType type);
/// The type that has this number in ONNX.
std::optional<ElementType> element_type_numbered(std::int64_t number);
/// The type that has this name.
std::optional<ElementType> element_type_named(std::string_view name);

bool is_float(ElementType type);    ///< F16, BF16, F32, F64
bool is_integer(ElementType type);  ///< 8 to 64 bits, signed or not
/// A type that is only stored and converted: F8, F6 and F4 kinds, and integers below 8 bits.
bool is_storage_only(ElementType type);

}  // namespace hone::runtime
