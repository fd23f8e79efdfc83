// hone dataset and hone cost-model: from measurements to what a network is refused for.
#include <gmock/gmock.h>

#include "command_runner.h"

#include "hone/codegen/compile.h"
#include "hone/cost/dataset.h"
#include "hone/cost/network_spec.h"

namespace hone::command {
namespace {

using testing::HasSubstr;
using testing::Not;

using HoneCostModel = CommandTest;

constexpr const char* kCollect =
    "dataset collect data.jsonl dense.onnx --target 'cpu -threads=1' --target 'cpu -mattr=+sse4.2 -threads=1' "
    "--programs 4";

TEST_F(HoneCostModel, DataIsCollectedCountedAndPacked) {
  write_dense();
  const Outcome collected = hone(kCollect);
  ASSERT_EQ(collected.status, 0) << collected.errors;
  EXPECT_THAT(collected.output, HasSubstr("data.jsonl: 1 of 1 tasks have 4 programs"));
  EXPECT_THAT(hone(kCollect).output, HasSubstr("0 trials")) << "what is there is not measured again";
  EXPECT_THAT(hone("dataset stats data.jsonl").output, HasSubstr("1 tasks, 0 of them for testing"));
  ASSERT_EQ(hone("dataset pack data.jsonl data.zst").status, 0);
  EXPECT_EQ(hone("dataset stats data.zst").output, hone("dataset stats data.jsonl").output);
}

TEST_F(HoneCostModel, ByDefaultProgramsAreMeasuredOnWhatThisMachineCanBe) {
  write_dense();
  const Outcome collected = hone("dataset collect data.jsonl dense.onnx --programs 4");
  ASSERT_EQ(collected.status, 0) << collected.errors;
  EXPECT_THAT(collected.output, HasSubstr(", 0 of them failed\n"));
  const codegen::Target& host = codegen::host_target();
  const std::size_t narrower =
      host.arch == codegen::Arch::X86_64 ? static_cast<std::size_t>(host.vector_bits / 256) : 0;
  const cost::Dataset data = cost::read_dataset(path("data.jsonl")).value();
  EXPECT_EQ(data.targets.size(), 2 + narrower);
  for (const std::string& target : data.targets)
    EXPECT_TRUE(codegen::check_runs_here(codegen::parse_target(target).value())) << target;
}

TEST_F(HoneCostModel, TargetsThatThisMachineIsNotAreRefusedBeforeAnythingIsWritten) {
  write_dense();
  const std::string collect = "dataset collect data.jsonl dense.onnx --target 'cpu -threads=1' --target ";
  const bool is_x86 = codegen::host_target().arch == codegen::Arch::X86_64;
  const std::string other = is_x86 ? "aarch64" : "x86-64";
  expect_refusal(hone(collect + other), {"target '" + other, "needs " + other + ", which this machine lacks"});
  if (is_x86) expect_refusal(hone(collect + "'cpu -mattr=+fma4'"), {"needs fma4, which this machine lacks"});
  expect_refusal(hone(collect + "gpu"), {"CPUs only"});
  EXPECT_FALSE(std::filesystem::exists(path("data.jsonl")));
}

TEST_F(HoneCostModel, DataThatCannotBeLearntFromIsNamed) {
  write_dense();
  ASSERT_EQ(hone(kCollect).status, 0);
  expect_refusal(hone("cost-model eval ansor data.jsonl"), {"one task for training", "at least 2"});
  write("bad.jsonl", "{\"format\":\"other\"}\n");
  expect_refusal(hone("cost-model eval ansor bad.jsonl"), {"bad.jsonl", "not a data set"});
}

TEST_F(HoneCostModel, FilesThatAreNoNetworksAreRefused) {
  write_dense();
  write("text.onnx", "no model");
  expect_refusal(hone("cost-model info nowhere.onnx"), {"nowhere.onnx"});
  expect_refusal(hone("cost-model info text.onnx"), {"text.onnx"});
  expect_refusal(hone("cost-model info dense.onnx"), {"dense.onnx", "not a cost model"});
  expect_refusal(hone("cost-model export text.onnx out.onnx"), {"text.onnx"});
  expect_refusal(hone("cost-model eval dense.onnx"), {"two files", "MODEL DATA"});
  expect_refusal(hone("cost-model guess dense.onnx"), {"guess", "train"});
  const Outcome tuned =
      hone("tune dense.onnx --dim batch=5 --records r.db --trials 2 --cost-model tlp --cost-model-file dense.onnx");
  EXPECT_NE(tuned.status, 0);
  EXPECT_THAT(tuned.errors, HasSubstr("not a cost model"));
}

/// Records of one task of Ansor, which take the longer the greater their tile.
std::string ansor_records(const std::string& workload, const std::string& target) {
  std::string lines;
  for (const char* tile : {"2", "4", "8"})
    lines += R"({"i": [[")" + workload + R"(", ")" + target + R"(", [16, 64, 64, 0, 0, 0, 0, 0], "", 2, []], )" +
             R"([[], [["SP", 2, 0, 512, [)" + tile + R"(], 1], ["AN", 2, 0, 3]]]], "r": [[0.00)" + tile +
             R"(], 0, 0.1, 1], "v": "v0.6"})" + "\n";
  return lines;
}

/// A record of a program that failed.
std::string failed_record(const std::string& workload, const std::string& target) {
  return R"({"i": [[")" + workload + R"(", ")" + target + R"(", [16, 64, 64, 0, 0, 0, 0, 0], "", 2, []], )" +
         R"([[], [["AN", 2, 0, 3]]]], "r": [[1e+10], 6, 0.1, 1], "v": "v0.6"})" + "\n";
}

/// A data set of records that were imported, and in place of the trainer a script that leaves weights without learning.
class HoneImportedRecords : public HoneCostModel {
 protected:
  HoneImportedRecords() {
    write("other.json", ansor_records("[1]", "llvm -mcpu=a") + ansor_records("[2]", "llvm -mcpu=a") +
                            ansor_records("[1]", "llvm -mcpu=b") + ansor_records("[2]", "llvm -mcpu=b"));
    write("resnet.json", ansor_records("[3]", "llvm -mcpu=a"));
    write("trainer", "#!/bin/sh\ncp trained \"$2\" && seq 12 | sed 's/.*/0/' >\"$2.scores\"\n");
    std::filesystem::permissions(path("trainer"), std::filesystem::perms::owner_all);
    cost::NetworkSpec spec = cost::make_network_spec("tlp").value();
    spec.targets = {"llvm -mcpu=a", "llvm -mcpu=b"};
    cost::Weights weights;
    for (const auto& [name, shape] : cost::weight_shapes(spec)) {
      std::size_t size = 1;
      for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
      weights[name] = {shape, std::vector<float>(size)};
    }
    if (!cost::write_weights(path("trained"), spec, weights)) ADD_FAILURE() << "no weights";
  }

