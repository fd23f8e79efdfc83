/// Regular expressions in the syntax of RE2, matched in time proportional to text and pattern.
///
/// Without Unicode classes (`\pL`), single bytes (`\C`) and captures, which a full match does not need.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hone/support/result.h"

namespace hone::runtime {

/// Characters: ranges of codes, both ends included, or all but those.
struct CharacterSet {
  std::vector<std::pair<char32_t, char32_t>> ranges;
  bool is_negated = false;
  bool ignores_case = false;

  bool contains(char32_t code) const;
};

/// What must hold between two characters.
enum class RegexAssertion : std::uint8_t { TextBegin, TextEnd, LineBegin, LineEnd, WordBoundary, NoWordBoundary };

/// The syntax tree of a pattern.
struct RegexNode {
  enum class Kind : std::uint8_t { Set, Assertion, Chain, Choice, Repeat };

  Kind kind = Kind::Chain;
  CharacterSet set;
  RegexAssertion assertion = RegexAssertion::TextBegin;
  std::vector<RegexNode> children;
  int least = 0;
  int most = 0;  ///< -1: any number
};

/// Parses a pattern; an error names the place.
Result<RegexNode> parse_regex(std::string_view pattern);

/// A pattern compiled into a machine that has all its states at once.
class Regex {
 public:
  static Result<Regex> parse(std::string_view pattern);

  /// Whether the whole text matches.
  bool matches(std::string_view text) const;

 private:
  struct Instruction {
    enum class Kind : std::uint8_t { Set, Assertion, Split, Accept };

    Kind kind = Kind::Accept;
    RegexAssertion assertion = RegexAssertion::TextBegin;
    std::uint32_t next = 0, other = 0;
    std::uint32_t set = 0;  ///< in sets_
  };
  struct Threads;

  Result<void> emit(const RegexNode& node);
  Result<void> emit_repeat(const RegexNode& node);
  Result<std::uint32_t> add(Instruction instruction);
  void follow(Threads& threads, std::uint32_t from, std::string_view before, std::string_view after) const;

  std::vector<Instruction> program_;
  std::vector<CharacterSet> sets_;
  std::size_t visits_ = 0;  ///< of nodes, repeated ones included
};

}  // namespace hone::runtime
