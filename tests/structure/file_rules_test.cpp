// Rules of CONTRIBUTING.md about single files that a program can check.
#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>

#include "include_map.h"

namespace hone::structure {
namespace {

/// The first line of `text` that says something to a reader.
std::string opening_line(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line != "#pragma once") return line;
  return "";
}

TEST(Files, EveryHeaderIsGuardedAndOpensWithASentence) {
  for (const Source& source : repository_sources()) {
    if (!source.path.ends_with(".h")) continue;
    EXPECT_NE(source.text.find("#pragma once\n"), std::string::npos) << source.path << " has no #pragma once";
    EXPECT_TRUE(opening_line(source.text).starts_with("//"))
        << source.path << " opens with " << opening_line(source.text);
  }
}

TEST(Files, NoFileIsLongerThan500Lines) {
  for (const Source& source : repository_sources())
    EXPECT_LE(std::count(source.text.begin(), source.text.end(), '\n'), 500)
        << source.path << " probably holds a second subject that wants a file of its own";
}

TEST(Files, HoneHeadersAreIncludedByTheirFullPath) {
  for (const Source& source : repository_sources())
    for (std::size_t at = source.text.find("\n#include \""); at != std::string::npos;
         at = source.text.find("\n#include \"", at + 1)) {
      const std::string name = source.text.substr(at + 11, source.text.find('"', at + 11) - at - 11);
      EXPECT_TRUE(name.starts_with("hone/")) << source.path << " includes \"" << name << '"';
    }
}

}  // namespace
}  // namespace hone::structure
