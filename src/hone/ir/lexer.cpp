#include "hone/ir/lexer.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace hone::ir {

namespace {

/// Words that cannot be plain names. Types, functions, loop kinds and scopes can: their place tells them apart.
constexpr std::array<std::string_view, 28> kKeywords = {
    "alloc",   "and",      "barrier", "block",   "else",    "evaluate", "false", "for",      "func",    "if",
    "in",      "inf_bf16", "inf_f16", "inf_f32", "inf_f64", "init",     "let",   "nan_bf16", "nan_f16", "nan_f32",
    "nan_f64", "not",      "or",      "seq",     "true",    "where",    "align", "null"};

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c) || c == '.' || c == '@'; }

/// The text between two `quote` characters; what would end it or not be seen is escaped.
std::string quoted(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result += quote;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && is_name_start(name.front()) && std::all_of(name.begin(), name.end(), is_name_part) &&
         std::find(kKeywords.begin(), kKeywords.end(), name) == kKeywords.end();
}

std::string quote_name(std::string_view name) { return is_plain_name(name) ? std::string(name) : quoted(name, '`'); }

std::string quote_string(std::string_view text) { return quoted(text, '"'); }

}  // namespace hone::ir
