#include "hone/ir/dtype.h"

#include <array>
#include <charconv>
#include <limits>

namespace hone::ir {

namespace {

struct ScalarInfo {
  std::string_view name;
  int bits;
};

constexpr std::array<ScalarInfo, 14> kScalars = {{{"void", 0},
                                                  {"bool", 8},
                                                  {"i8", 8},
                                                  {"i16", 16},
                                                  {"i32", 32},
                                                  {"i64", 64},
                                                  {"u8", 8},
                                                  {"u16", 16},
                                                  {"u32", 32},
                                                  {"u64", 64},
                                                  {"f16", 16},
                                                  {"bf16", 16},
                                                  {"f32", 32},
                                                  {"f64", 64}}};

const ScalarInfo& info(Scalar scalar) { return kScalars[static_cast<std::size_t>(scalar)]; }

}  // namespace

int DType::bits() const { return info(scalar).bits; }

std::string to_string(DType type) {
  std::string text(info(type.scalar).name);
  if (type.is_vector()) text += fmt::format("x{}", type.lanes);
  return text;
}

Result<DType> parse_dtype(std::string_view text) {
  const std::size_t x = text.find('x');
  const std::string_view name = text.substr(0, x);
  std::uint16_t lanes = 1;
  if (x != std::string_view::npos) {
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data() + x + 1, end, lanes);
    if (status != std::errc() || stop != end || lanes < 2)
      return error(ErrorCode::ParseError, "type '{}' has lanes '{}', allowed are 2..65535", text, text.substr(x + 1));
  }
  for (std::size_t i = 0; i < kScalars.size(); ++i)
    if (kScalars[i].name == name) return DType{static_cast<Scalar>(i), lanes};
  return error(ErrorCode::ParseError,
               "unknown type '{}', allowed are bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 and "
               "vectors of them such as f32x16",
               text);
}

std::int64_t min_value(DType type) {
  if (!type.is_signed()) return 0;
  return type.bits() == 64 ? std::numeric_limits<std::int64_t>::min() : -(std::int64_t{1} << (type.bits() - 1));
}

std::int64_t max_value(DType type) {
  if (type.is_bool()) return 1;
  if (type.is_unsigned()) return type.bits() == 64 ? -1 : (std::int64_t{1} << type.bits()) - 1;
  return type.bits() == 64 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << (type.bits() - 1)) - 1;
}

}  // namespace hone::ir
