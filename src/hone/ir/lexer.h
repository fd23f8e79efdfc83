/// Words of the text form: tokens, how names and strings are written, and how tightly operators bind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::ir {

/// How tightly an expression holds together; a looser one inside a tighter one needs parentheses.
enum Precedence : int { kLoosest, kOr, kAnd, kNot, kCompare, kSum, kProduct, kPrimary };

enum class TokenKind {
  Word,    ///< a name or keyword as it is
  Quoted,  ///< a name between backticks; `text` is without them
  String,  ///< text between double quotes; `text` is without them
  Number,  ///< digits and a type suffix, such as 1.5f32
  Symbol,  ///< an operator, a bracket, ...
  Bad,     ///< something else; `text` describes it
  End,     ///< behind the last token
};

/// A piece of text and where it begins; lines and columns count from 1.
struct Token {
  TokenKind kind = TokenKind::End;
  std::string text;
  std::size_t digits = 0;  ///< of a Number: how many characters stand before the suffix
  int line = 1, column = 1;
};

/// Cuts a text into tokens, up to and including the first Bad or End. '#' begins a comment to the end of the line.
std::vector<Token> tokenize(std::string_view text);

/// Whether a name can be written as it is: letters, digits, '_', '.' and '@', not beginning with a digit, '.' or '@',
/// and no keyword.
bool is_plain_name(std::string_view name);

/// The name itself if it is plain, else the name between backticks.
std::string quote_name(std::string_view name);

/// The text between double quotes.
std::string quote_string(std::string_view text);

}  // namespace hone::ir