  Outcome train(const std::string& options) const {
    return shell("HONE_TRAINER=$PWD/trainer '" HONE_COMMAND "' cost-model train data.jsonl out.onnx " + options);
  }
};

TEST_F(HoneImportedRecords, AreTrainedOnAndTestedWith) {
  ASSERT_EQ(hone("dataset import data.jsonl other.json").status, 0);
  EXPECT_THAT(hone("dataset import data.jsonl resnet.json --network ResNet-50").output,
              HasSubstr("3 records of ResNet-50 (test), 3 new programs, 1 new tasks"));
  EXPECT_THAT(hone("dataset stats data.jsonl").output, HasSubstr("3 tasks, 1 of them for testing"));
  const Outcome trained = train("--network tlp");
  ASSERT_EQ(trained.status, 0) << trained.errors;
  EXPECT_THAT(trained.output, HasSubstr("hone's scores of 6 samples are libtorch's"));
  const Outcome tested = hone("cost-model eval out.onnx data.jsonl");
  ASSERT_EQ(tested.status, 0) << tested.errors;
  EXPECT_THAT(tested.output, HasSubstr("tlp on llvm -mcpu=a\n"));
  EXPECT_THAT(tested.output, HasSubstr("ResNet-50"));
  EXPECT_THAT(tested.output, HasSubstr("tlp on llvm -mcpu=b: no tasks of networks for testing were measured there\n"));
}

TEST_F(HoneImportedRecords, AreScoredOnTheTargetsThatThereAre) {
  ASSERT_EQ(hone("dataset import data.jsonl other.json").status, 0);
  ASSERT_EQ(train("--network tlp").status, 0);
  write("resnet.json", ansor_records("[3]", "llvm -mcpu=a") + ansor_records("[3]", "llvm -mcpu=c") +
                           failed_record("[4]", "llvm -mcpu=a"));
  ASSERT_EQ(hone("dataset import tested.jsonl resnet.json --network resnet50").status, 0);
  const Outcome tested = hone("cost-model eval out.onnx tested.jsonl");
  ASSERT_EQ(tested.status, 0) << tested.errors;
  EXPECT_EQ(tested.errors, "hone: for testing: 1 task is left out: no program ran on any target\n");
  EXPECT_THAT(tested.output, HasSubstr("tlp on llvm -mcpu=a\n"));
  EXPECT_THAT(tested.output, HasSubstr("tlp on llvm -mcpu=c: none of its heads is for such a target\n"));
  EXPECT_THAT(hone("cost-model eval out.onnx tested.jsonl --target mcpu=a").output, Not(HasSubstr("mcpu=c")));
  expect_refusal(hone("cost-model eval out.onnx tested.jsonl --target mcpu=c"),
                 {"no head for 'llvm -mcpu=c'", "only for: llvm -mcpu=a; llvm -mcpu=b"});
  expect_refusal(hone("cost-model eval out.onnx tested.jsonl --target gpu"),
                 {"'gpu' is in 0 targets", "llvm -mcpu=a; llvm -mcpu=c"});
  for (const char* action : {"info out.onnx", "export trained out.onnx"})
    expect_refusal(hone(std::string("cost-model ") + action + " --target mcpu=a"), {"--target is for train and eval"});
}

TEST_F(HoneCostModel, TasksThatAllFailedAreTold) {
  write("records.json", ansor_records("[3]", "llvm") + failed_record("[1]", "llvm") + failed_record("[2]", "llvm"));
  ASSERT_EQ(hone("dataset import data.jsonl records.json").status, 0);
  EXPECT_THAT(hone("dataset stats data.jsonl").output,
              HasSubstr("3 tasks, 0 of them for testing, 3 with programs, 2 with none that ran; 5 programs\n"));
  expect_refusal(hone("cost-model eval ansor data.jsonl"), {"; 2 tasks are left out: no program ran on any target"});
}

TEST_F(HoneCostModel, WrongInputLeavesNoDataSetBehind) {
  write_dense();
  write("text", "no records\n");
  expect_refusal(hone("dataset collect data.jsonl nowhere.onnx"), {"nowhere.onnx"});
  expect_refusal(hone("dataset import data.jsonl nowhere.json"), {"nowhere.json"});
  expect_refusal(hone("dataset import data.jsonl text"), {"text", "line 1"});
  expect_refusal(hone("dataset merge data.jsonl text"), {"text"});
  EXPECT_FALSE(std::filesystem::exists(path("data.jsonl")));
}

TEST_F(HoneImportedRecords, AreRefusedInLanguagesThatSayMore) {
  ASSERT_EQ(hone("dataset import data.jsonl other.json resnet.json").status, 0);
  expect_refusal(train("--network tlp2"), {"llvm -mcpu=a", "sentences of tlp2", "those of tlp, tlp-gpu and stores"});
  expect_refusal(train("--network tlp3"), {"tlp3", "tlp, tlp-gpu, tlp2, tenset-mlp"});
  expect_refusal(hone("cost-model eval ansor data.jsonl"), {"llvm -mcpu=a", "the language tlp alone, not of stores"});
  expect_refusal(hone("dataset import data.jsonl other.json --network ''"), {"--network", "resnet50"});
}

TEST_F(HoneImportedRecords, OfSeveralFilesAreMerged) {
  ASSERT_EQ(hone("dataset import data.jsonl other.json").status, 0);
  ASSERT_EQ(hone("dataset import more.jsonl resnet.json other.json").status, 0);
  EXPECT_THAT(hone("dataset merge data.jsonl more.jsonl").output,
              HasSubstr("more.jsonl: 0 new targets, 1 new tasks, 3 new programs, 3 new labels\n"));
  expect_refusal(hone("dataset merge data.jsonl"), {"other data sets"});
  expect_refusal(hone("dataset stats data.jsonl --target llvm"), {"--target is for collect, hone dataset stats"});
}

TEST_F(HoneCostModel, TheTrainerIsFoundWhereItIsInstalled) {
  std::filesystem::create_directories(path("bin"));
  std::filesystem::create_directories(path("libexec/hone"));
  std::filesystem::copy_file(HONE_COMMAND, path("bin/hone"));
  const char* line = "HONE_TRAINER= bin/hone cost-model train nowhere.jsonl out.onnx";
  expect_refusal(shell(line), {"no program hone_trainer", "libexec/hone/hone_trainer", "HONE_TRAINER"});
  write("libexec/hone/hone_trainer", "#!/bin/sh\n");
  std::filesystem::permissions(path("libexec/hone/hone_trainer"), std::filesystem::perms::owner_all);
  expect_refusal(shell(line), {"nowhere.jsonl"});
}

TEST_F(HoneCostModel, TrainingSaysWhatItNeeds) {
  expect_refusal(shell("HONE_TRAINER=/nowhere/hone_trainer '" HONE_COMMAND "' cost-model train data.jsonl out.onnx"),
                 {"/nowhere/hone_trainer"});
  expect_refusal(shell("HONE_TRAINER=/bin/true '" HONE_COMMAND "' cost-model train nowhere.jsonl out.onnx"),
                 {"nowhere.jsonl"});
}

}  // namespace
}  // namespace hone::command
