#include "hone/runtime/kernels/cast.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "hone/runtime/small_float.h"

namespace hone::runtime {
namespace {

/// Digits and exponent of a finite number in the form that to_chars calls scientific, as plain text where that is
/// customary.
std::string layout(std::string_view scientific) {
  const std::size_t split = scientific.find('e');
  std::string digits;
  const bool is_negative = scientific.front() == '-';
  for (const char c : scientific.substr(0, split))
    if (c >= '0' && c <= '9') digits += c;
  const int exponent = std::stoi(std::string(scientific.substr(split + 1)));
  const std::string sign = is_negative ? "-" : "";
  if (exponent < -4 || exponent >= 16) return std::string(scientific);
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

template <typename T>
std::string shortest_text(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  return layout({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
}

/// The shortest text whose nearest number of a narrow float type has these bits.
std::string small_float_text(ElementType type, std::uint16_t bits) {
  const float value = small_float_to_float(type, bits);
  if (!std::isfinite(value)) return float_text(value);
  std::array<char, 64> buffer{};
  for (int precision = 0; precision < 9; ++precision) {
    char* const end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific, precision)
            .ptr;
    float read = 0;
    std::from_chars(buffer.data(), end, read);
    if (float_to_small_float(type, read) != bits) continue;
    return layout({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
  }
  return float_text(value);
}

template <typename T>
std::string element_text(const Tensor& tensor, std::size_t i) {
  if constexpr (std::is_floating_point_v<T>)
    return shortest_text(tensor.as<T>()[i]);
  else
    return std::to_string(tensor.as<T>()[i]);
}

std::string text_of(const Tensor& tensor, std::size_t i) {
  switch (tensor.type()) {
    case ElementType::F32:
      return element_text<float>(tensor, i);
    case ElementType::F64:
      return element_text<double>(tensor, i);
    case ElementType::I8:
    case ElementType::I4:
    case ElementType::I2:
      return element_text<std::int8_t>(tensor, i);
    case ElementType::I16:
      return element_text<std::int16_t>(tensor, i);
    case ElementType::I32:
      return element_text<std::int32_t>(tensor, i);
    case ElementType::I64:
      return element_text<std::int64_t>(tensor, i);
    case ElementType::U8:
    case ElementType::U4:
    case ElementType::U2:
      return element_text<std::uint8_t>(tensor, i);
    case ElementType::U16:
      return element_text<std::uint16_t>(tensor, i);
    case ElementType::U32:
      return element_text<std::uint32_t>(tensor, i);
    case ElementType::U64:
      return element_text<std::uint64_t>(tensor, i);
    case ElementType::Bool:
      return tensor.as<std::uint8_t>()[i] != 0 ? "True" : "False";
    case ElementType::String:
      return tensor.strings()[i];
    default:
      break;
  }
  const std::uint16_t bits =
      bytes_of(tensor.type()) == 2 ? tensor.as<std::uint16_t>()[i] : tensor.as<std::uint8_t>()[i];
  return small_float_text(tensor.type(), bits);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

/// Integers are read exactly where the text is one, and cut towards zero otherwise.
template <typename T>
Result<T> parse_integer(std::string_view text) {
  std::string_view digits = trimmed(text);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  T value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc() && end == digits.data() + digits.size()) return value;
  HONE_TRY(const double number, parse_number(text));
  const double cut = std::trunc(number);
  if (!(cut >= static_cast<double>(std::numeric_limits<T>::min()) &&
        cut <= static_cast<double>(std::numeric_limits<T>::max())) ||
      cut >= std::ldexp(1.0, std::numeric_limits<T>::digits))
    return error(ErrorCode::InvalidArgument, "'{}' is outside {} to {}", text, std::numeric_limits<T>::min(),
                 std::numeric_limits<T>::max());
  return static_cast<T>(cut);
}

template <typename T>
Result<void> store_integers(const Tensor& from, Tensor to) {
  const std::span<T> out = to.as<T>();
  for (std::size_t i = 0; i < out.size(); ++i) { HONE_TRY(out[i], parse_integer<T>(from.strings()[i])); }
  return {};
}

Result<bool> parse_bool(std::string_view text) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  HONE_TRY(const double number, parse_number(text));
  return number != 0;
}

/// Narrow types are converted one by one: `make` gives the bits of a number.
template <typename T, typename Make>
Result<void> store_numbers(const Tensor& from, Tensor to, Make make) {
  const std::span<T> out = to.as<T>();
  for (std::size_t i = 0; i < out.size(); ++i) {
    HONE_TRY(const double number, parse_number(from.strings()[i]));
    out[i] = static_cast<T>(make(number));
  }
  return {};
}

Result<void> parse_into(const Tensor& from, Tensor to, Overflow overflow) {
  const ElementType type = to.type();
  switch (type) {
    case ElementType::F32:
      return store_numbers<float>(from, to, [](double x) { return x; });
    case ElementType::F64:
      return store_numbers<double>(from, to, [](double x) { return x; });
    case ElementType::I8:
      return store_integers<std::int8_t>(from, to);
    case ElementType::I16:
      return store_integers<std::int16_t>(from, to);
    case ElementType::I32:
      return store_integers<std::int32_t>(from, to);
    case ElementType::I64:
      return store_integers<std::int64_t>(from, to);
    case ElementType::U8:
      return store_integers<std::uint8_t>(from, to);
    case ElementType::U16:
      return store_integers<std::uint16_t>(from, to);
    case ElementType::U32:
      return store_integers<std::uint32_t>(from, to);
    case ElementType::U64:
      return store_integers<std::uint64_t>(from, to);
    case ElementType::I4:
    case ElementType::I2: {
      const int limit = type == ElementType::I4 ? 8 : 2;
      return store_numbers<std::int8_t>(from, to, [&](double x) { return std::clamp(x, -1.0 * limit, limit - 1.0); });
    }
    case ElementType::U4:
    case ElementType::U2: {
      const int limit = type == ElementType::U4 ? 15 : 3;
      return store_numbers<std::uint8_t>(from, to, [&](double x) { return std::clamp(x, 0.0, 1.0 * limit); });
    }
    case ElementType::Bool:
      for (std::size_t i = 0; i < to.as<std::uint8_t>().size(); ++i) {
        HONE_TRY(to.as<std::uint8_t>()[i], parse_bool(trimmed(from.strings()[i])));
      }
      return {};
    case ElementType::String:
      std::copy(from.strings().begin(), from.strings().end(), to.strings().begin());
      return {};
    default:
      break;
  }
  if (!is_small_float(type)) return error(ErrorCode::Unsupported, "no conversion of strings to {}", name_of(type));
  const auto bits = [&](double x) { return float_to_small_float(type, static_cast<float>(x), overflow); };
  return bytes_of(type) == 2 ? store_numbers<std::uint16_t>(from, to, bits)
                             : store_numbers<std::uint8_t>(from, to, bits);
}

Result<ElementType> target_of(const HostCall& call) {
  if (!call.attributes.has("to")) {
    HONE_TRY(const Tensor like, call.tensor(1));
    return like.type();
  }
  const std::int64_t to = call.attributes.integer("to", 0);
  if (to < 1 || to > static_cast<std::int64_t>(ElementType::F6E3M2))
    return error(ErrorCode::InvalidArgument, "attribute 'to' is {}, allowed are the types 1 to {}", to,
                 static_cast<std::int64_t>(ElementType::F6E3M2));
  return static_cast<ElementType>(to);
}

}  // namespace

std::string float_text(float value) { return shortest_text(value); }

std::string double_text(double value) { return shortest_text(value); }

Result<double> parse_number(std::string_view text) {
  std::string_view digits = trimmed(text);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range)  // too large, or too close to zero
    return std::strtod(std::string(digits).c_str(), nullptr);
  if (code != std::errc() || end != digits.data() + digits.size() || digits.starts_with("+"))
    return error(ErrorCode::InvalidArgument, "'{}' is not a number", text);
  return value;
}

Result<void> cast_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const ElementType type, target_of(call));
  HONE_TRY(Tensor y, call.output(0, type, x.shape()));
  if (type == ElementType::String) {
    if (x.type() == ElementType::C64 || x.type() == ElementType::C128)
      return error(ErrorCode::Unsupported, "no conversion of {} to strings", name_of(x.type()));
    const std::span<std::string> out = y.strings();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = text_of(x, i);
    return {};
  }
  if (x.type() != ElementType::String)
    return error(ErrorCode::Unsupported, "no conversion of {} to {}", name_of(x.type()), name_of(type));
  return parse_into(x, y, call.attributes.integer("saturate", 1) != 0 ? Overflow::Saturate : Overflow::Infinity);
}

Result<void> bit_cast_kernel(HostCall& call) {
  HONE_TRY(const Tensor x, call.tensor(0));
  HONE_TRY(const ElementType type, target_of(call));
  if (bytes_of(type) == 0 || bytes_of(type) != bytes_of(x.type()))
    return error(ErrorCode::InvalidArgument, "{} has {} bytes, {} must have as many", name_of(x.type()),
                 bytes_of(x.type()), name_of(type));
  HONE_TRY(Tensor y, call.output(0, type, x.shape()));
  if (x.bytes() > 0) std::memcpy(y.data(), x.data(), x.bytes());
  return {};
}

}  // namespace hone::runtime
