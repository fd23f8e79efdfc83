// run, inspect and bench on small models.
#include <algorithm>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command_runner.h"
#include "npy.h"

namespace hone::command {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using HoneRun = CommandTest;
using HoneInspect = CommandTest;
using HoneBench = CommandTest;
using HoneRecords = CommandTest;
using HoneTune = CommandTest;

TEST_F(HoneRun, PrintsAndStoresWhatTheModelComputes) {
  write_dense();
  ASSERT_TRUE(write_npy(path("x.npy"), Tensor::of<float>({2, 3}, {1, 2, 3, -1, 0, 1})));
  const Outcome outcome = hone("run dense.onnx --input x=x.npy --output-dir made/here --threads 1");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "y: float[2, 2]  min 0 max 8 mean 4.25: 5 8 0 4\n  written to made/here/y.npy\n");
  EXPECT_EQ(outcome.errors, "");
  const auto y = read_npy(path("made/here/y.npy"));
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_THAT(*y->to_doubles(), ElementsAre(5, 8, 0, 4));
}

TEST_F(HoneRun, GivesTheSameForTheSameSeed) {
  write_dense();
  const auto with_seed = [&](const char* seed) {
    return hone(std::string("run dense.onnx --random --dim batch=3 --seed ") + seed).output;
  };
  EXPECT_THAT(with_seed("1"), HasSubstr("y: float[3, 2]"));
  EXPECT_EQ(with_seed("1"), with_seed("1"));
  EXPECT_NE(with_seed("1"), with_seed("2"));
}

TEST_F(HoneRun, SaysWhichExtentsItAssumes) {
  write_dense();
  const Outcome outcome = hone("run dense.onnx --random");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("input 'x': 1 is assumed for batch"));
  EXPECT_THAT(outcome.output, HasSubstr("y: float[1, 2]"));
}

TEST_F(HoneRun, TakesShapesWithNoElements) {
  write_dense();
  EXPECT_EQ(hone("run dense.onnx --random --shape x=0x3").output, "y: float[0, 2]\n");
}

TEST_F(HoneInspect, ShowsTheModelAndWhatBecomesOfIt) {
  write_dense();
  const Outcome outcome = hone("inspect dense.onnx --dim batch=5");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  for (const char* part :
       {"x: tensor(float) of shape [batch, 3]", "parameters 6 (24 B)", "operators 2", "1  MatMul", "x: float[5, 3]",
        "FLOPs 70", "memory", "steps 1 of 1 kernels", "float[5, 2]  MatMul+Relu (product)"})
    EXPECT_THAT(outcome.output, HasSubstr(part));  // 5 · 2 · 3 multiply-adds, 5 · 2 maxima
}

TEST_F(HoneInspect, ShowsTheModelEvenWhereShapesDoNotFit) {
  write_dense();
  const Outcome outcome = hone("inspect dense.onnx --shape x=2x4");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.output, HasSubstr("x: tensor(float) of shape [batch, 3]"));
  EXPECT_THAT(outcome.errors, HasSubstr("input 'x' is float[2, 4]"));
}

TEST_F(HoneInspect, ShowsStagesWhoseShapesDependOnContent) {
  write_places();
  ASSERT_TRUE(write_npy(path("x.npy"), Tensor::of<float>({4}, {0, 2, 0, 1})));
  const Outcome outcome = hone("inspect places.onnx --input x=x.npy");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("NonZero"));
  EXPECT_THAT(outcome.output, HasSubstr("int64[1, 2]  Neg"));
}

TEST_F(HoneBench, ShowsTheDistributionOfLatencies) {
  write_dense();
  const Outcome outcome = hone("bench dense.onnx --dim batch=2 --rounds 7 --warmup 0 --threads 1");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  for (const char* part : {"load ", "first ", "rounds 7\n", "min ", "median ", "p90 ", "p99 ", "mean "})
    EXPECT_THAT(outcome.output, HasSubstr(part));
  EXPECT_THAT(outcome.output, Not(HasSubstr("GFLOP/s")));
  EXPECT_THAT(hone("bench dense.onnx --dim batch=2 --seconds 0.01").output, HasSubstr("rounds "));
}

