#include "npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/ranges.h>
#include <fstream>

#include "npy_header.h"

#include "hone/frontend/external_data.h"
#include "hone/runtime/kernels/utf8.h"
#include "hone/runtime/small_float.h"

namespace hone::command {
namespace {

using frontend::MappedFile;

constexpr std::string_view kMagic = "\x93NUMPY";

/// A type that the format names.
struct Named {
  char kind;
  std::size_t size;
  ElementType type;
};
constexpr Named kNamed[] = {
    {'b', 1, ElementType::Bool}, {'i', 1, ElementType::I8},    {'i', 2, ElementType::I16}, {'i', 4, ElementType::I32},
    {'i', 8, ElementType::I64},  {'u', 1, ElementType::U8},    {'u', 2, ElementType::U16}, {'u', 4, ElementType::U32},
    {'u', 8, ElementType::U64},  {'f', 2, ElementType::F16},   {'f', 4, ElementType::F32}, {'f', 8, ElementType::F64},
    {'c', 8, ElementType::C64},  {'c', 16, ElementType::C128},
};

/// Whether the format has no name for the type, so that its bits are stored.
bool is_stored_as_bits(ElementType type) {
  return type != ElementType::Undefined && type != ElementType::String &&
         std::none_of(std::begin(kNamed), std::end(kNamed), [&](const Named& named) { return named.type == type; });
}

Result<ElementType> type_of(const NpyHeader& header, ElementType wanted) {
  if (header.kind == 'S' || header.kind == 'U') return ElementType::String;
  const bool is_integer = header.kind == 'i' || header.kind == 'u' || header.kind == 'V';
  if (is_integer && is_stored_as_bits(wanted) && runtime::bytes_of(wanted) == header.item_size) return wanted;
  for (const Named& named : kNamed)
    if (named.kind == header.kind && named.size == header.item_size) return named.type;
  if (header.kind == 'V')
    return error(
        ErrorCode::Unsupported,
        "elements are {} raw bytes each, allowed where the model wants bfloat16 (2) or a type below 16 bits (1)",
        header.item_size);
  return error(ErrorCode::Unsupported,
               "elements of kind '{}' with {} bytes, allowed are numbers of 1 to 8 bytes, and "
               "complex ones of 8 and 16",
               header.kind, header.item_size);
}

/// The bits of integers below 8 bits; 0 of other types.
int narrow_bits(ElementType type) {
  if (type == ElementType::U4 || type == ElementType::I4) return 4;
  return type == ElementType::U2 || type == ElementType::I2 ? 2 : 0;
}

/// Checks the elements of a type that not every byte stands for. Raw bytes of narrow integers count by their low bits.
Result<void> check_elements(Tensor& tensor, const NpyHeader& header) {
  int low = 0, high = 255;
  const int bits = narrow_bits(tensor.type());
  const bool is_signed = tensor.type() == ElementType::I4 || tensor.type() == ElementType::I2;
  if (tensor.type() == ElementType::Bool) high = 1;
  if (bits > 0) {
    low = is_signed ? -(1 << (bits - 1)) : 0;
    high = low + (1 << bits) - 1;
  } else if (runtime::is_storage_only(tensor.type()) && tensor.type() != ElementType::F8E8M0) {
    high = (1 << runtime::small_float_format(tensor.type()).width()) - 1;
  }
  if (low == 0 && high == 255) return {};
  const std::span<std::uint8_t> elements = tensor.as<std::uint8_t>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    int number = is_signed ? static_cast<std::int8_t>(elements[i]) : elements[i];
    if (bits > 0 && header.kind == 'V') {
      number &= (1 << bits) - 1;
      if (number > high) number -= 1 << bits;
      elements[i] = static_cast<std::uint8_t>(number);
    }
    if (number < low || number > high)
      return error(ErrorCode::ParseError, "element {} of type {} is {}, allowed are {}..{}", i,
                   runtime::name_of(tensor.type()), number, low, high);
  }
  return {};
}

/// Where each element of the shape lies if the first axis is contiguous, in C order.
std::vector<std::size_t> fortran_places(const Shape& shape, std::size_t count) {
  std::vector<std::size_t> places(count), index(shape.size());
  for (std::size_t n = 0; n < count; ++n) {
    std::size_t stride = 1;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      places[n] += index[axis] * stride;
      stride *= static_cast<std::size_t>(shape[axis]);
    }
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < static_cast<std::size_t>(shape[axis])) break;
      index[axis] = 0;
    }
  }
  return places;
}

