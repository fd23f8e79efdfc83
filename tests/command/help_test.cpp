// Help, version, manual page and completions: all follow from one table of options.
#include <cstdlib>
#include <gmock/gmock.h>
#include <regex>
#include <sys/resource.h>

#include "command.h"
#include "command_runner.h"

namespace hone::command {
namespace {

using testing::HasSubstr;

using Help = CommandTest;
using ManualPage = CommandTest;
using Completion = CommandTest;

/// The long options that `hone COMMAND --help` shows.
std::vector<std::string> options_in(const std::string& help) {
  std::vector<std::string> names;
  const std::regex pattern("\n  (?:-[a-z],)?(--[a-z-]+)");
  for (std::sregex_iterator match(help.begin(), help.end(), pattern), end; match != end; ++match)
    names.push_back((*match)[1]);
  return names;
}

TEST_F(Help, OfTheWholeNamesEveryCommand) {
  const Outcome outcome = hone("--help");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.errors, "");
  for (const Command& command : commands()) {
    EXPECT_THAT(outcome.output, HasSubstr(command.name));
    EXPECT_THAT(outcome.output, HasSubstr(command.summary));
    EXPECT_EQ(hone(std::string(command.name) + " --help").status, 0);
  }
}

TEST_F(Help, StartsInLessThan50Milliseconds) {
  if (std::getenv("HONE_SHORT_TESTS")) GTEST_SKIP() << "sanitizers slow the start";
  // Time on a CPU, so that other programs do not count; the shell's is a part of it.
  const auto cpu_ms = [] {
    rusage used = {};
    getrusage(RUSAGE_CHILDREN, &used);
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
           static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-3;
  };
  double best = 1e9;
  for (int round = 0; round < 10; ++round) {
    const double begin = cpu_ms();
    ASSERT_EQ(hone("--help").status, 0);
    best = std::min(best, cpu_ms() - begin);
  }
  EXPECT_LT(best, 50);
}

TEST_F(Help, OfTheVersionIsOneLine) {
  EXPECT_TRUE(std::regex_match(hone("--version").output, std::regex("hone [0-9.]+\n")));
}

TEST_F(Help, OfTargetsBeginsWithThisMachine) {
  const Outcome outcome = hone("targets");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.output.starts_with("cpu -mcpu=")) << outcome.output;
  write_dense();
  const std::string target = outcome.output.substr(0, outcome.output.find('\n'));
  EXPECT_EQ(hone("run dense.onnx --random --dim batch=1 --target '" + target + "'").status, 0);
}

TEST_F(ManualPage, HasEveryOptionOfEveryCommand) {
  const Outcome outcome = hone("man");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.output.starts_with(".TH HONE 1 ")) << outcome.output.substr(0, 40);
  for (const Command& command : commands())
    for (const std::string& option : options_in(hone(std::string(command.name) + " --help").output))
      EXPECT_THAT(outcome.output, HasSubstr("\\fB" + std::regex_replace(option, std::regex("-"), "\\-") + "\\fR"));
}

TEST_F(ManualPage, IsCleanRoff) {
  if (shell("command -v groff").status != 0) GTEST_SKIP() << "groff is not installed";
  const Outcome outcome = shell("'" HONE_COMMAND "' man | groff -man -Tutf8 -ww");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_THAT(outcome.output, HasSubstr("hone"));
}

TEST_F(Completion, OfEveryShellHasEveryCommandAndOption) {
  for (const std::string shell_name : {"bash", "zsh", "fish"}) {
    const Outcome outcome = hone("completion " + shell_name);
    EXPECT_EQ(outcome.status, 0);
    for (const Command& command : commands()) {
      EXPECT_THAT(outcome.output, HasSubstr(command.name)) << shell_name;
      for (const std::string& option : options_in(hone(std::string(command.name) + " --help").output))
        EXPECT_THAT(outcome.output, HasSubstr(shell_name == "fish" ? "-l " + option.substr(2) : option)) << shell_name;
    }
    if (shell("command -v " + shell_name).status != 0) continue;
    EXPECT_EQ(shell("'" HONE_COMMAND "' completion " + shell_name + " >script && " + shell_name + " -n script").status,
              0);
  }
}

TEST_F(Completion, InBashOffersWhatFits) {
  write("model.onnx", "");
  write("x.npy", "");
  std::filesystem::create_directory(path("folder"));
  const auto offers = [&](const std::string& words, int count) {
    return shell("bash -c \"source <('" HONE_COMMAND "' completion bash); COMP_WORDS=(" + words +
                 "); COMP_CWORD=" + std::to_string(count) + "; _hone; echo \\${COMPREPLY[*]}\"")
        .output;
  };
  EXPECT_EQ(offers("hone ins", 1), "inspect\n");
  EXPECT_EQ(offers("hone --v", 1), "--version\n");
  EXPECT_EQ(offers("hone run --ou", 2), "--output-dir\n");
  EXPECT_EQ(offers("hone bench mod", 2), "model.onnx\n");
  EXPECT_EQ(offers("hone run --output-dir f", 3), "folder\n");
  EXPECT_EQ(offers("hone run --input x = x.", 5), "x.npy\n");
  EXPECT_EQ(offers("hone completion z", 2), "zsh\n");
  EXPECT_EQ(offers("hone run --threads 1", 3), "\n");
}

}  // namespace
}  // namespace hone::command