TEST_F(HoneBench, ShowsKernelsAgainstThePeak) {
  write_places();
  const Outcome outcome = hone("bench places.onnx --rounds 5 --profile --threads 1");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  for (const char* part :
       {"peak ", "GFLOP/s", "GB/s", "of peak", "host", "NonZero → ?", "k1", "Neg → int64[1, ", "all"})
    EXPECT_THAT(outcome.output, HasSubstr(part));
}

TEST_F(HoneBench, WritesATraceThatChromeReads) {
  write_dense();
  const Outcome outcome = hone("bench dense.onnx --dim batch=2 --rounds 3 --trace trace.json");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto trace = nlohmann::json::parse(read("trace.json"));
  std::size_t runs = 0, kernels = 0;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    EXPECT_GE(event.at("ts").get<double>(), 0);
    EXPECT_GE(event.at("dur").get<double>(), 0);
    runs += event.at("cat") == "run" ? 1 : 0;
    kernels += event.at("cat") == "kernel" ? 1 : 0;
    if (event.at("cat") == "kernel") {
      EXPECT_EQ(event.at("name"), "MatMul+Relu");
      EXPECT_EQ(event.at("args").at("flops"), 28);
    }
  }
  EXPECT_EQ(runs, 3u);
  EXPECT_EQ(kernels, 3u);
}

TEST_F(HoneTune, FindsKernelsThatRunsThenUse) {
  write_dense();
  const Outcome before = hone("inspect dense.onnx --dim batch=5 --threads 1 --records r.db");
  EXPECT_THAT(before.output, HasSubstr("default"));
  const Outcome tuned = hone("tune dense.onnx --dim batch=5 --threads 1 --records r.db --trials 3");
  EXPECT_EQ(tuned.status, 0) << tuned.errors;
  for (const char* part : {"trials of 1 tasks", "default us", "MatMul+Relu: {", "\"space\":\"mapping\"",
                           "kernels in all", "stored in r.db; from now on used by: hone run dense.onnx "})
    EXPECT_THAT(tuned.output, HasSubstr(part));
  EXPECT_THAT(hone("inspect dense.onnx --dim batch=5 --threads 1 --records r.db").output, HasSubstr("tuned"));
  EXPECT_THAT(hone("inspect dense.onnx --dim batch=7 --threads 1 --records r.db").output, HasSubstr("nearest"));
  EXPECT_THAT(hone("inspect dense.onnx --dim batch=10 --threads 1 --records r.db").output, HasSubstr("compatible"));
  ASSERT_EQ(shell("cp dense.onnx another.onnx").status, 0);
  EXPECT_THAT(hone("inspect another.onnx --dim batch=5 --threads 1 --records r.db").output, HasSubstr("tuned"));
  EXPECT_THAT(hone("inspect dense.onnx --dim batch=5 --threads 1 --records none").output, HasSubstr("default"));
  const auto result = [&](const char* records) {
    return hone(std::string("run dense.onnx --random --dim batch=5 --threads 1 --records ") + records).output;
  };
  EXPECT_EQ(result("r.db"), result("none"));
}

