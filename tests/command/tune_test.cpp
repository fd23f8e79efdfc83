// hone tune: what its options do, and what it tells machines at the end.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "command_runner.h"

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
