#include "hone/ir/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/core.h>
#include <utility>

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

/// Reads tokens one by one.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    skip_space();
    begin_ = at_;
    token_ = Token{.line = line_, .column = static_cast<int>(at_ - line_begin_) + 1};
    const char c = peek();
    if (at_ >= text_.size()) return std::move(token_);
    if (is_name_start(c)) return take_while(TokenKind::Word, is_name_part);
    if (is_digit(c)) return number();
    if (c == '`') return quoted_token(TokenKind::Quoted, '`');
    if (c == '"') return quoted_token(TokenKind::String, '"');
    return symbol();
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_space() {
    for (bool in_comment = false; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      in_comment = (in_comment || c == '#') && c != '\n';
      if (!in_comment && c != ' ' && c != '\t' && c != '\r' && c != '\n') return;
      if (c != '\n') continue;
      ++line_;
      line_begin_ = at_ + 1;
    }
  }

  template <typename Predicate>
  void skip_while(Predicate predicate) {
    while (at_ < text_.size() && predicate(text_[at_])) ++at_;
  }

  Token finish(TokenKind kind) {
    token_.kind = kind;
    token_.text = text_.substr(begin_, at_ - begin_);
    return std::move(token_);
  }

  template <typename Predicate>
  Token take_while(TokenKind kind, Predicate predicate) {
    skip_while(predicate);
    return finish(kind);
  }

  Token bad(std::string description) {
    token_.kind = TokenKind::Bad;
    token_.text = std::move(description);
    return std::move(token_);
  }

  Token number() {
    skip_while(is_digit);
    if (peek() == '.' && is_digit(peek(1))) {
      ++at_;
      skip_while(is_digit);
    }
    const std::size_t sign = peek(1) == '-' || peek(1) == '+';
    if (peek() == 'e' && is_digit(peek(1 + sign))) {
      at_ += 1 + sign;
      skip_while(is_digit);
    }
    token_.digits = at_ - begin_;
    return take_while(TokenKind::Number, [](char c) { return is_name_start(c) || is_digit(c); });
  }

  Token symbol() {
    for (const std::string_view two : {"..", "//", "==", "!=", "<="})
      if (text_.substr(at_, 2) == two) return at_ += 2, finish(TokenKind::Symbol);
    const char c = text_[at_++];
    if (std::string_view("(){}[],:=@+-*/%<").find(c) != std::string_view::npos) return finish(TokenKind::Symbol);
    return bad(fmt::format("the character {}", quoted(std::string_view(&c, 1), '\'')));
  }

  Token quoted_token(TokenKind kind, char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      const char c = text_[at_];
      if (c == quote) {
        ++at_;
        token_.kind = kind;
        return std::move(token_);
      }
      if (c != '\\') {
        token_.text += c;
      } else if (!escape()) {
        return bad("an unknown escape");
      }
    }
    return bad(kind == TokenKind::String ? "a string without end" : "a quoted name without end");
  }

  /// Reads what follows a backslash, up to its last character.
  bool escape() {
    const char c = peek(1);
    if (c == 'x') {
      unsigned char byte = 0;
      const char* first = text_.data() + std::min(at_ + 2, text_.size());
      const char* last = text_.data() + std::min(at_ + 4, text_.size());
      const auto [stop, status] = std::from_chars(first, last, byte, 16);
      if (status != std::errc() || stop != first + 2) return false;
      token_.text += static_cast<char>(byte);
      at_ += 3;
      return true;
    }
    if (c != 'n' && c != '\\' && c != '"' && c != '`') return false;
    token_.text += c == 'n' ? '\n' : c;
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0, begin_ = 0, line_begin_ = 0;
  int line_ = 1;
  Token token_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  Lexer lexer(text);
  std::vector<Token> tokens;
  do {
    tokens.push_back(lexer.next());
  } while (tokens.back().kind != TokenKind::End && tokens.back().kind != TokenKind::Bad);
  return tokens;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && is_name_start(name.front()) && std::all_of(name.begin(), name.end(), is_name_part) &&
         std::find(kKeywords.begin(), kKeywords.end(), name) == kKeywords.end();
}

std::string quote_name(std::string_view name) { return is_plain_name(name) ? std::string(name) : quoted(name, '`'); }

std::string quote_string(std::string_view text) { return quoted(text, '"'); }

}  // namespace hone::ir
