// hone cost-model train with the real trainer, on data sets of a few programs.
#include <gmock/gmock.h>

#include "../command/command_runner.h"

#include "hone/shipped_network.h"

namespace hone::command {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Records of one task of Ansor on a target; programs take the longer the greater their tile, and one fails.
std::string records_of(int task, const std::string& target, bool all_fail = false) {
  std::string lines;
  for (const int tile : {1, 2, 4, 8, 16, 32}) {
    const bool fails = all_fail || tile == 32;
    lines += R"({"i": [["[)" + std::to_string(task) + R"(]", ")" + target +
             R"(", [16, 64, 64, 0, 0, 0, 0, 0], "", 2, []], )" + R"([[], [["SP", 2, 0, )" + std::to_string(512 + task) +
             ", [" + std::to_string(tile) + R"(], 1], ["AN", 2, 0, 3]]]], "r": [[)" +
             (fails ? "1e10" : "0.0" + std::to_string(tile + 10)) + "], " + (fails ? "4" : "0") +
             R"(, 0.1, 1], "v": "v0.6"})" + "\n";
  }
  return lines;
}

/// A data set of records: twelve tasks on the targets a and b.
class Trainer : public CommandTest {
 protected:
  Trainer() {
    std::string records;
    for (int task = 1; task <= 12; ++task)
      for (const char* target : {"llvm -mcpu=a", "llvm -mcpu=b"}) records += records_of(task, target);
    write("records.json", records);
    import_records();
    write("stops", "#!/bin/sh\nexec '" HONE_TRAINER "' \"$@\" --stop-after 2\n");
    // As if somebody ended it within the second member.
    write("stops-in-second",
          "#!/bin/sh\ncase $2 in *.1) set -- \"$@\" --stop-after 1;; esac\nexec '" HONE_TRAINER "' \"$@\"\n");
    for (const char* script : {"stops", "stops-in-second"})
      std::filesystem::permissions(path(script), std::filesystem::perms::owner_all);
  }

  void import_records() const {
    std::filesystem::remove(path("data.jsonl"));
    const Outcome imported = hone("dataset import data.jsonl records.json");
    EXPECT_EQ(imported.status, 0) << imported.errors;
  }

  Outcome train(const std::string& model, const std::string& options, const std::string& trainer = HONE_TRAINER) const {
    const std::string epochs = options.find("--epochs") == std::string::npos ? " --epochs 2 " : " ";
    // Several threads on a busy machine wait for each other most of the time.
    return shell("OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 HONE_TRAINER='" + trainer +
                 "' '" HONE_COMMAND "' cost-model train data.jsonl " + model + " --network tlp" + epochs + options);
  }
  void expect_trained(const Outcome& trained) const {
    EXPECT_EQ(trained.status, 0) << trained.errors;
    EXPECT_THAT(trained.output, HasSubstr("are libtorch's within"));
  }
  void expect_refused(const Outcome& trained, std::initializer_list<std::string_view> parts) const {
    EXPECT_EQ(trained.status, 2);
    EXPECT_THAT(trained.output, Not(HasSubstr("epoch")));
    for (const std::string_view part : parts) EXPECT_THAT(trained.errors, HasSubstr(std::string(part)));
  }
  bool has_state(const std::string& model) const { return std::filesystem::exists(path(model + ".weights.state")); }
};

TEST_F(Trainer, MakesNetworksThatHoneRunsToTheSameScores) {
  for (const char* body : {"attention", "lstm"})
    for (const char* loss : {"rank", "mse"}) {
      const Outcome trained = train("out.onnx", std::string("--body ") + body + " --loss " + loss);
      expect_trained(trained);
      EXPECT_THAT(trained.output, AllOf(HasSubstr("2 heads, 72 samples"), HasSubstr("epoch   2 of 2: loss"),
                                        HasSubstr("held back"), HasSubstr("top-1")))
          << body << ", " << loss;
      EXPECT_FALSE(has_state("out.onnx"));
    }
  EXPECT_THAT(hone("cost-model info out.onnx").output, AllOf(HasSubstr("lstm"), HasSubstr("loss: mse")));
}

TEST_F(Trainer, GivesTheSameWeightsForTheSameSeedAlone) {
  expect_trained(train("one.onnx", ""));
  expect_trained(train("same.onnx", "--seed 1"));
  expect_trained(train("other.onnx", "--seed 2"));
  EXPECT_EQ(read("one.onnx"), read("same.onnx"));
  EXPECT_NE(read("one.onnx"), read("other.onnx"));
}

TEST_F(Trainer, SeesOnlySoManyLabelsOfTheFirstTarget) {
  const Outcome trained = train("out.onnx", "--label-percent 50 --target =b --target =a");
  expect_trained(trained);
  EXPECT_THAT(hone("cost-model info out.onnx").output,
              AllOf(HasSubstr("head: llvm -mcpu=b\nhead: llvm -mcpu=a\n"), HasSubstr("labels of the first head: 0.5")));
  expect_refused(train("out.onnx", "--label-percent 1 --target =a --seed 3"),
                 {"target 'llvm -mcpu=a' has 72 labels", "0.01"});
  expect_trained(train("out.onnx", "--hold-back 0 --target =a"));
}

TEST_F(Trainer, GoesOnWithHeadsOfOtherTargets) {
  expect_trained(train("a.onnx", "--target =a"));
  const Outcome trained = train("both.onnx", "--from a.onnx");
  expect_trained(trained);
  EXPECT_THAT(trained.output, HasSubstr("the head for llvm -mcpu=b begins with that for llvm -mcpu=a\n"));
  EXPECT_THAT(hone("cost-model info both.onnx").output, HasSubstr("from: a.onnx"));
  const Outcome fewer = train("b.onnx", "--from both.onnx.weights --target =b");
  expect_trained(fewer);
  EXPECT_THAT(fewer.output, HasSubstr("heads that are left behind: llvm -mcpu=a\n"));
  EXPECT_FALSE(std::filesystem::exists(path("b.onnx.weights.from")));
  expect_refused(train("out.onnx", "--from a.onnx --body lstm"), {"--from 'a.onnx'", "its 'body' is \"attention\""});
  expect_refused(train("out.onnx", "--from records.json"), {"records.json"});
}

TEST_F(Trainer, GoesOnWhereItWasInterruptedToTheSameWeights) {
  for (const std::string own : {"--epochs 5 --patience 3", "--epochs 4 --body lstm --loss mse"}) {
    expect_trained(train("whole.onnx", own));
    const Outcome stopped = train("out.onnx", own, path("stops").string());
    EXPECT_EQ(stopped.status, 2);
    EXPECT_THAT(stopped.output, AllOf(HasSubstr("epoch   2"), Not(HasSubstr("epoch   3"))));
    ASSERT_TRUE(has_state("out.onnx"));
    const Outcome resumed = train("out.onnx", own + " --resume");
    expect_trained(resumed);
    EXPECT_THAT(resumed.output, AllOf(HasSubstr("goes on after epoch 2"), Not(HasSubstr("epoch   2 of"))));
    EXPECT_EQ(read("out.onnx"), read("whole.onnx"));
    EXPECT_FALSE(has_state("out.onnx"));
  }
}

TEST_F(Trainer, GoesOnWithTheSameOptionsAndDataAlone) {
  expect_refused(train("out.onnx", "--resume"), {"nothing to --resume", "out.onnx.weights.state"});
  EXPECT_EQ(train("out.onnx", "--epochs 4", path("stops").string()).status, 2);
  expect_refused(train("out.onnx", "--epochs 4 --batch 64 --resume"), {"--batch is 512, expected 64"});
  expect_refused(train("out.onnx", "--epochs 4 --target =a --resume"), {"targets is llvm -mcpu=a; llvm -mcpu=b"});
  const std::string records = read("records.json");
  write("records.json", records.substr(0, records.find('\n', records.size() / 2) + 1));
  import_records();
  expect_refused(train("out.onnx", "--epochs 4 --resume"), {"its data (samples) is 72 of checksum"});
  const Outcome anew = train("out.onnx", "--epochs 2");
  expect_trained(anew);
  EXPECT_THAT(anew.output, HasSubstr("out.onnx.weights.state is of a training that was interrupted"));
}

TEST_F(Trainer, DoesNotTrainMembersAgainThatAreFinished) {
  expect_trained(train("whole.onnx", "--members 2"));
  const Outcome stopped = train("out.onnx", "--members 2", path("stops-in-second").string());
  EXPECT_EQ(stopped.status, 2);
  const Outcome resumed = train("out.onnx", "--members 2 --resume");
  expect_trained(resumed);
  EXPECT_THAT(resumed.output, AllOf(HasSubstr("out.onnx.weights.0: epoch"), HasSubstr("goes on after epoch 1 of 2"),
                                    HasSubstr("epoch   2 of 2"), Not(HasSubstr("epoch   1 of 2"))));
  EXPECT_EQ(read("out.onnx"), read("whole.onnx"));
  for (const char* member : {"0", "1"})
    EXPECT_FALSE(std::filesystem::exists(path(std::string("out.onnx.weights.") + member + ".state")));
}

TEST_F(Trainer, RefusesDataThatNothingCanBeLearntFrom) {
  expect_refused(train("out.onnx", "--target avx2"), {"target 'avx2' is in 0 targets", "llvm -mcpu=a; llvm -mcpu=b"});
  write("records.json", records_of(1, "llvm -mcpu=a"));
  import_records();
  expect_refused(train("out.onnx", ""), {"one task for training, at least 2"});
  write("records.json", records_of(1, "llvm -mcpu=a", true) + records_of(2, "llvm -mcpu=a", true));
  import_records();
  expect_refused(train("out.onnx", ""), {"no task for training with a program that ran"});
  write("records.json",
        records_of(1, "llvm -mcpu=a") + records_of(2, "llvm -mcpu=a") + records_of(1, "llvm -mcpu=b", true));
  import_records();
  expect_refused(train("out.onnx", ""), {"target 'llvm -mcpu=b' has 0 labels for training"});
}

TEST_F(Trainer, SaysThatItCannotWriteBeforeItTrains) {
  std::filesystem::create_directory(path("folder.onnx"));
  expect_refused(train("folder.onnx", ""), {"cannot write 'folder.onnx'"});
  expect_refused(train("nowhere/out.onnx", ""), {"cannot write 'nowhere/out.onnx'"});
  expect_refused(
      shell("trap '' XFSZ; ulimit -f 64; '" HONE_COMMAND "' cost-model train data.jsonl out.onnx --network tlp"),
      {"out.onnx.weights.state' cannot be written"});
  EXPECT_FALSE(std::filesystem::exists(path("out.onnx")));
}

TEST_F(Trainer, HasTheLimitsOfTheCommand) {
  for (const char* option : {"--batch 1", "--batch 65537", "--epochs 100001", "--patience 0"})
    expect_refused(train("out.onnx", option), {std::string(option).substr(0, 7)});
  expect_trained(train("out.onnx", "--batch 65536 --patience 100000"));
}

/// Programs of hone's own, which all networks read.
TEST_F(Trainer, TunesTheNetworkThatComesWithHone) {
  write_dense();
  write("shipped.onnx", shipped_network());
  const Outcome collected = hone(
      "dataset collect own.jsonl dense.onnx --shape batch=8 --shape batch=64 --programs 6 "
      "--target 'cpu -mcpu=x86-64 -threads=1'");
  ASSERT_EQ(collected.status, 0) << collected.errors;
  std::filesystem::rename(path("own.jsonl"), path("data.jsonl"));
  const Outcome tuned = hone("cost-model train data.jsonl out.onnx --epochs 2 --hold-back 0 --from shipped.onnx");
  expect_trained(tuned);
  EXPECT_THAT(hone("cost-model info out.onnx").output, HasSubstr("target: cpu -mcpu=x86-64 -threads=1\n"));
  const Outcome stores = hone("cost-model train data.jsonl stores.onnx --epochs 2 --network tenset-mlp");
  expect_trained(stores);
  const Outcome again =
      hone("cost-model train data.jsonl again.onnx --epochs 2 --network tenset-mlp --from stores.onnx");
  expect_trained(again);
}

}  // namespace
}  // namespace hone::command
