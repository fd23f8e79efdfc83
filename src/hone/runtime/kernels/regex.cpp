#include "hone/runtime/kernels/regex.h"

#include <algorithm>

#include "hone/runtime/kernels/letter_case.h"
#include "hone/runtime/kernels/utf8.h"

namespace hone::runtime {
namespace {

/// A pattern that repeats repetitions may grow without bounds; RE2 has a limit of this kind, too.
constexpr std::size_t kMaxInstructions = 100'000;

bool is_word(std::string_view text, std::size_t i) {
  const char c = text[i];
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool holds(RegexAssertion assertion, std::string_view before, std::string_view after) {
  const bool is_boundary =
      (!before.empty() && is_word(before, before.size() - 1)) != (!after.empty() && is_word(after, 0));
  switch (assertion) {
    case RegexAssertion::TextBegin:
      return before.empty();
    case RegexAssertion::TextEnd:
      return after.empty();
    case RegexAssertion::LineBegin:
      return before.empty() || before.back() == '\n';
    case RegexAssertion::LineEnd:
      return after.empty() || after.front() == '\n';
    case RegexAssertion::WordBoundary:
      return is_boundary;
    case RegexAssertion::NoWordBoundary:
      return !is_boundary;
  }
  return false;
}

}  // namespace

bool CharacterSet::contains(char32_t code) const {
  const auto is_in_range = [&](char32_t wanted) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const auto& range) { return wanted >= range.first && wanted <= range.second; });
  };
  bool is_inside = is_in_range(code);
  if (!is_inside && ignores_case) {
    static const LetterCase letters;
    is_inside = is_in_range(letters.lower(code)) || is_in_range(letters.upper(code));
  }
  return is_inside != is_negated;
}

/// The states of the machine between two characters, each once.
struct Regex::Threads {
  std::vector<std::uint32_t> states;
  std::vector<std::uint32_t> seen_at;  ///< per instruction: the step at which it was last entered
  std::vector<std::uint32_t> pending;
  std::uint32_t step = 0;
};

Result<Regex> Regex::parse(std::string_view pattern) {
  HONE_TRY(const RegexNode tree, parse_regex(pattern));
  Regex regex;
  HONE_TRY(regex.emit(tree));
  HONE_TRY(regex.add({.kind = Instruction::Kind::Accept}));
  return regex;
}

Result<std::uint32_t> Regex::add(Instruction instruction) {
  if (program_.size() >= kMaxInstructions)
    return error(ErrorCode::InvalidArgument, "the pattern needs more than {} states", kMaxInstructions);
  program_.push_back(instruction);
  return static_cast<std::uint32_t>(program_.size() - 1);
}

/// Appends code that goes on behind its last instruction.
Result<void> Regex::emit(const RegexNode& node) {
  if (++visits_ > 10 * kMaxInstructions) return error(ErrorCode::InvalidArgument, "the pattern repeats too much");
  const auto end = [&] { return static_cast<std::uint32_t>(program_.size()); };
  switch (node.kind) {
    case RegexNode::Kind::Set:
      sets_.push_back(node.set);
      HONE_TRY(add(
          {.kind = Instruction::Kind::Set, .next = end() + 1, .set = static_cast<std::uint32_t>(sets_.size() - 1)}));
      return {};
    case RegexNode::Kind::Assertion:
      HONE_TRY(add({.kind = Instruction::Kind::Assertion, .assertion = node.assertion, .next = end() + 1}));
      return {};
    case RegexNode::Kind::Chain:
      for (const RegexNode& child : node.children) HONE_TRY(emit(child));
      return {};
    case RegexNode::Kind::Choice: {
      std::vector<std::uint32_t> jumps;
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        const bool is_last = i + 1 == node.children.size();
        std::uint32_t split = 0;
        if (!is_last) { HONE_TRY(split, add({.kind = Instruction::Kind::Split, .next = end() + 1})); }
        HONE_TRY(emit(node.children[i]));
        if (is_last) break;
        HONE_TRY(jumps.emplace_back(), add({.kind = Instruction::Kind::Split}));
        program_[split].other = end();
      }
      for (const std::uint32_t jump : jumps) program_[jump].next = program_[jump].other = end();
      return {};
    }
    case RegexNode::Kind::Repeat:
      return emit_repeat(node);
  }
  return {};
}

Result<void> Regex::emit_repeat(const RegexNode& node) {
  const auto end = [&] { return static_cast<std::uint32_t>(program_.size()); };
  for (int i = 0; i < node.least; ++i) HONE_TRY(emit(node.children[0]));
  if (node.most < 0) {
    HONE_TRY(const std::uint32_t again, add({.kind = Instruction::Kind::Split, .next = end() + 1}));
    HONE_TRY(emit(node.children[0]));
    HONE_TRY(add({.kind = Instruction::Kind::Split, .next = again, .other = again}));
    program_[again].other = end();
    return {};
  }
  std::vector<std::uint32_t> exits;
  for (int i = node.least; i < node.most; ++i) {
    HONE_TRY(exits.emplace_back(), add({.kind = Instruction::Kind::Split, .next = end() + 1}));
    HONE_TRY(emit(node.children[0]));
  }
  for (const std::uint32_t exit : exits) program_[exit].other = end();
  return {};
}

void Regex::follow(Threads& threads, std::uint32_t from, std::string_view before, std::string_view after) const {
  threads.pending = {from};
  while (!threads.pending.empty()) {
    const std::uint32_t at = threads.pending.back();
    threads.pending.pop_back();
    if (threads.seen_at[at] == threads.step) continue;
    threads.seen_at[at] = threads.step;
    const Instruction& instruction = program_[at];
    switch (instruction.kind) {
      case Instruction::Kind::Set:
      case Instruction::Kind::Accept:
        threads.states.push_back(at);
        break;
      case Instruction::Kind::Assertion:
        if (holds(instruction.assertion, before, after)) threads.pending.push_back(instruction.next);
        break;
      case Instruction::Kind::Split:
        threads.pending.push_back(instruction.other);
        threads.pending.push_back(instruction.next);
        break;
    }
  }
}

bool Regex::matches(std::string_view text) const {
  Threads threads;
  threads.seen_at.assign(program_.size(), 0);
  threads.step = 1;
  follow(threads, 0, {}, text);
  std::size_t at = 0;
  while (at < text.size() && !threads.states.empty()) {
    const Utf8Character character = next_utf8(text.substr(at));
    at += character.bytes;
    const std::vector<std::uint32_t> current = std::move(threads.states);
    threads.states.clear();
    ++threads.step;
    if (!character.is_valid) return false;
    for (const std::uint32_t state : current)
      if (program_[state].kind == Instruction::Kind::Set && sets_[program_[state].set].contains(character.code))
        follow(threads, program_[state].next, text.substr(0, at), text.substr(at));
  }
  return std::any_of(threads.states.begin(), threads.states.end(),
                     [&](std::uint32_t state) { return program_[state].kind == Instruction::Kind::Accept; });
}

}  // namespace hone::runtime
