/// Runs every program of examples/, and holds README and tutorials to them: their code stands in the program, and what
/// they show as output is what it prints.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace hone::examples {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  std::string output;
  int status;
};

/// Runs a program of examples/ with its arguments.
Outcome run(const std::string& command) {
  Outcome outcome{"", -1};
  std::FILE* pipe = popen((HONE_EXAMPLES_DIR "/example_" + command).c_str(), "r");
  if (!pipe) return outcome;
  std::array<char, 4096> part;
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe))
    outcome.output.append(part.data(), size);
  outcome.status = pclose(pipe);
  return outcome;
}

std::string read(const std::string& path) {
  std::ifstream file(fs::path(HONE_SOURCE_DIR) / path, std::ios::binary);
  EXPECT_TRUE(file) << "cannot read " << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The text without the white space around its lines: a document may show code less deeply indented than it stands.
std::string without_indent(const std::string& text) {
  std::string flat;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) flat += line.substr(begin) + '\n';
  }
  return flat;
}

/// The blocks between ```language and ``` of a document.
std::vector<std::string> blocks_of(const std::string& markdown, const std::string& language) {
  std::vector<std::string> blocks;
  const std::string open = "```" + language + "\n";
  for (std::size_t at = markdown.find(open); at != std::string::npos; at = markdown.find(open, at + 1)) {
    const std::size_t begin = at + open.size();
    blocks.push_back(markdown.substr(begin, markdown.find("```", begin) - begin));
  }
  return blocks;
}

struct Document {
  std::string file, example;
};

const Document kDocuments[] = {
    {"README.md", "first_program"},
    {"docs/tutorial/01-schedule-a-matmul.md", "schedule_a_matmul"},
    {"docs/tutorial/02-traces-and-decisions.md", "traces_and_decisions"},
};

TEST(Examples, EveryProgramRuns) {
  for (const auto& entry : fs::directory_iterator(fs::path(HONE_SOURCE_DIR) / "examples")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string name = entry.path().stem();
    EXPECT_EQ(run(name == "demo" ? "demo --size 128" : name).status, 0) << name;
  }
}

TEST(Examples, TheDemoRefusesWhatItDoesNotKnow) {
  EXPECT_NE(run("demo --sise 128 2>&1").status, 0);
  EXPECT_EQ(run("demo --size many 2>&1").output, "demo: --size is 'many', allowed are whole numbers in 1..8192\n");
}

TEST(Documents, TheirCodeStandsInTheirExamples) {
  for (const Document& document : kDocuments) {
    const std::string source = without_indent(read("examples/" + document.example + ".cpp"));
    const std::vector<std::string> blocks = blocks_of(read(document.file), "cpp");
    EXPECT_FALSE(blocks.empty()) << document.file;
    for (const std::string& block : blocks)
      EXPECT_NE(source.find(without_indent(block)), std::string::npos)
          << "examples/" << document.example << ".cpp does not contain this of " << document.file << ":\n"
          << block;
  }
}

TEST(Documents, TheirOutputIsWhatTheirExamplesPrint) {
  for (const Document& document : kDocuments) {
    const std::string output = without_indent(run(document.example).output);
    const std::vector<std::string> blocks = blocks_of(read(document.file), "text");
    EXPECT_FALSE(blocks.empty()) << document.file;
    for (const std::string& block : blocks)
      EXPECT_NE(output.find(without_indent(block)), std::string::npos)
          << "example_" << document.example << " does not print this of " << document.file << ":\n"
          << block;
  }
}

TEST(Documents, EveryTutorialHasAnExample) {
  for (const auto& entry : fs::directory_iterator(fs::path(HONE_SOURCE_DIR) / "docs/tutorial")) {
    const std::string file = "docs/tutorial/" + entry.path().filename().string();
    if (!blocks_of(read(file), "python").empty()) continue;  // tests/python runs these
    EXPECT_TRUE(std::any_of(std::begin(kDocuments), std::end(kDocuments), [&](const Document& document) {
      return document.file == file;
    })) << file;
  }
}

}  // namespace
}  // namespace hone::examples
