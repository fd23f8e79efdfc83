/// Runs every case of every golden file below tests/golden/. `HONE_UPDATE_GOLDEN=1` writes what came out into the
/// files instead of comparing; the difference is then reviewed like any other.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "golden_file.h"
#include "passes.h"

namespace hone::golden {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(HONE_SOURCE_DIR) / "tests" / "golden"))
    if (entry.path().extension() == ".ir") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// What the case's pass makes of its input; an error is its message behind "error: ".
std::string run(const Case& c) {
  for (const Pass& pass : passes()) {
    if (pass.name != c.pass) continue;
    const Result<std::string> output = pass.run(c.input);
    return output ? *output : "error: " + output.error().message + "\n";
  }
  std::string names;
  for (const Pass& pass : passes()) names.append(names.empty() ? "" : ", ").append(pass.name);
  return "error: there is no pass '" + c.pass + "', only: " + names + "\n";
}

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, EveryCaseGivesWhatIsExpected) {
  const Result<File> parsed = parse_file(read(GetParam()));
  ASSERT_TRUE(parsed) << parsed.error().message;
  File file = *parsed;
  EXPECT_FALSE(file.cases.empty()) << "a golden file without a case tests nothing";
  const bool update = std::getenv("HONE_UPDATE_GOLDEN") != nullptr;
  for (Case& c : file.cases) {
    const std::string output = run(c);
    if (update) c.expected = output;
    EXPECT_EQ(output, c.expected) << c.pass << ": " << c.title << " (HONE_UPDATE_GOLDEN=1 accepts the change)";
  }
  if (update) std::ofstream(GetParam()) << to_text(file);
}

std::string name_of(const testing::TestParamInfo<fs::path>& info) {
  std::string name = fs::relative(info.param, fs::path(HONE_SOURCE_DIR) / "tests" / "golden").replace_extension();
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(golden_files()), name_of);

TEST(GoldenFile, PrintsBackAsItWasRead) {
  const std::string text = "# head\n=== roundtrip: one\na\n---\nb\n=== simplify: two\n---\n---\n";
  const Result<File> file = parse_file(text);
  ASSERT_TRUE(file);
  ASSERT_EQ(file->cases.size(), 2u);
  EXPECT_EQ(file->cases[0].expected, "b\n");
  EXPECT_EQ(file->cases[1].title, "two");
  EXPECT_EQ(to_text(*file), text);
}

TEST(GoldenFile, ACaseWithoutATitleIsAnError) {
  const Result<File> file = parse_file("\n=== roundtrip\n");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message, "golden: line 2: found '=== roundtrip', allowed is '=== pass: title'");
}

TEST(GoldenFile, AnUnknownPassIsNamed) {
  EXPECT_EQ(run({.pass = "frobnicate"}).substr(0, 37), "error: there is no pass 'frobnicate',");
}

}  // namespace
}  // namespace hone::golden