Result<Tensor> read_strings(const NpyHeader& header, std::span<const std::byte> data) {
  const std::size_t count = data.size() / header.item_size;
  std::vector<std::string> strings;
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const std::byte> item = data.subspan(i * header.item_size, header.item_size);
    std::string text;
    if (header.kind == 'S') {
      text.assign(reinterpret_cast<const char*>(item.data()), item.size());
    } else {
      for (std::size_t at = 0; at < item.size(); at += 4) {
        std::uint32_t code = 0;
        for (std::size_t byte = 0; byte < 4; ++byte)
          code |= std::to_integer<std::uint32_t>(item[at + byte]) << 8 * (header.order == '>' ? 3 - byte : byte);
        if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
          return error(ErrorCode::ParseError, "element {} has the character {:#x}, allowed are those of Unicode", i,
                       code);
        runtime::append_utf8(text, code);
      }
    }
    text.erase(text.find_last_not_of('\0') + 1);  // shorter texts are filled up with zeros
    strings.push_back(std::move(text));
  }
  return Tensor::of_strings(header.shape, std::move(strings));
}

Result<Tensor> read_elements(const NpyHeader& header, ElementType type, std::span<const std::byte> data) {
  HONE_TRY(Tensor tensor, Tensor::allocate(type, header.shape));
  if (!data.empty()) std::memcpy(tensor.data(), data.data(), data.size());
  const std::size_t number_size = header.kind == 'c' ? header.item_size / 2 : header.item_size;
  if (header.order == '>' && number_size > 1)
    for (std::size_t at = 0; at < data.size(); at += number_size)
      std::reverse(tensor.data() + at, tensor.data() + at + number_size);
  HONE_TRY(check_elements(tensor, header));
  return tensor;
}

Result<Tensor> to_c_order(const Tensor& fortran) {
  const auto places = fortran_places(fortran.shape(), static_cast<std::size_t>(fortran.size()));
  HONE_TRY(Tensor tensor, Tensor::allocate(fortran.type(), fortran.shape()));
  const std::size_t size = runtime::bytes_of(fortran.type());
  for (std::size_t n = 0; n < places.size(); ++n) {
    if (fortran.type() == ElementType::String)
      tensor.strings()[n] = fortran.strings()[places[n]];
    else
      std::memcpy(tensor.data() + n * size, fortran.data() + places[n] * size, size);
  }
  return tensor;
}

Result<Tensor> parse_npy(std::span<const std::byte> file, ElementType wanted) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic))
    return error(ErrorCode::ParseError, "not a .npy file: its {} bytes do not begin with \\x93NUMPY", file.size());
  if (file.size() < 12) return error(ErrorCode::ParseError, "its {} bytes end inside the header", file.size());
  const auto byte = [&](std::size_t at) { return std::to_integer<std::size_t>(file[at]); };
  if (byte(6) < 1 || byte(6) > 3 || byte(7) != 0)
    return error(ErrorCode::Unsupported, "version {}.{} of the format, allowed are 1.0, 2.0 and 3.0", byte(6), byte(7));
  const bool is_long = byte(6) > 1;
  const std::size_t size = byte(8) | byte(9) << 8 | (is_long ? byte(10) << 16 | byte(11) << 24 : 0);
  const std::size_t begin = is_long ? 12 : 10;
  if (size > file.size() - begin)
    return error(ErrorCode::ParseError, "its {} bytes end inside the header, which takes {}", file.size(),
                 begin + size);
  HONE_TRY(const NpyHeader header, parse_npy_dict(text.substr(begin, size)));
  HONE_TRY(const ElementType type, type_of(header, wanted));
  HONE_TRY(const std::int64_t count, runtime::element_count(header.shape));
  const std::span<const std::byte> data = file.subspan(begin + size);
  if (data.size() % header.item_size != 0 || data.size() / header.item_size != static_cast<std::size_t>(count))
    return error(ErrorCode::ParseError, "{} bytes of elements, expected {} elements of {} bytes for shape [{}]",
                 data.size(), count, header.item_size, fmt::join(header.shape, ", "));
  Tensor tensor;
  if (type == ElementType::String) {
    HONE_TRY(tensor, read_strings(header, data));
  } else {
    HONE_TRY(tensor, read_elements(header, type, data));
  }
  return header.is_fortran && header.shape.size() > 1 ? to_c_order(tensor) : Result<Tensor>(std::move(tensor));
}