TEST_F(HoneRecords, AreListedShownMovedAndPruned) {
  write_dense();
  ASSERT_EQ(hone("tune dense.onnx --dim batch=5 --threads 1 --records a.db --trials 4").status, 0);
  const Outcome listed = hone("records ls --records a.db");
  EXPECT_EQ(listed.status, 0) << listed.errors;
  EXPECT_THAT(listed.output, HasSubstr("5x3 3x2 5x2"));
  const std::string lines = hone("records export --records a.db").output;
  const auto task = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  const std::string key = task.at("task").get<std::string>().substr(0, 8);
  const Outcome shown = hone("records show " + key + " --records a.db");
  for (const char* part : {"task ", "block ", "median us", "\"space\":\"mapping\"", "steps"})
    EXPECT_THAT(shown.output, HasSubstr(part));
  EXPECT_EQ(hone("records export lines.json --records a.db").status, 0);
  EXPECT_THAT(hone("records import lines.json --records b.db").output, HasSubstr("new records in b.db"));
  EXPECT_EQ(hone("records ls --records b.db").output, listed.output);
  EXPECT_THAT(hone("records merge a.db --records b.db").output, HasSubstr("0 new records"));
  EXPECT_THAT(hone("records prune --keep 1 --records b.db").output, HasSubstr("records deleted"));
  EXPECT_THAT(hone("inspect dense.onnx --dim batch=5 --threads 1 --records b.db").output, HasSubstr("tuned"));
}

TEST_F(HoneRecords, RefusesWhatIsNotThere) {
  write("lines.json", "{}\n");
  expect_refusal(hone("records ls --records none.db"), {"none.db"});
  expect_refusal(hone("records burn --records none.db"), {"burn", "ls"});
  expect_refusal(hone("records show --records none.db"), {"first digits of a task"});
  expect_refusal(hone("records import lines.json --records new.db"), {"line 1"});
  expect_refusal(hone("records import missing.json --records new.db"), {"missing.json"});
}

using HoneDataset = CommandTest;

TEST_F(HoneDataset, CollectsAndShowsWhatItHolds) {
  write_dense();
  const std::string collect =
      "dataset collect d.jsonl dense.onnx --target 'cpu -threads=1' --programs 4 --shape batch=5 --time 1m";
  const Outcome collected = hone(collect);
  ASSERT_EQ(collected.status, 0) << collected.errors;
  EXPECT_THAT(collected.output, HasSubstr("2 of 2 tasks have 4 programs"));
  EXPECT_THAT(hone(collect).output, HasSubstr("0 trials"));
  const Outcome stats = hone("dataset stats d.jsonl");
  EXPECT_EQ(stats.status, 0) << stats.errors;
  for (const char* part : {"2 tasks", "training: cpu", "dense@batch=5"}) EXPECT_THAT(stats.output, HasSubstr(part));
}

TEST_F(HoneDataset, RefusesWhatMakesNoSense) {
  write_dense();
  write("lines.json", "{}\n");
  expect_refusal(hone("dataset burn d.jsonl"), {"burn", "collect"});
  expect_refusal(hone("dataset collect d.jsonl"), {"model files"});
  expect_refusal(hone("dataset collect d.jsonl none.onnx"), {"none.onnx"});
  expect_refusal(hone("dataset collect d.jsonl dense.onnx --target abacus"), {"abacus"});
  for (const char* shape : {"batch", "batch=", "=4", "batch=0", "batch=x", "batch=4,", "batch=9999999999"})
    expect_refusal(hone(std::string("dataset collect d.jsonl dense.onnx --shape ") + shape), {"NAME=EXTENT"});
  expect_refusal(hone("dataset collect lines.json dense.onnx"), {"lines.json", "line 1"});
  expect_refusal(hone("dataset stats none.jsonl"), {"none.jsonl"});
}

TEST_F(HoneTune, WritesJsonForMachines) {
  write_dense();
  const Outcome outcome = hone("tune dense.onnx --dim batch=5 --threads 1 --records r.db --trials 2 --json");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  std::istringstream lines(outcome.output);
  std::size_t trials = 0;
  std::vector<std::string> stages;
  for (std::string line; std::getline(lines, line);) {
    const auto told = nlohmann::json::parse(line);
    if (told.contains("finals")) {
      const std::string stage = told.at("finals");
      if (stages.empty() || stages.back() != stage) stages.push_back(stage);
      if (stage == "timing") { EXPECT_GE(told.at("left_s"), 0) << line; }
      continue;
    }
    EXPECT_EQ(told.at("task"), "MatMul+Relu");
    EXPECT_EQ(told.at("task_weight"), 1);
    EXPECT_EQ(told.at("tasks"), 1);
    for (const char* key : {"left_s", "tasks_done", "gflops", "share_of_peak"}) EXPECT_TRUE(told.contains(key)) << key;
    EXPECT_TRUE(stages.empty()) << "a trial after the finals began";
    ++trials;
  }
  EXPECT_GE(trials, 2);
  ASSERT_GE(stages.size(), 2);
  EXPECT_EQ(stages[0], "compiling");
  EXPECT_EQ(stages[1], "timing");
  EXPECT_EQ(stages.back(), "decided");
}

