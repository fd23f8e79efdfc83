// hone dataset and hone cost-model: from measurements to what a network is refused for.
#include <gmock/gmock.h>

#include "command_runner.h"

namespace hone::command {
namespace {

using testing::HasSubstr;

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

TEST_F(HoneCostModel, TrainingSaysWhatItNeeds) {
  expect_refusal(shell("HONE_TRAINER=/nowhere/hone_trainer '" HONE_COMMAND "' cost-model train data.jsonl out.onnx"),
                 {"/nowhere/hone_trainer"});
  expect_refusal(shell("HONE_TRAINER=/bin/true '" HONE_COMMAND "' cost-model train nowhere.jsonl out.onnx"),
                 {"nowhere.jsonl"});
}

}  // namespace
}  // namespace hone::command
