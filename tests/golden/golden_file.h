/// Golden files: inputs of named passes, each with the output that is expected.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/support/result.h"

namespace hone::golden {

/// One input and what its pass makes of it.
///
///     === pass: title
///     input
///     ---
///     expected output
struct Case {
  std::string pass, title, input, expected;
};

/// What stands before the first case (a comment, usually), and the cases.
struct File {
  std::string head;
  std::vector<Case> cases;
};

/// Reads a file; an error names the line.
Result<File> parse_file(std::string_view text);

/// The text that parse_file reads.
std::string to_text(const File& file);

}  // namespace hone::golden
