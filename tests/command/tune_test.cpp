// hone tune: what its options do, and what it tells machines at the end.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "../error/onnx_writer.h"
#include "command_runner.h"
#include "npy.h"

namespace hone::command {
namespace {

using testing::HasSubstr;
using testing::Not;

/// One small kernel, tuned on one thread.
class TuneCommand : public CommandTest {
 protected:
  TuneCommand() { write_dense(); }

  Outcome tune(const std::string& options) const {
    return hone("tune dense.onnx --dim batch=5 --threads 1 --records r.db " + options);
  }
  /// The last line, which is JSON.
  nlohmann::json last_line(const Outcome& outcome) const {
    const std::string lines = outcome.output.substr(0, outcome.output.find_last_not_of('\n') + 1);
    return nlohmann::json::parse(lines.substr(lines.find_last_of('\n') + 1), nullptr, /*allow_exceptions=*/false);
  }
  static void expect_error(const Outcome& outcome, std::string_view part) {
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.errors, HasSubstr(part));
  }
};

constexpr const char* kBlind = "--search random --cost-model none ";

/// The command that is printed at the end; empty if there is none.
std::string run_line_of(const Outcome& outcome) {
  const std::string before = "from now on used by: ";
  const std::size_t begin = outcome.output.find(before);
  if (begin == std::string::npos) return "";
  return outcome.output.substr(begin + before.size(), outcome.output.find('\n', begin) - begin - before.size());
}

TEST_F(TuneCommand, EndsWithTheCommandThatRunsTheResult) {
  ASSERT_TRUE(write_npy(path("the x.npy"), Tensor::of<float>({2, 3}, {1, 2, 3, -1, 0, 1})));
  struct Case {
    std::string options, line;
  };
  for (const Case& tried :
       {Case{"--dim batch=5 --threads 1 --records r.db",
             "hone run dense.onnx --dim batch=5 --threads 1 --records r.db --random"},
        Case{"--shape x=4x3 --seed 7 --target 'cpu -threads=1' --records \"it's.db\"",
             R"(hone run dense.onnx --shape x=4x3 --seed 7 --target 'cpu -threads=1' --records 'it'\''s.db' --random)"},
        Case{"--input 'x=the x.npy' --records r.db", "hone run dense.onnx --input 'x=the x.npy' --records r.db"}}) {
    const Outcome outcome = hone(std::string("tune dense.onnx --trials 2 --no-finals ") + kBlind + tried.options);
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    ASSERT_EQ(run_line_of(outcome), tried.line) << outcome.output;
    const std::string arguments = tried.line.substr(std::string("hone run ").size());
    EXPECT_EQ(hone("run " + arguments).status, 0);
    const std::string inspected = arguments.substr(0, arguments.find(" --random"));
    EXPECT_THAT(hone("inspect " + inspected).output, HasSubstr(" tuned ")) << tried.line;
  }
}

TEST_F(TuneCommand, SaysWhyThereIsNothingToTune) {
  using namespace onnx_writer;
  write("same.onnx", model(Content{.nodes = {node("Identity", {"x"}, {"y"})},
                                   .inputs = {value("x", kFloat, {4})},
                                   .outputs = {value("y", kFloat, {4})}})
                         .bytes());
  const Outcome host = hone("tune same.onnx --threads 1 --records r.db --trials 2");
  EXPECT_EQ(host.status, 0) << host.errors;
  EXPECT_THAT(host.output, HasSubstr("nothing to tune: a run on these inputs calls no compiled kernels"));
  EXPECT_EQ(run_line_of(host), "");

  write("negative.onnx", model(Content{.nodes = {node("Neg", {"x"}, {"y"})},
                                       .inputs = {value("x", kFloat, {})},
                                       .outputs = {value("y", kFloat, {})}})
                             .bytes());
  const Outcome single = hone("tune negative.onnx --threads 1 --records r.db --trials 2 --space mapping");
  EXPECT_EQ(single.status, 0) << single.errors;
  EXPECT_THAT(
      single.output,
      HasSubstr("nothing to tune: there is only one candidate for each of the 1 kernels in the space 'mapping'"));
  EXPECT_EQ(run_line_of(single), "");
}

TEST_F(TuneCommand, NamesAllCostModels) {
  expect_refusal(tune("--cost-model foo"), {"'foo'", "auto, tlp, mtl, gbt, none, random, ansor, rank-knob"});
}

TEST_F(TuneCommand, EndsWithAReportForMachines) {
  for (const bool has_finals : {false, true}) {
    const Outcome outcome = tune(std::string("--trials 4 --json ") + (has_finals ? "" : "--no-finals"));
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const nlohmann::json whole = last_line(outcome);
    ASSERT_TRUE(whole.is_object()) << outcome.output;
    EXPECT_EQ(whole.at("finals"), has_finals ? "decided" : "none");
    EXPECT_GT(whole.at("model_first_ns"), 0);
    EXPECT_GT(whole.at("model_best_ns"), 0);
    EXPECT_EQ(whole.contains("model_chosen_ns"), has_finals);
    EXPECT_FALSE(whole.at("is_target_reached"));
    ASSERT_EQ(whole.at("tasks").size(), 1u);
    const nlohmann::json& task = whole.at("tasks").at(0);
    EXPECT_EQ(task.at("name"), "MatMul+Relu");
    EXPECT_EQ(task.at("weight"), 1);
    EXPECT_TRUE(task.contains("failures"));
    EXPECT_EQ(task.at("reused"), has_finals ? "tuned" : "default");
    EXPECT_EQ(task.contains("is_default"), has_finals);
    for (const char* key : {"trials", "first_ns", "best_ns", "gflops", "share_of_peak"})
      EXPECT_GT(task.at(key), 0) << key;
    EXPECT_EQ(task.at("candidate").at("space"), "mapping");
  }
}

TEST_F(TuneCommand, ShowsHowOftenAKernelIsCalled) {
  EXPECT_THAT(tune("--trials 2").errors, HasSubstr("| 1 x MatMul+Relu: "));
}

TEST_F(TuneCommand, EndsAtTheTargetLatency) {
  const Outcome outcome = tune(std::string(kBlind) + "--target-latency 1s");
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("ended as the kernels, timed alone, take no more than 1s (--target-latency)"));
  EXPECT_THAT(outcome.output, HasSubstr("finals: 1 tasks"));
  EXPECT_THAT(tune(std::string(kBlind) + "--target-latency 1s").output, HasSubstr(": 0 trials of 1 tasks"));
  const nlohmann::json told = last_line(tune(std::string(kBlind) + "--no-finals --target-latency 1000ms --json"));
  EXPECT_EQ(told.at("is_target_reached"), true);
  EXPECT_THAT(tune(std::string(kBlind) + "--trials 2 --target-latency 0.001us").output,
              Not(HasSubstr("--target-latency")));
}

