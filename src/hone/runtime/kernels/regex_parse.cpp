#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "hone/runtime/kernels/regex.h"
#include "hone/runtime/kernels/utf8.h"

namespace hone::runtime {
namespace {

constexpr char32_t kLastCode = 0x10FFFF;
constexpr int kMaxRepeat = 1000;  // as in RE2
constexpr int kMaxDepth = 250;

using Range = std::pair<char32_t, char32_t>;
using Kind = RegexNode::Kind;

struct NamedClass {
  std::string_view name;
  std::vector<Range> ranges;
};

/// The ranges of \d, \s and \w, and of [:name:].
const std::vector<NamedClass>& named_classes() {
  static const std::vector<NamedClass> classes = {
      {"d", {{'0', '9'}}},
      {"s", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}},
      {"w", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"ascii", {{0, 0x7F}}},
      {"blank", {{'\t', '\t'}, {' ', ' '}}},
      {"cntrl", {{0, 0x1F}, {0x7F, 0x7F}}},
      {"digit", {{'0', '9'}}},
      {"graph", {{'!', '~'}}},
      {"lower", {{'a', 'z'}}},
      {"print", {{' ', '~'}}},
      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}},
      {"upper", {{'A', 'Z'}}},
      {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
  };
  return classes;
}

/// All codes outside the ranges.
std::vector<Range> complement(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::vector<Range> others;
  char32_t next = 0;
  for (const auto& [first, last] : ranges) {
    if (first > next) others.emplace_back(next, first - 1);
    next = std::max<char32_t>(next, last + 1);
  }
  if (next <= kLastCode) others.emplace_back(next, kLastCode);
  return others;
}

