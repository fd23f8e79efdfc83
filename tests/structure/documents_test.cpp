// Holds the documents to the files they speak of.
#include <filesystem>
#include <gtest/gtest.h>
#include <regex>

#include "include_map.h"

namespace hone::structure {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = HONE_SOURCE_DIR;

/// All Markdown files, named from the root of the repository.
std::vector<fs::path> documents() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kRoot))
    if (entry.path().extension() == ".md") files.push_back(entry.path().lexically_relative(kRoot));
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs"))
    if (entry.path().extension() == ".md") files.push_back(entry.path().lexically_relative(kRoot));
  return files;
}

/// The text without the blocks between lines of ```.
std::string without_code(const std::string& markdown) {
  return std::regex_replace(markdown, std::regex("```[^`]*```"), "");
}

/// What the first group of the pattern matches in the text, each time.
std::vector<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end; ++match)
    found.push_back((*match)[1]);
  return found;
}

TEST(Documents, EveryLinkToAFileLeadsToOne) {
  for (const fs::path& document : documents())
    for (const std::string& link : matches(without_code(repository_file(document)), R"(\]\(([^):#]+)\))"))
      EXPECT_TRUE(fs::exists(kRoot / document.parent_path() / link)) << document << " links to " << link;
}

TEST(Documents, EveryFileTheyNameExists) {
  for (const fs::path& document : documents())
    for (const std::string& name : matches(repository_file(document), "`([a-z_]+/[a-z0-9_/]+\\.(?:h|cpp|md|ir))`"))
      EXPECT_TRUE(fs::exists(kRoot / name) || fs::exists(kRoot / "src/hone" / name)) << document << " names " << name;
}

TEST(Documents, TheCheckFindsLinksAndNames) {
  EXPECT_EQ(matches(without_code("```cpp\n[&](int)\n```\n[a](b.md), [c](https://d)"), R"(\]\(([^):#]+)\))"),
            std::vector<std::string>{"b.md"});
  EXPECT_GE(documents().size(), 10u);
}

}  // namespace
}  // namespace hone::structure
