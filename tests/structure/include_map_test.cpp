// Holds the sources to the map of ARCHITECTURE.md, and the checker itself to made-up mistakes.
#include "include_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace hone::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Rules repository_rules() { return read_rules(repository_file("ARCHITECTURE.md")); }

Rules small_rules() {
  return read_rules(
      "| in `src/hone/` | its one responsibility | may include |\n"
      "|---|---|---|\n"
      "| `compile.cpp` | everything in one place | everything |\n"
      "| `tensor/` | says what `matmul` computes | ir |\n"
      "| `ir/` | the loop IR | – |\n"
      "| `codegen/` | writes code | ir |\n"
      "| `space/` | candidates | tensor, codegen |\n"
      "| `support/` | errors | – |\n"
      "\n"
      "| headers | stay inside |\n"
      "|---|---|\n"
      "| `<llvm/`, `<llvm-c/` | `codegen/llvm/` |\n");
}

TEST(IncludeMap, EveryIncludeOfTheRepositoryPointsTheWayOfTheMap) {
  for (const std::string& message : wrong_includes(repository_rules(), repository_sources())) ADD_FAILURE() << message;
}

TEST(IncludeMap, TheMapOfTheRepositoryHasAllFoldersAndNoCircle) {
  const Rules rules = repository_rules();
  EXPECT_EQ(rules.may_include.size(), 12u);
  EXPECT_GE(rules.foreign_home.size(), 5u);
  for (const auto& [folder, allowed] : rules.may_include)
    for (const std::string& next : allowed) {
      EXPECT_TRUE(rules.may_include.contains(next)) << folder << " names " << next << ", which has no row";
      EXPECT_FALSE(reachable_folders(rules, next).contains(folder)) << folder << " and " << next << " form a circle";
    }
}

TEST(IncludeMap, CMakeLinksEachFolderToWhatItsRowNames) {
  std::map<std::string, std::set<std::string>> linked;
  std::istringstream words(repository_file("CMakeLists.txt"));
  std::string folder;
  bool is_depends = false;
  for (std::string word; words >> word;) {
    if (word.starts_with("hone_library(")) {
      folder = word.substr(13, word.find(')') - 13);
      linked[folder] = {};
      is_depends = false;
    } else if (word == "DEPENDS") {
      is_depends = true;
    } else if (word.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ(:") != std::string::npos) {
      is_depends = false;
    } else if (is_depends) {
      linked[folder].insert(word.substr(0, word.find(')')));
    }
    if (word.ends_with(")")) is_depends = false;
  }
  for (auto& [name, depends] : linked) depends.erase("support");
  EXPECT_EQ(linked, repository_rules().may_include);
}

TEST(IncludeMapChecker, ReadsRowsAndFollowsThem) {
  const Rules rules = small_rules();
  EXPECT_THAT(reachable_folders(rules, "space"), ElementsAre("codegen", "ir", "space", "support", "tensor"));
  EXPECT_THAT(reachable_folders(rules, "ir"), ElementsAre("ir", "support"));
  EXPECT_THAT(reachable_folders(rules, "support"), ElementsAre("support"));
  EXPECT_EQ(rules.foreign_home.at("llvm-c/"), "codegen/llvm/");
}

TEST(IncludeMapChecker, AllowsArrowsThatFollowTheMap) {
  EXPECT_THAT(wrong_includes(small_rules(), {{"space/a.cpp",
                                              "#include \"hone/space/a.h\"\n"
                                              "#include <vector>\n"
                                              "#include \"hone/ir/expr.h\"\n"
                                              "#include \"hone/support/error.h\"\n"}}),
              IsEmpty());
}

TEST(IncludeMapChecker, NamesFileLineAndIncludeOfAWrongArrow) {
  EXPECT_THAT(wrong_includes(small_rules(), {{"ir/expr.h", "#pragma once\n\n  #  include <hone/tensor/matmul.h>\n"}}),
              ElementsAre("ir/expr.h:3: \"hone/tensor/matmul.h\": ir may include ir, support, not tensor"));
}

TEST(IncludeMapChecker, SupportKnowsNobody) {
  EXPECT_THAT(wrong_includes(small_rules(), {{"support/log.cpp", "#include \"hone/ir/expr.h\"\n"}}),
              ElementsAre("support/log.cpp:1: \"hone/ir/expr.h\": support may include support, not ir"));
}

TEST(IncludeMapChecker, FoldersDoNotIncludeTheTop) {
  const std::vector<Source> sources = {{"compile.cpp", "#include \"hone/compile.h\"\n#include \"hone/space/a.h\"\n"},
                                       {"compile.h", ""},
                                       {"ir/expr.cpp", "#include \"hone/compile.h\"\n"}};
  EXPECT_THAT(
      wrong_includes(small_rules(), sources),
      ElementsAre("ir/expr.cpp:1: \"hone/compile.h\": a folder does not include what stands above all folders"));
}

TEST(IncludeMapChecker, AFolderWithoutARowIsRefused) {
  EXPECT_THAT(wrong_includes(small_rules(), {{"utils/misc.cpp", ""}}),
              ElementsAre("utils/misc.cpp: folder 'utils' has no row in the map of ARCHITECTURE.md"));
}

TEST(IncludeMapChecker, ForeignHeadersStayAtHome) {
  const std::vector<Source> sources = {{"codegen/llvm/emit.cpp", "#include <llvm/IR/Module.h>\n"},
                                       {"codegen/target.cpp", "#include <llvm/IR/Module.h>\n"},
                                       {"codegen/target_test.cpp", "#include \"llvm-c/Core.h\"\n"}};
  EXPECT_THAT(wrong_includes(small_rules(), sources),
              ElementsAre("codegen/target.cpp:1: \"llvm/IR/Module.h\": this header stays inside codegen/llvm/",
                          "codegen/target_test.cpp:1: \"llvm-c/Core.h\": this header stays inside codegen/llvm/"));
}

TEST(IncludeMapChecker, AHeaderThatShowsForeignHeadersStaysAtHomeToo) {
  const std::vector<Source> sources = {{"codegen/llvm/emit.h", "#include \"hone/codegen/llvm/types.h\"\n"},
                                       {"codegen/llvm/types.h", "#include <llvm/IR/Type.h>\n"},
                                       {"codegen/build.cpp", "#include \"hone/codegen/llvm/emit.h\"\n"}};
  EXPECT_THAT(
      wrong_includes(small_rules(), sources),
      ElementsAre("codegen/build.cpp:1: \"hone/codegen/llvm/emit.h\": it shows foreign headers that stay inside "
                  "codegen/llvm/"));
}

TEST(IncludeMapChecker, TestsAndTheirHeadersMayIncludeAnyFolder) {
  const std::vector<Source> sources = {{"ir/expr_test.cpp", "#include \"hone/ir/random_test.h\"\n"},
                                       {"ir/random_test.h", "#include \"hone/tensor/matmul.h\"\n"}};
  EXPECT_THAT(wrong_includes(small_rules(), sources), IsEmpty());
}

TEST(IncludeMapChecker, OnlyTestsIncludeHeadersOfTests) {
  EXPECT_THAT(wrong_includes(small_rules(), {{"ir/expr.cpp", "#include \"hone/ir/random_test.h\"\n"}}),
              ElementsAre("ir/expr.cpp:1: \"hone/ir/random_test.h\": only tests include what belongs to tests"));
}

}  // namespace
}  // namespace hone::structure
