#include "npy_header.h"

#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::command {
namespace {

/// Reads the few forms of Python literals that a header may have.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : rest_(text) {}

  /// Whether the text goes on with `word`, which is then passed.
  bool accept(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  Result<void> expect(std::string_view word) {
    if (accept(word)) return {};
    return error(ErrorCode::ParseError, "expected '{}' before '{}'", word, excerpt());
  }

  Result<std::string_view> text() {
    skip_spaces();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    const std::size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos)
      return error(ErrorCode::ParseError, "expected a text in quotes before '{}'", excerpt());
    const std::string_view found = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return found;
  }

  Result<std::int64_t> extent() {
    skip_spaces();
    std::int64_t number = 0;
    const auto [end, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (status != std::errc() || number < 0)
      return error(ErrorCode::ParseError, "expected an extent of 0 or more before '{}'", excerpt());
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    accept("L");  // as Python 2 wrote them
    return number;
  }

  bool is_at_end() {
    skip_spaces();
    return rest_.empty();
  }

  std::string_view excerpt() const { return rest_.substr(0, 20); }

 private:
  void skip_spaces() {
    const std::size_t begin = rest_.find_first_not_of(" \t\n");
    rest_.remove_prefix(begin == std::string_view::npos ? rest_.size() : begin);
  }

  std::string_view rest_;
};

Result<void> read_type(std::string_view text, NpyHeader& header) {
  const auto refuse = [&] {
    return error(ErrorCode::Unsupported,
                 "elements of type '{}', allowed are numbers, bools, complex numbers, texts and raw bytes, such as "
                 "'<f4', '|b1', '<c8', '<U7' and '|V2'",
                 text);
  };
  if (text.size() < 3 || std::string_view("<>|=").find(text[0]) == std::string_view::npos ||
      std::string_view("biufcVSU").find(text[1]) == std::string_view::npos)
    return refuse();
  header.order = text[0] == '=' ? '<' : text[0];
  header.kind = text[1];
  const auto [end, status] = std::from_chars(text.data() + 2, text.data() + text.size(), header.item_size);
  constexpr std::size_t kLongestText = std::size_t{1} << 30;
  if (status != std::errc() || end != text.data() + text.size() || header.item_size == 0 ||
      header.item_size > kLongestText)
    return refuse();
  if (header.kind == 'U') header.item_size *= 4;  // counts characters of 4 bytes
  return {};
}

Result<Shape> read_shape(DictReader& reader) {
  Shape shape;
  HONE_TRY(reader.expect("("));
  while (!reader.accept(")")) {
    HONE_TRY(const std::int64_t extent, reader.extent());
    shape.push_back(extent);
    if (reader.accept(",")) continue;
    HONE_TRY(reader.expect(")"));
    break;
  }
  return shape;
}

}  // namespace

Result<NpyHeader> parse_npy_dict(std::string_view text) {
  NpyHeader header;
  DictReader reader(text);
  bool has_type = false, has_order = false, has_shape = false;
  HONE_TRY(reader.expect("{"));
  while (!reader.accept("}")) {
    HONE_TRY(const std::string_view key, reader.text());
    HONE_TRY(reader.expect(":"));
    if (key == "descr" && !has_type) {
      if (reader.accept("[")) return error(ErrorCode::Unsupported, "elements are records, allowed are single types");
      HONE_TRY(const std::string_view type, reader.text());
      HONE_TRY(read_type(type, header));
      has_type = true;
    } else if (key == "fortran_order" && !has_order) {
      header.is_fortran = reader.accept("True");
      if (!header.is_fortran) HONE_TRY(reader.expect("False"));
      has_order = true;
    } else if (key == "shape" && !has_shape) {
      HONE_TRY(header.shape, read_shape(reader));
      has_shape = true;
    } else {
      return error(ErrorCode::ParseError, "the key '{}' {}, allowed are descr, fortran_order and shape, once each", key,
                   has_type || has_order || has_shape ? "is repeated or unknown" : "is unknown");
    }
    if (reader.accept(",")) continue;
    HONE_TRY(reader.expect("}"));
    break;
  }
  if (!reader.is_at_end()) return error(ErrorCode::ParseError, "'{}' after the dict", reader.excerpt());
  if (!has_type || !has_order || !has_shape)
    return error(ErrorCode::ParseError, "the key '{}' is missing",
                 !has_type    ? "descr"
                 : !has_order ? "fortran_order"
                              : "shape");
  return header;
}

std::string npy_dict(const NpyHeader& header) {
  const std::size_t size = header.kind == 'U' ? header.item_size / 4 : header.item_size;
  return fmt::format("{{'descr': '{}{}{}', 'fortran_order': {}, 'shape': ({}{}), }}", header.order, header.kind, size,
                     header.is_fortran ? "True" : "False", fmt::join(header.shape, ", "),
                     header.shape.size() == 1 ? "," : "");
}

}  // namespace hone::command