NpyHeader header_of(const Tensor& tensor) {
  NpyHeader header{.item_size = runtime::bytes_of(tensor.type()), .shape = tensor.shape()};
  const int bits = narrow_bits(tensor.type());
  header.kind = bits > 0 && (tensor.type() == ElementType::I4 || tensor.type() == ElementType::I2) ? 'i' : 'u';
  for (const Named& named : kNamed)
    if (named.type == tensor.type()) header.kind = named.kind;
  header.order = header.item_size > 1 ? '<' : '|';
  return header;
}

/// The characters of a text; nothing if it is not UTF-8.
std::optional<std::u32string> from_utf8(std::string_view text) {
  std::u32string codes;
  while (!text.empty()) {
    const runtime::Utf8Character next = runtime::next_utf8(text);
    if (!next.is_valid) return std::nullopt;
    codes += next.code;
    text.remove_prefix(next.bytes);
  }
  return codes;
}

/// The strings as numpy stores them: 4 bytes a character, all as long as the longest.
Result<std::string> string_elements(const Tensor& tensor, NpyHeader& header) {
  std::vector<std::u32string> texts;
  std::size_t longest = 1;
  for (const std::string& string : tensor.strings()) {
    std::optional<std::u32string> text = from_utf8(string);
    if (!text)
      return error(ErrorCode::Unsupported, "element {} is no text in UTF-8, which .npy files need", texts.size());
    longest = std::max(longest, text->size());
    texts.push_back(std::move(*text));
  }
  header.kind = 'U';
  header.order = '<';
  header.item_size = longest * 4;
  std::string bytes;
  for (std::u32string& text : texts) {
    text.resize(longest);
    for (const char32_t code : text)
      for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(code >> shift);
  }
  return bytes;
}

/// Magic, version, size and dict, filled up so that the elements begin at a multiple of 64.
std::string header_bytes(const NpyHeader& header) {
  std::string dict = npy_dict(header);
  constexpr std::size_t kLargestShort = 65535, kAlignment = 64;
  const bool is_long = dict.size() + kAlignment > kLargestShort;
  const std::size_t begin = is_long ? 12 : 10;
  dict.append(kAlignment - (begin + dict.size() + 1) % kAlignment, ' ');
  dict += '\n';
  std::string bytes(kMagic);
  bytes += {is_long ? '\2' : '\1', '\0'};
  for (std::size_t byte = 0; byte < begin - 8; ++byte) bytes += static_cast<char>(dict.size() >> 8 * byte);
  return bytes + dict;
}

}  // namespace

Result<Tensor> read_npy(const std::filesystem::path& file, ElementType wanted) {
  HONE_TRY(const std::shared_ptr<const MappedFile> content, MappedFile::open(file));
  Result<Tensor> tensor = parse_npy(content->bytes(), wanted);
  if (!tensor) return error(tensor.error().code, "'{}': {}", file.string(), tensor.error().message);
  return tensor;
}

Result<void> write_npy(const std::filesystem::path& file, const Tensor& tensor) {
  NpyHeader header = header_of(tensor);
  std::string strings;
  std::string_view elements(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
  if (tensor.type() == ElementType::String) {
    Result<std::string> bytes = string_elements(tensor, header);
    if (!bytes) return error(bytes.error().code, "cannot write '{}': {}", file.string(), bytes.error().message);
    strings = *std::move(bytes);
    elements = strings;
  }
  std::ofstream out(file, std::ios::binary);
  const std::string begin = header_bytes(header);
  out.write(begin.data(), static_cast<std::streamsize>(begin.size()));
  out.write(elements.data(), static_cast<std::streamsize>(elements.size()));
  out.close();
  if (!out) return error(ErrorCode::InvalidArgument, "cannot write '{}': {}", file.string(), std::strerror(errno));
  return {};
}

}  // namespace hone::command