TEST_F(HoneTune, HoldsFinalsUnlessToldNotTo) {
  write_dense();
  const std::string line = "tune dense.onnx --dim batch=5 --threads 1 --records r.db --trials 4 ";
  const auto adopted = [&] {
    const std::string lines = hone("records export --records r.db").output;
    const std::string key = nlohmann::json::parse(lines.substr(0, lines.find('\n'))).at("task");
    return hone("records show " + key + " --keep 100 --records r.db").output;
  };
  const Outcome without = hone(line + "--no-finals");
  EXPECT_EQ(without.status, 0) << without.errors;
  EXPECT_THAT(without.output, Not(HasSubstr("finals:")));
  EXPECT_THAT(without.errors, Not(HasSubstr("finals")));
  EXPECT_THAT(adopted(), AllOf(HasSubstr("alone"), Not(HasSubstr("in the model"))));

  const Outcome with = hone(line + "--patience 0");
  EXPECT_EQ(with.status, 0) << with.errors;
  EXPECT_THAT(with.output, AllOf(HasSubstr("finals: 1 tasks"), HasSubstr("the model: "), HasSubstr(" ms by default")));
  EXPECT_THAT(with.errors, AllOf(HasSubstr("finals within the model: compiling"), ContainsRegex("timing, .* left\n")));
  EXPECT_THAT(adopted(), HasSubstr("in the model"));
  EXPECT_THAT(hone("inspect dense.onnx --dim batch=5 --threads 1 --records r.db").output, HasSubstr("tuned"));
  const auto result = [&](const char* records) {
    return hone(std::string("run dense.onnx --random --dim batch=5 --threads 1 --records ") + records).output;
  };
  EXPECT_EQ(result("r.db"), result("none"));
}

TEST_F(HoneTune, RefusesWhatMakesNoSense) {
  write_dense();
  expect_refusal(hone("tune dense.onnx --dim batch=5 --patience 101 --records r.db"), {"--patience", "101", "100"});
  expect_refusal(hone("tune dense.onnx --dim batch=5 --time soon --records r.db"), {"--time", "'soon'", "5m"});
  expect_refusal(hone("tune dense.onnx --dim batch=5 --records none"), {"--records", "none"});
}

TEST_F(HoneTune, ShowsWhatItFoundWhereNothingCanBeStored) {
  write_dense();
  const std::string content = "this is no database, but long enough to be taken for one: " + std::string(200, 'x');
  write("text.db", content);
  const Outcome outcome = hone("tune dense.onnx --dim batch=5 --threads 1 --records text.db --trials 2");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.output, HasSubstr("MatMul+Relu: {"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("stored in")));
  EXPECT_THAT(outcome.errors,
              HasSubstr("hone: not everything that was found is stored: records: 'text.db' is damaged"));
  EXPECT_EQ(read("text.db"), content);
}

TEST_F(HoneRun, GoesWithoutRecordsThatCannotBeRead) {
  write_dense();
  write("text.db", "this is no database, but long enough to be taken for one: " + std::string(200, 'x'));
  const Outcome outcome = hone("run dense.onnx --random --dim batch=5 --records text.db");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("y: float[5, 2]"));
  EXPECT_THAT(outcome.errors, HasSubstr("text.db"));
}

}  // namespace
}  // namespace hone::command
