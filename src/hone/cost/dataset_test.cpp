#include "hone/cost/dataset.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

namespace hone::cost {
namespace {

using ::testing::HasSubstr;

class DatasetTest : public ::testing::Test {
 protected:
  ~DatasetTest() override { std::filesystem::remove(file_); }

  static DatasetTask task(const std::string& key, const std::string& network) {
    return {.key = key,
            .family = "family",
            .name = "MatMul \"quoted\"",
            .algorithms = {{"direct", "func f() {\n}\n"}, {"winograd2", "func g() {\n}\n"}},
            .constants = {1},
            .flops = 64,
            .networks = {{network, 3}}};
  }
  static DatasetProgram program(std::size_t task, const std::string& hash) {
    return {.task = task,
            .algorithm = 1,
            .hash = hash,
            .drawn_for = 0,
            .candidate = R"({"sketch":"direct"})",
            .trace = R"([{"step":"parallel","loop":"i"}])"};
  }
  /// Two targets, a task and three programs.
  void write_small() const {
    DatasetFile file = DatasetFile::open(file_).value();
    ASSERT_TRUE(file.note("machine", "a \"small\" one"));
    ASSERT_EQ(file.add_target("cpu -threads=1").value(), 0u);
    ASSERT_EQ(file.add_target("cpu -threads=2").value(), 1u);
    ASSERT_EQ(file.add_task(task("key", "resnet18")).value(), 0u);
    for (const char* hash : {"a", "b", "c"}) ASSERT_TRUE(file.add_program(program(0, hash)));
    ASSERT_TRUE(file.add_label(0, 0, 2e-6));
    ASSERT_TRUE(file.add_label(1, 0, 8e-6));
    ASSERT_TRUE(file.add_label(2, 0, kFailed, "timeout"));
    ASSERT_TRUE(file.add_label(0, 1, 123.4e-9));
  }
  std::string content() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void put(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
  std::string read_error() const {
    const Result<Dataset> data = read_dataset(file_);
    return data ? "" : data.error().message;
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() /
      ("hone-dataset-" + std::to_string(getpid()) + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(DatasetTest, WhatWasAddedIsRead) {
  write_small();
  const Dataset data = read_dataset(file_).value();
  EXPECT_EQ(data.notes.at("machine"), "a \"small\" one");
  EXPECT_EQ(data.targets.size(), 2u);
  ASSERT_EQ(data.tasks.size(), 1u);
  EXPECT_EQ(data.tasks[0].name, "MatMul \"quoted\"");
  EXPECT_EQ(data.tasks[0].algorithms[1].text, "func g() {\n}\n");
  EXPECT_EQ(data.tasks[0].networks.at("resnet18"), 3);
  EXPECT_EQ(data.tasks[0].programs.size(), 3u);
  ASSERT_EQ(data.programs.size(), 3u);
  EXPECT_EQ(data.programs[1].hash, "b");
  EXPECT_EQ(data.programs[1].algorithm, 1u);
  EXPECT_THAT(data.programs[1].trace, HasSubstr("parallel"));
  EXPECT_DOUBLE_EQ(data.programs[0].seconds[1], 123.4e-9);
  ASSERT_EQ(data.reasons.size(), 1u);
  EXPECT_EQ(data.reasons.at({2, 0}), "timeout");
}

TEST_F(DatasetTest, AFileIsMadeWhenSomethingIsAdded) {
  {
    DatasetFile file = DatasetFile::open(file_).value();
    EXPECT_FALSE(std::filesystem::exists(file_));
    DatasetFile other = DatasetFile::open(file_).value();
    ASSERT_TRUE(file.note("machine", "this"));
    EXPECT_TRUE(std::filesystem::exists(file_));
    EXPECT_THAT(other.note("machine", "that").error().message, HasSubstr("is being written to already"));
  }
  EXPECT_EQ(read_dataset(file_)->notes.at("machine"), "this");
  put("");
  ASSERT_TRUE(DatasetFile::open(file_)->note("machine", "this"));
  EXPECT_EQ(read_dataset(file_)->notes.at("machine"), "this") << "an empty file is as good as none";
  EXPECT_THAT(DatasetFile::open("/nowhere/data.jsonl")->note("machine", "this").error().message,
              HasSubstr("cannot write '/nowhere/data.jsonl': No such file"));
}

TEST_F(DatasetTest, LabelsAreSharesOfTheFastest) {
  write_small();
  const Dataset data = read_dataset(file_).value();
  EXPECT_DOUBLE_EQ(data.best_seconds(0, 0), 2e-6);
  EXPECT_DOUBLE_EQ(data.label(data.programs[0], 0), 1);
  EXPECT_DOUBLE_EQ(data.label(data.programs[1], 0), 0.25);
  EXPECT_EQ(data.label(data.programs[2], 0), 0) << "it failed";
  EXPECT_TRUE(std::isnan(data.label(data.programs[1], 1))) << "it was not measured";
}

TEST(Dataset, TargetsAreFoundByPartsOfTheirTexts) {
  Dataset data;
  data.targets = {"llvm", "llvm -mcpu=a", "llvm -mcpu=b"};
  const auto find = [&](const std::vector<std::string>& texts) { return data.find_targets(texts).value(); };
  EXPECT_EQ(find({}), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(find({"=b", "llvm"}), (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(data.find_targets({"-mcpu"}).error().message,
            "target '-mcpu' is in 2 targets of the data set, expected one of: llvm; llvm -mcpu=a; llvm -mcpu=b");
  EXPECT_THAT(data.find_targets({"gpu"}).error().message, HasSubstr("'gpu' is in 0 targets"));
  EXPECT_EQ(data.find_targets({"=b", "mcpu=b"}).error().message, "target 'llvm -mcpu=b' is given twice");
}

TEST_F(DatasetTest, GoesOnAfterALineThatWasCutOff) {
  write_small();
  const std::string whole = content();
  put(whole + R"({"label":[1,1,)");
  EXPECT_EQ(read_dataset(file_)->programs.size(), 3u);
  {
    DatasetFile file = DatasetFile::open(file_).value();
    EXPECT_EQ(file.add_target("cpu -threads=2").value(), 1u) << "known already";
    EXPECT_EQ(file.add_task(task("key", "resnet18")).value(), 0u);
    ASSERT_TRUE(file.add_label(1, 1, 5e-6));
  }
  EXPECT_EQ(content(), whole + "{\"label\":[1,1,5000]}\n");
}

TEST_F(DatasetTest, HasOneWriterAtATime) {
  {
    DatasetFile first = DatasetFile::open(file_).value();
    ASSERT_TRUE(first.note("machine", "this"));
    const Result<DatasetFile> second = DatasetFile::open(file_);
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr(file_.string()));
    EXPECT_THAT(second.error().message, HasSubstr("is being written to already"));
    EXPECT_TRUE(read_dataset(file_)) << "whoever reads does not mind";
    EXPECT_THAT(pack_dataset(file_, file_).error().message, HasSubstr("is being written to already"));
  }
  EXPECT_TRUE(DatasetFile::open(file_));
}

TEST_F(DatasetTest, PackedItIsSmallerAndTheSame) {
  write_small();
  const Dataset before = read_dataset(file_).value();
  const std::size_t size = content().size();
  ASSERT_LT(pack_dataset(file_, file_).value(), size);
  const Dataset after = read_dataset(file_).value();
  EXPECT_EQ(after.programs.size(), before.programs.size());
  EXPECT_EQ(after.programs[1].trace, before.programs[1].trace);
  EXPECT_THAT(DatasetFile::open(file_).error().message, HasSubstr("is compressed"));
  const std::string whole = content();
  for (std::size_t cut = 4; cut < whole.size(); cut += 11) {
    put(whole.substr(0, cut));
    EXPECT_THAT(read_error(), HasSubstr(file_.string())) << cut;
  }
  std::string damaged = whole;
  damaged[whole.size() / 2] = static_cast<char>(damaged[whole.size() / 2] ^ 0x55);
  put(damaged);
  EXPECT_THAT(read_error(), HasSubstr("damaged"));
}

TEST_F(DatasetTest, ATaskOfATestNetworkIsForTesting) {
  DatasetTask both = task("key", "resnet18");
  EXPECT_FALSE(is_test_task(both));
  both.networks["mobilenet_v2"] = 1;
  EXPECT_TRUE(is_test_task(both));
}

TEST(TestNetwork, IsKnownHoweverItIsSpeltAndWhateverFollows) {
  struct Case {
    const char* network;
    bool is_test;
  };
  constexpr Case kCases[] = {
      {"resnet50", true},
      {"ResNet-50", true},
      {"resnet50@batch=2", true},
      {"resnet50-v1-12", true},
      {"resnet50_v1_5", true},
      {"ResNet50-v1.5", true},
      {"resnet50v2", true},
      {"resnet50-opset17", true},
      {"resnet50_Opset18_timm", true},
      {"resnet50.quant", true},
      {"resnet50 (int8)", true},
      {"resnet-50-1", true},
      {"mobilenetv2-7", true},
      {"mobilenetv2", true},
      {"MobileNet_V2_1.0_224", true},
      {"mobilenet_v2_quantized", true},
      {"resnext50", true},
      {"resnext50_32x4d", true},
      {"resnext50_32x4d_swsl", true},
      {"bert-base", true},
      {"bert_base@batch=4", true},
      {"bert-base-uncased", true},
      {"bert-base-cased-squad", true},
      {"bert-base-multilingual-cased", true},
      {"BERT-tiny-128", true},
      {"bert_tiny@batch=4", true},
      {"bert_tiny_finetuned@sequence=32", true},
      {"resnet18", false},
      {"resnet5", false},
      {"resnet500", false},
      {"resnet501", false},
      {"resnet50d", false},
      {"resnet152", false},
      {"resnet-18-50", false},
      {"wide_resnet50_2", false},
      {"resnext101_32x8d", false},
      {"mobilenet", false},
      {"mobilenet_v1", false},
      {"mobilenet_v3", false},
      {"mobilenetv3-large", false},
      {"mobilenetv20", false},
      {"bert", false},
      {"bert_large_uncased", false},
      {"bert_mini", false},
      {"bert_basement", false},
      {"roberta-base", false},
      {"distilbert-base-uncased", false},
      {"llama_tiny", false},
      {"gpt2", false},
      {"other@resnet50", false},
      {"v2", false},
      {"bert@base", false},
      {"", false},
  };
  for (const Case& one : kCases) EXPECT_EQ(is_test_network(one.network), one.is_test) << one.network;
}

TEST_F(DatasetTest, WrongLinesAreErrorsThatNameThem) {
  write_small();
  const std::string whole = content();
  const auto with = [&](const std::string& line) {
    put(whole + line + "\n");
    return read_error();
  };
  EXPECT_THAT(with("{"), HasSubstr("line 14"));
  EXPECT_THAT(with("[]"), HasSubstr("one field"));
  EXPECT_THAT(with(R"({"lable":[0,0,5]})"), HasSubstr("'lable' is not known, expected note, target"));
  EXPECT_THAT(with(R"({"label":[9,0,5]})"), HasSubstr("line 14: program 9 is meant, there are 3"));
  EXPECT_THAT(with(R"({"program":{"task":0,"algorithm":1,"hash":"x","for":2}})"), HasSubstr("target 2 is meant"));
  EXPECT_THAT(with(R"({"label":[0,7,5]})"), HasSubstr("target 7 is meant, there are 2"));
  EXPECT_THAT(with(R"({"label":[0,0,0]})"),
              HasSubstr("line 14: label [0,0,0] is wrong, expected [program, target, nanoseconds above 0 or a text"));
  for (const char* label : {"[0,0,-3]", "[0,0,null]", "[0,0,NaN]", "[0,0,-nan]", "[0,0,Infinity]", "[0,0,true]"})
    EXPECT_THAT(with(fmt::format(R"({{"label":{}}})", label)),
                HasSubstr(fmt::format("line 14: label {} is wrong", label)));
  EXPECT_THAT(with(R"({"label":[0,0,1e999]})"), HasSubstr("line 14"));
  EXPECT_THAT(with(R"({"program":{"task":0,"algorithm":2}})"), HasSubstr("algorithm 2 is meant, there are 2"));
  put("{\"format\":\"hone data set\",\"version\":2}\n");
  EXPECT_THAT(read_error(), HasSubstr("has version 2, this hone reads 1"));
  put("hello\n");
  EXPECT_THAT(read_error(), HasSubstr(file_.string()));
  put("{}\n");
  EXPECT_THAT(read_error(), HasSubstr("not a data set of hone"));
  put("");
  EXPECT_THAT(read_error(), HasSubstr("no whole line"));
  std::filesystem::remove(file_);
  EXPECT_THAT(read_error(), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace hone::cost
