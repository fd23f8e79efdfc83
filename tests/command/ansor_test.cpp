// hone records with logs of Ansor.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command_runner.h"

namespace hone::command {
namespace {

using testing::HasSubstr;
using testing::Not;

using HoneRecordsOfAnsor = CommandTest;

std::string line(const std::string& workload, const std::string& steps, double seconds = 0.5) {
  const auto result = nlohmann::ordered_json::array({{seconds}, 0, 1.5, 1714270206});
  const auto task = nlohmann::ordered_json::array(
      {workload, "llvm", {2, 64, 64, 0, 0, 0, 0, 0}, "", 0, nlohmann::ordered_json::array()});
  const auto state =
      nlohmann::ordered_json::array({nlohmann::ordered_json::array(), nlohmann::ordered_json::parse(steps)});
  return nlohmann::ordered_json{{"i", {task, state}}, {"r", result}, {"v", "v0.6"}}.dump() + "\n";
}

/// Of the task of dense.onnx at a batch of 5: x, w, their product, and its relu.
constexpr const char* kSizes = R"(["d7b65649a4dd54be", [5, 3], [3, 2], [5, 2]])";
constexpr const char* kSteps = R"([["SP",2,0,5,[3],1],["CA",2,3,0],["AN",3,0,3],["PR",2,0,"auto_unroll_max_step$16"]])";

TEST_F(HoneRecordsOfAnsor, AreTakenInWhereTheyFitATask) {
  write_dense();
  ASSERT_EQ(hone("tune dense.onnx --dim batch=5 --threads 1 --records r.db --trials 2").status, 0);
  const std::string good = line(kSizes, kSteps);
  write("log.json", "# a comment\n" + good + good + line(R"(["12b88bedece6984a", [7, 7]])", "[]") +
                        line("[\"mlp\", 5]", "[]") + line(kSizes, R"([["AN",3,1,11]])") + "{\"i\": [[\n");
  const Outcome taken = hone("records import log.json --format ansor --records r.db");
  EXPECT_EQ(taken.status, 0);
  EXPECT_EQ(taken.output, "1 new records in r.db, 1 were there\n");
  for (const char* part : {"1 lines of a workload that no task here computes: [\"12b88bedece6984a\", [7, 7]]",
                           "computes: [\"mlp\", 5]", "1 lines refused: ansor: step 0, AN: iterators are not marked",
                           "1 lines refused: line 7: ansor: the line is no JSON object"})
    EXPECT_THAT(taken.errors, HasSubstr(part));
  EXPECT_THAT(hone("records import log.json --format ansor --records r.db").output, HasSubstr("0 new records"));
  const Outcome listed = hone("records ls --records r.db");
  EXPECT_THAT(listed.output, HasSubstr("ansor: llvm"));

  const Outcome written = hone("records export --format ansor --records r.db");
  EXPECT_EQ(written.status, 0);
  EXPECT_THAT(written.output, HasSubstr(good)) << "what was taken in comes out as it was";
  // what was tuned for dense.onnx stays as it is
  EXPECT_THAT(hone("inspect dense.onnx --dim batch=5 --threads 1 --records r.db").output, HasSubstr("tuned"));
}

TEST_F(HoneRecordsOfAnsor, BelongToTheTaskThatTheUserNames) {
  write_dense();
  ASSERT_EQ(hone("tune dense.onnx --dim batch=5 --threads 1 --records r.db --trials 2").status, 0);
  const std::string lines = hone("records export --records r.db").output;
  const auto task = nlohmann::json::parse(lines.substr(0, lines.find('\n'))).at("task").get<std::string>();
  write("log.json", line("[\"mlp\", 5]", kSteps));
  EXPECT_EQ(hone("records import log.json --format ansor --records r.db --workload mlp=" + task.substr(0, 8)).output,
            "1 new records in r.db, 0 were there\n");
  expect_refusal(hone("records import log.json --format ansor --records r.db --workload mlp"),
                 {"--workload", "'mlp'", "NAME=TASK"});
  expect_refusal(hone("records import log.json --format ansor --records r.db --workload mlp=xyz"), {"xyz", "mlp"});
}

TEST_F(HoneRecordsOfAnsor, OurOwnComeBack) {
  write_dense();
  ASSERT_EQ(
      hone("tune dense.onnx --dim batch=5 --threads 1 --records r.db --space sketch --search random --cost-model none "
           "--trials 40")
          .status,
      0);
  const Outcome written = hone("records export --format ansor --records r.db");
  EXPECT_EQ(written.status, 0);
  std::istringstream lines(written.output);
  std::size_t count = 0;
  for (std::string text; std::getline(lines, text); ++count) EXPECT_THAT(text, HasSubstr("hone:"));
  write("log.json", written.output);
  const Outcome back = hone("records import log.json --format ansor --records r.db");
  EXPECT_EQ(back.errors, "") << "each line leads back to a program";
  EXPECT_THAT(back.output, Not(HasSubstr("0 new records")));
  EXPECT_GT(count, 30) << "also those whose tiles the activation follows";
}

}  // namespace
}  // namespace hone::command