TEST_F(TuneCommand, TakesWhatSearchesCanBeTold) {
  for (const char* options : {"--exploit droplet", "--exploit droplet --explore 2", "--exploit none --explore 0",
                              "--preset ansor-droplet --exploit none", "--early-stop 2", "--early-stop 0"}) {
    const Outcome outcome = tune(std::string(kBlind) + "--no-finals --trials 4 " + options);
    EXPECT_EQ(outcome.status, 0) << options << ": " << outcome.errors;
  }
  const Outcome crossed = tune("--search evolutionary --cost-model gbt --crossover 0.5 --no-finals --trials 4");
  EXPECT_EQ(crossed.status, 0) << crossed.errors;
}

TEST_F(TuneCommand, RefusesWhatIsOutOfRange) {
  expect_refusal(tune("--exploit grid"), {"--exploit", "'grid'", "droplet, none"});
  expect_refusal(tune("--exploit droplet --explore 0"), {"--explore is '0'", "--exploit is 'droplet'", "1 and more"});
  expect_refusal(tune("--exploit none --explore 9"), {"--explore is '9'", "--exploit is 'none'", "only 0"});
  for (const std::string time : {"soon", "5", "5m", "0ms", "nanms", "infs", "5 ms"})
    expect_refusal(tune("--target-latency '" + time + "'"), {"--target-latency", "'" + time + "'", "us, ms or s"});
  for (const std::string number : {"-1", "1.5", "many"})
    expect_refusal(tune("--early-stop " + number), {"--early-stop", "'" + number + "'", "0..1000000000"});
  for (const std::string share : {"1.5", "-0.1", "half", "nan"})
    expect_refusal(tune("--crossover " + share), {"--crossover", "'" + share + "'", "0..1"});
}

TEST_F(TuneCommand, KeepsWhatTheCostModelLearnt) {
  for (const std::string model : {"gbt", "rank-knob", "auto"}) {
    const std::string options =
        "--no-finals --trials 3 --cost-model " + model + " --cost-model-file " + model + " --save-cost-model " + model;
    for (int round = 0; round < 2; ++round) {  // the second begins with what the first one wrote
      const Outcome outcome = tune(options);
      EXPECT_EQ(outcome.status, 0) << model << ": " << outcome.errors;
      EXPECT_THAT(outcome.output, HasSubstr("what the cost model learnt is in " + model));
      EXPECT_TRUE(read(model).starts_with("hone cost model 1\n")) << model;
    }
  }
  expect_error(tune("--cost-model rank-knob --cost-model-file gbt"),
               "written by the model 'ansor', not by 'rank-knob'");
  expect_error(tune("--cost-model auto --cost-model-file gbt"), "written by the model 'ansor', not by 'auto'");
}

TEST_F(TuneCommand, RefusesFilesOfOtherCostModels) {
  expect_error(tune("--cost-model gbt --cost-model-file dense.onnx"), "'dense.onnx' is not a model file");
  expect_error(tune("--cost-model gbt --cost-model-file nowhere"), "'nowhere' cannot be opened");
  expect_error(tune("--cost-model auto --cost-model-file nowhere"), "nowhere");
  expect_error(tune("--cost-model gbt --save-cost-model no/such/file"), "cannot be saved: model file 'no/such/file'");
  for (const std::string network : {"tlp", "mtl"})
    expect_error(tune("--save-cost-model learnt --cost-model " + network),
                 "cannot be saved: " + network + ": a network is not changed by measurements");
}

}  // namespace
}  // namespace hone::command
