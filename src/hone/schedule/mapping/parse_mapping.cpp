// The text form of mappings.

#include <charconv>
#include <fmt/format.h>

#include "hone/ir/lexer.h"
#include "hone/schedule/mapping/mapping.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// Recursive descent over the words of a mapping.
class MappingParser {
 public:
  explicit MappingParser(std::string_view text) : tokens_(tokenize(text)) {}

  Result<Mapping> mapping() {
    HONE_TRY(Mapping product, part());
    while (accept("*")) {
      HONE_TRY(const Mapping next, part());
      HONE_TRY(product, compose(product, next));
    }
    if (accept("within")) {
      HONE_TRY(expect("("));
      Index limit;
      if (!accept(")")) {
        do { HONE_TRY(number(limit)); } while (accept(","));
        HONE_TRY(expect(")", "',' or ')'"));
      }
      HONE_TRY(product, within(std::move(product), std::move(limit)));
    }
    if (token().kind != TokenKind::End) return unexpected("'*', 'within' or the end");
    return product;
  }

 private:
  const Token& token() const { return tokens_[place_]; }

  bool accept(std::string_view text) {
    if ((token().kind != TokenKind::Word && token().kind != TokenKind::Symbol) || token().text != text) return false;
    ++place_;
    return true;
  }

  Error unexpected(std::string_view allowed) const {
    const std::string found = token().kind == TokenKind::End   ? "the end"
                              : token().kind == TokenKind::Bad ? token().text
                                                               : fmt::format("'{}'", token().text);
    return error(ErrorCode::ParseError, "column {} of the mapping is {}, allowed is {}", token().column, found,
                 allowed);
  }

  Result<void> expect(std::string_view text, std::string_view allowed = {}) {
    if (accept(text)) return {};
    return unexpected(allowed.empty() ? fmt::format("'{}'", text) : std::string(allowed));
  }

  Result<void> number(std::vector<std::int64_t>& numbers) {
    const std::string& text = token().text;
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (token().kind != TokenKind::Number || problem != std::errc() || end != text.data() + text.size())
      return unexpected("a whole number");
    numbers.push_back(value);
    ++place_;
    return {};
  }

  Result<Mapping> part() {
    PartKind kind = PartKind::Spatial;
    if (accept("repeat"))
      kind = PartKind::Repeat;
    else if (!accept("spatial"))
      return unexpected("'spatial' or 'repeat'");
    HONE_TRY(expect("("));
    Index shape;
    std::vector<std::int64_t> ranks;
    while (!accept(")")) {
      if (!shape.empty()) HONE_TRY(expect(",", "',' or ')'"));
      if (!shape.empty() && accept("ranks")) {
        HONE_TRY(expect("="));
        HONE_TRY(expect("["));
        do { HONE_TRY(number(ranks)); } while (accept(","));
        HONE_TRY(expect("]", "',' or ']'"));
        HONE_TRY(expect(")"));
        break;
      }
      HONE_TRY(number(shape));
    }
    return make_part(kind, std::move(shape), std::move(ranks));
  }

  std::vector<Token> tokens_;
  std::size_t place_ = 0;
};

}  // namespace

Result<Mapping> parse_mapping(std::string_view text) { return MappingParser(text).mapping(); }

}  // namespace hone::schedule
