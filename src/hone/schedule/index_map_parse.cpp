// The text form of index maps.

#include <algorithm>

#include "hone/schedule/index_map.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// Deeper parentheses than anyone writes would only exhaust the stack.
constexpr int kDeepest = 64;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Recursive descent over the text of a map.
class MapParser {
 public:
  explicit MapParser(std::string_view text) : text_(text) {}

  Result<IndexMap> map() {
    HONE_TRY(expect("("));
    if (!accept(")")) {
      do { HONE_TRY(name()); } while (accept(","));
      HONE_TRY(expect(")", "',' or ')'"));
    }
    HONE_TRY(expect("->"));
    HONE_TRY(expect("("));
    if (!accept(")")) {
      do {
        HONE_TRY(Expr e, sum());
        map_.exprs.push_back(std::move(e));
      } while (accept(","));
      HONE_TRY(expect(")", "an operator, ',' or ')'"));
    }
    skip_space();
    if (place_ < text_.size()) return unexpected("the end");
    return std::move(map_);
  }

 private:
  void skip_space() {
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
  }

  bool accept(std::string_view token) {
    skip_space();
    if (text_.substr(place_, token.size()) != token) return false;
    place_ += token.size();
    return true;
  }

  Error unexpected(std::string_view allowed) {
    skip_space();
    const std::string found = place_ < text_.size() ? fmt::format("'{}'", text_[place_]) : "the end";
    return error(ErrorCode::ParseError, "column {} of the index map is {}, allowed is {}", place_ + 1, found, allowed);
  }

  Result<void> expect(std::string_view token, std::string_view allowed = {}) {
    if (accept(token)) return {};
    return unexpected(allowed.empty() ? fmt::format("'{}'", token) : std::string(allowed));
  }

  std::string_view take_word() {
    skip_space();
    const std::size_t begin = place_;
    if (place_ < text_.size() && is_letter(text_[place_]))
      while (place_ < text_.size() && (is_letter(text_[place_]) || is_digit(text_[place_]))) ++place_;
    return text_.substr(begin, place_ - begin);
  }

  Result<void> name() {
    const std::string_view word = take_word();
    if (word.empty()) return unexpected("a name");
    for (const Expr& known : map_.vars)
      if (name_of(known) == word)
        return error(ErrorCode::ParseError, "the index map names '{}' twice, allowed is one name per axis", word);
    map_.vars.push_back(var(std::string(word)));
    return {};
  }

  Result<Expr> sum() {
    HONE_TRY(Expr e, product());
    while (true) {
      if (accept("+")) {
        HONE_TRY(const Expr next, product());
        e = e + next;
      } else if (text_.substr(std::min(place_, text_.size()), 2) != "->" && accept("-")) {
        HONE_TRY(const Expr next, product());
        e = e - next;
      } else {
        return e;
      }
    }
  }

  Result<Expr> product() {
    HONE_TRY(Expr e, factor());
    while (true) {
      if (accept("*")) {
        HONE_TRY(const Expr next, factor());
        e = e * next;
      } else if (accept("//")) {
        HONE_TRY(const std::int64_t by, divisor());
        e = floor_div(e, by);
      } else if (accept("%")) {
        HONE_TRY(const std::int64_t by, divisor());
        e = floor_mod(e, by);
      } else {
        return e;
      }
    }
  }

  Result<std::int64_t> divisor() {
    skip_space();
    if (place_ >= text_.size() || !is_digit(text_[place_])) return unexpected("a positive whole number");
    HONE_TRY(const std::int64_t value, number());
    if (value == 0)
      return error(ErrorCode::ParseError, "the index map divides by 0, allowed are positive whole numbers");
    return value;
  }

  Result<std::int64_t> number() {
    std::int64_t value = 0;
    for (; place_ < text_.size() && is_digit(text_[place_]); ++place_) {
      value = value * 10 + (text_[place_] - '0');
      if (value > kLargestMapNumber)
        return error(ErrorCode::ParseError, "a number at column {} of the index map is outside 0..{}", place_ + 1,
                     kLargestMapNumber);
    }
    return value;
  }

  Result<Expr> factor() {
    constexpr std::string_view kAllowed = "a name, a whole number or '('";
    skip_space();
    if (place_ < text_.size() && is_digit(text_[place_])) {
      HONE_TRY(const std::int64_t value, number());
      return imm(value);
    }
    if (accept("(")) {
      if (++depth_ > kDeepest)
        return error(ErrorCode::ParseError, "the index map nests more than {} parentheses", kDeepest);
      HONE_TRY(Expr e, sum());
      HONE_TRY(expect(")", "an operator or ')'"));
      --depth_;
      return e;
    }
    const std::string_view word = take_word();
    if (word.empty()) return unexpected(kAllowed);
    for (const Expr& known : map_.vars)
      if (name_of(known) == word) return known;
    return error(ErrorCode::ParseError, "the index map uses '{}', allowed are {}", word, names());
  }

  std::string names() const {
    std::string text;
    for (const Expr& known : map_.vars) text += (text.empty() ? "" : ", ") + name_of(known);
    return text.empty() ? "whole numbers" : text;
  }

  std::string_view text_;
  std::size_t place_ = 0;
  int depth_ = 0;
  IndexMap map_;
};

}  // namespace

Result<IndexMap> parse_index_map(std::string_view text) { return MapParser(text).map(); }

}  // namespace hone::schedule
