#include "hone/runtime/element_type.h"

#include <array>

namespace hone::runtime {
namespace {

struct Description {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<Description, 29> kDescriptions = {{
    {"undefined", 0},      {"float", 4},    {"uint8", 1},        {"int8", 1},           {"uint16", 2},
    {"int16", 2},          {"int32", 4},    {"int64", 8},        {"string", 0},         {"bool", 1},
    {"float16", 2},        {"double", 8},   {"uint32", 4},       {"uint64", 8},         {"complex64", 8},
    {"complex128", 16},    {"bfloat16", 2}, {"float8e4m3fn", 1}, {"float8e4m3fnuz", 1}, {"float8e5m2", 1},
    {"float8e5m2fnuz", 1}, {"uint4", 1},    {"int4", 1},         {"float4e2m1", 1},     {"float8e8m0", 1},
    {"uint2", 1},          {"int2", 1},     {"float6e2m3", 1},   {"float6e3m2", 1},
}};

const Description& description_of(ElementType type) {
  const auto place = static_cast<std::size_t>(type);
  return kDescriptions[place < kDescriptions.size() ? place : 0];
}

}  // namespace

std::size_t bytes_of(ElementType type) { return description_of(type).bytes; }

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
