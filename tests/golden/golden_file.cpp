#include "golden_file.h"

namespace hone::golden {

namespace {

constexpr std::string_view kCase = "=== ", kExpected = "---";

/// Reads `=== pass: title`.
Result<Case> parse_header(std::string_view line, int number) {
  const std::string_view rest = line.substr(kCase.size());
  const std::size_t colon = rest.find(": ");
  if (colon == std::string_view::npos)
    return error(ErrorCode::ParseError, "golden: line {}: found '{}', allowed is '=== pass: title'", number, line);
  return Case{.pass = std::string(rest.substr(0, colon)), .title = std::string(rest.substr(colon + 2))};
}

}  // namespace

Result<File> parse_file(std::string_view text) {
  File file;
  std::string* part = &file.head;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with(kCase)) {
      HONE_TRY(Case next, parse_header(line, number));
      file.cases.push_back(std::move(next));
      part = &file.cases.back().input;
    } else if (line == kExpected && !file.cases.empty() && part == &file.cases.back().input) {
      part = &file.cases.back().expected;
    } else {
      part->append(line).append("\n");
    }
  }
  return file;
}

std::string to_text(const File& file) {
  std::string text = file.head;
  for (const Case& c : file.cases) {
    text.append(kCase).append(c.pass).append(": ").append(c.title).append("\n").append(c.input);
    text.append(kExpected).append("\n").append(c.expected);
  }
  return text;
}

}  // namespace hone::golden