struct Flags {
  bool ignores_case = false, is_multi_line = false, dot_takes_newline = false;
};

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern) {}

  Result<RegexNode> parse() {
    HONE_TRY(RegexNode tree, parse_choice(0));
    if (!at_end()) return fail("a ')' without its '('");
    return tree;
  }

 private:
  bool at_end() const { return at_ >= pattern_.size(); }
  std::string_view rest() const { return pattern_.substr(at_); }
  bool skip(std::string_view text) {
    if (!rest().starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  Error fail(std::string_view what) const {
    return error(ErrorCode::ParseError, "pattern '{}', byte {}: {}", pattern_, at_, what);
  }

  Result<char32_t> next_code() {
    if (at_end()) return fail("the pattern ends too early");
    const Utf8Character character = next_utf8(rest());
    if (!character.is_valid) return fail("invalid UTF-8");
    at_ += character.bytes;
    return character.code;
  }

  RegexNode set_node(std::vector<Range> ranges, bool is_negated = false) const {
    RegexNode node{.kind = Kind::Set};
    node.set = {.ranges = std::move(ranges), .is_negated = is_negated, .ignores_case = flags_.ignores_case};
    return node;
  }
  static RegexNode assertion_node(RegexAssertion assertion) {
    return {.kind = Kind::Assertion, .assertion = assertion};
  }

  Result<RegexNode> parse_choice(int depth) {
    if (depth > kMaxDepth) return fail("groups are nested too deeply");
    const Flags outer = flags_;
    RegexNode choice{.kind = Kind::Choice};
    do { HONE_TRY(choice.children.emplace_back(), parse_sequence(depth)); } while (skip("|"));
    flags_ = outer;
    return choice.children.size() == 1 ? std::move(choice.children[0]) : std::move(choice);
  }

  Result<RegexNode> parse_sequence(int depth) {
    RegexNode sequence{.kind = Kind::Chain};
    while (!at_end() && rest()[0] != '|' && rest()[0] != ')') {
      if (skip("\\Q")) {
        HONE_TRY(parse_quoted(sequence));
        continue;
      }
      HONE_TRY(std::optional<RegexNode> atom, parse_atom(depth));
      if (!atom) continue;
      HONE_TRY(add_repeated(sequence, *std::move(atom)));
    }
    return sequence;
  }

  /// Characters up to \\E, which stand for themselves; a repetition behind it takes the last.
  Result<void> parse_quoted(RegexNode& sequence) {
    while (!at_end() && !rest().starts_with("\\E")) {
      HONE_TRY(const char32_t code, next_code());
      RegexNode character = set_node({{code, code}});
      if (skip("\\E")) return add_repeated(sequence, std::move(character));
      sequence.children.push_back(std::move(character));
    }
    (void)skip("\\E");
    return {};
  }

  Result<void> add_repeated(RegexNode& sequence, RegexNode atom) {
    HONE_TRY(RegexNode repeated, parse_repeats(std::move(atom)));
    sequence.children.push_back(std::move(repeated));
    return {};
  }

  /// One piece without its repetition; none if it only set flags.
  Result<std::optional<RegexNode>> parse_atom(int depth) {
    if (rest()[0] == '*' || rest()[0] == '+' || rest()[0] == '?') return fail("nothing to repeat");
    if (skip("(")) return parse_group(depth);
    if (skip("[")) return some(parse_class());
    if (skip(".")) {
      if (flags_.dot_takes_newline) return std::optional(set_node({{0, kLastCode}}));
      return std::optional(set_node({{0, '\n' - 1}, {'\n' + 1, kLastCode}}));
    }
    if (skip("^"))
      return std::optional(
          assertion_node(flags_.is_multi_line ? RegexAssertion::LineBegin : RegexAssertion::TextBegin));
    if (skip("$"))
      return std::optional(assertion_node(flags_.is_multi_line ? RegexAssertion::LineEnd : RegexAssertion::TextEnd));
    if (skip("\\A")) return std::optional(assertion_node(RegexAssertion::TextBegin));
    if (skip("\\z")) return std::optional(assertion_node(RegexAssertion::TextEnd));
    if (skip("\\b")) return std::optional(assertion_node(RegexAssertion::WordBoundary));
    if (skip("\\B")) return std::optional(assertion_node(RegexAssertion::NoWordBoundary));
    if (skip("\\")) {
      HONE_TRY(std::vector<Range> ranges, parse_escape());
      return std::optional(set_node(std::move(ranges)));
    }
    HONE_TRY(const char32_t code, next_code());
    return std::optional(set_node({{code, code}}));
  }

  static Result<std::optional<RegexNode>> some(Result<RegexNode> node) {
    HONE_TRY(RegexNode made, std::move(node));
    return std::optional(std::move(made));
  }

  /// What stands behind '('.
  Result<std::optional<RegexNode>> parse_group(int depth) {
    const Flags outer = flags_;
    if (skip("?P<") || skip("?<")) {
      const std::size_t end = rest().find('>');
      if (end == std::string_view::npos || end == 0) return fail("a group without a proper name");
      at_ += end + 1;
    } else if (skip("?")) {
      HONE_TRY(const bool is_whole_group, parse_flags());
      if (is_whole_group) return std::optional<RegexNode>();
    }
    HONE_TRY(RegexNode inner, parse_choice(depth + 1));
    flags_ = outer;
    if (!skip(")")) return fail("a '(' without its ')'");
    // a sequence of its own, so that what follows repeats all of it
    RegexNode group{.kind = Kind::Chain};
    group.children.push_back(std::move(inner));
    return std::optional(std::move(group));
  }

  /// Flags up to ':' or ')'; true if they end the group.
  Result<bool> parse_flags() {
    bool value = true;
    while (!at_end()) {
      const char letter = rest()[0];
      ++at_;
      if (letter == ':') return false;
      if (letter == ')') return true;
      if (letter == '-' && value)
        value = false;
      else if (letter == 'i')
        flags_.ignores_case = value;
      else if (letter == 'm')
        flags_.is_multi_line = value;
      else if (letter == 's')
        flags_.dot_takes_newline = value;
      else if (letter != 'U')  // which only says what is preferred
        return fail("a group of an unknown kind");
    }
    return fail("a '(' without its ')'");
  }

  /// Numbers between braces: {3}, {3,}, {3,5}; none if it is not of this form, and then stands for itself.
  std::optional<std::pair<int, int>> parse_counts() {
    std::size_t i = 1;
    const auto number = [&]() -> std::optional<int> {
      const std::size_t begin = i;
      int value = 0;
      for (; at_ + i < pattern_.size() && pattern_[at_ + i] >= '0' && pattern_[at_ + i] <= '9'; ++i)
        value = std::min(value * 10 + (pattern_[at_ + i] - '0'), kMaxRepeat + 1);
      return i == begin ? std::nullopt : std::optional(value);
    };
    const auto is_next = [&](char wanted) { return at_ + i < pattern_.size() && pattern_[at_ + i] == wanted; };
    const std::optional<int> least = number();
    if (!least) return std::nullopt;
    int most = *least;
    if (is_next(',')) {
      ++i;
      most = number().value_or(-1);
    }
    if (!is_next('}')) return std::nullopt;
    at_ += i + 1;
    return std::pair(*least, most);
  }

  Result<RegexNode> parse_repeats(RegexNode atom) {
    std::optional<std::pair<int, int>> counts;
    if (skip("*"))
      counts = {0, -1};
    else if (skip("+"))
      counts = {1, -1};
    else if (skip("?"))
      counts = {0, 1};
    else if (rest().starts_with("{"))
      counts = parse_counts();
    if (!counts) return atom;  // a brace that is no repetition is a character
    if (counts->first > kMaxRepeat || counts->second > kMaxRepeat ||
        (counts->second >= 0 && counts->second < counts->first))
      return fail("a repetition outside 0..1000, or with its ends swapped");
    (void)skip("?");  // prefer few: the same for a full match
    const bool is_repeated_again =
        !at_end() && (rest()[0] == '*' || rest()[0] == '+' || rest()[0] == '?' || (rest()[0] == '{' && parse_counts()));
    if (is_repeated_again) return fail("a repetition of a repetition");
    RegexNode repeat{.kind = Kind::Repeat, .least = counts->first, .most = counts->second};
    repeat.children.push_back(std::move(atom));
    return repeat;
  }

  Result<std::vector<Range>> parse_named(std::string_view name, bool is_negated) {
    for (const NamedClass& named : named_classes())
      if (named.name == name) return is_negated ? complement(named.ranges) : named.ranges;
    return fail(fmt::format("unknown class '{}'", name));
  }

  /// What stands behind '\', outside and inside of brackets.
  Result<std::vector<Range>> parse_escape() {
    HONE_TRY(const char32_t code, next_code());
    const auto one = [](char32_t c) { return std::vector<Range>{{c, c}}; };
    switch (code) {
      case 'd':
      case 's':
      case 'w':
        return parse_named(std::string(1, static_cast<char>(code)), false);
      case 'D':
      case 'S':
      case 'W':
        return parse_named(std::string(1, static_cast<char>(code + ('a' - 'A'))), true);
      case 'a':
        return one('\a');
      case 'f':
        return one('\f');
      case 't':
        return one('\t');
      case 'n':
        return one('\n');
      case 'r':
        return one('\r');
      case 'v':
        return one('\v');
      case 'x':
        return parse_hexadecimal();
      default:
        break;
    }
    if (code >= '0' && code <= '7') {
      // \1 to \7 alone would be references to groups
      const auto is_octal = [&] { return !at_end() && rest()[0] >= '0' && rest()[0] <= '7'; };
      if (code != '0' && !is_octal()) return fail("references to groups are not supported");
      char32_t value = code - '0';
      for (int i = 0; i < 2 && is_octal(); ++i) value = value * 8 + static_cast<char32_t>(pattern_[at_++] - '0');
      return one(value);
    }
    const bool is_letter = (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || (code >= '0' && code <= '9');
    if (is_letter || code >= 0x80) return fail(fmt::format("unknown escape '\\{}'", static_cast<char>(code)));
    return one(code);
  }

  Result<std::vector<Range>> parse_hexadecimal() {
    const bool has_braces = skip("{");
    char32_t value = 0;
    int digits = 0;
    while (!at_end() && digits < (has_braces ? 8 : 2)) {
      const char c = rest()[0];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) break;
      value = value * 16 + static_cast<char32_t>(digit);
      ++at_;
      ++digits;
    }
    if (digits == 0 || (!has_braces && digits != 2) || (has_braces && !skip("}")) || value > kLastCode)
      return fail("a code of the form \\x41 or \\x{10FFFF} expected");
    return std::vector<Range>{{value, value}};
  }

  /// What stands behind '['.
  Result<RegexNode> parse_class() {
    const bool is_negated = skip("^");
    std::vector<Range> ranges;
    for (bool is_first = true; is_first || !skip("]"); is_first = false) {
      if (at_end()) return fail("a '[' without its ']'");
      HONE_TRY(std::vector<Range> part, parse_class_part());
      const bool is_single = part.size() == 1 && part[0].first == part[0].second;
      if (is_single && rest().starts_with("-") && !rest().starts_with("-]")) {
        ++at_;
        HONE_TRY(const std::vector<Range> end, parse_class_part());
        if (end.size() != 1 || end[0].first != end[0].second || end[0].first < part[0].first)
          return fail("a range whose end is not above its begin");
        part[0].second = end[0].first;
      }
      ranges.insert(ranges.end(), part.begin(), part.end());
    }
    return set_node(std::move(ranges), is_negated);
  }

  Result<std::vector<Range>> parse_class_part() {
    if (rest().starts_with("[:")) {
      if (const std::size_t end = rest().find(":]"); end != std::string_view::npos) {
        std::string_view name = rest().substr(2, end - 2);
        at_ += end + 2;
        const bool is_negated = name.starts_with('^');
        if (is_negated) name.remove_prefix(1);
        return parse_named(name, is_negated);
      }
    }
    if (skip("\\")) return parse_escape();
    HONE_TRY(const char32_t code, next_code());
    return std::vector<Range>{{code, code}};
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  Flags flags_;
};

}  // namespace

Result<RegexNode> parse_regex(std::string_view pattern) { return Parser(pattern).parse(); }

}  // namespace hone::runtime
