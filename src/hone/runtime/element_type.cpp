#include "hone/runtime/element_type.h"

#include <array>

namespace hone::runtime {
namespace {

struct Description {
  std::string_view name;
  int bits;
};

constexpr std::array<Description, 29> kDescriptions = {{
    {"undefined", 0},      {"float", 32},    {"uint8", 8},        {"int8", 8},           {"uint16", 16},
    {"int16", 16},         {"int32", 32},    {"int64", 64},       {"string", 0},         {"bool", 8},
    {"float16", 16},       {"double", 64},   {"uint32", 32},      {"uint64", 64},        {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
    {"float8e5m2fnuz", 8}, {"uint4", 4},     {"int4", 4},         {"float4e2m1", 4},     {"float8e8m0", 8},
    {"uint2", 2},          {"int2", 2},      {"float6e2m3", 6},   {"float6e3m2", 6},
}};

const Description& description_of(ElementType type) {
  const auto place = static_cast<std::size_t>(type);
  return kDescriptions[place < kDescriptions.size() ? place : 0];
}

}  // namespace

int bits_of(ElementType type) { return description_of(type).bits; }

std::size_t bytes_of(ElementType type) { return static_cast<std::size_t>((bits_of(type) + 7) / 8); }

std::uint8_t byte_of(ElementType type, unsigned code) {
  const unsigned element = code & ((1U << bits_of(type)) - 1);
  const bool is_signed = type == ElementType::I4 || type == ElementType::I2;
  const bool is_negative = is_signed && (element >> (bits_of(type) - 1)) != 0;
  return static_cast<std::uint8_t>(is_negative ? element | (0xffU << bits_of(type)) : element);
}

std::string_view name_of(ElementType type) { return description_of(type).name; }

std::optional<ElementType> element_type_numbered(std::int64_t number) {
  if (number < 1 || number >= static_cast<std::int64_t>(kDescriptions.size())) return std::nullopt;
  return static_cast<ElementType>(number);
}

std::optional<ElementType> element_type_named(std::string_view name) {
  for (std::size_t i = 1; i < kDescriptions.size(); ++i)
    if (kDescriptions[i].name == name) return static_cast<ElementType>(i);
  return std::nullopt;
}

bool is_float(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F32 || type == ElementType::F64;
}

bool is_integer(ElementType type) {
  switch (type) {
    case ElementType::U8:
    case ElementType::I8:
    case ElementType::U16:
    case ElementType::I16:
    case ElementType::I32:
    case ElementType::I64:
    case ElementType::U32:
    case ElementType::U64:
      return true;
    default:
      return false;
  }
}

bool is_storage_only(ElementType type) { return type >= ElementType::F8E4M3FN && type <= ElementType::F6E3M2; }

}  // namespace hone::runtime
