#include "hone/cost/ansor_records.h"

#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

#include "hone/cost/training_set.h"

namespace hone::cost {
namespace {

using ::testing::HasSubstr;

std::string record(const std::string& workload, const std::string& target, int tile, const std::string& result) {
  return R"({"i": [[")" + workload + R"(", ")" + target +
         R"(", [16, 64, 64, 0, 0, 0, 0, 0], "", 2, []], [[], [["SP", 2, 0, 512, [)" + std::to_string(tile) +
         R"(, 8], 1], ["AN", 2, 0, 3], ["PR", 2, 0, "auto_unroll_max_step$64"]]]], "r": )" + result +
         R"(, "v": "v0.6"})" + "\n";
}

class AnsorRecords : public ::testing::Test {
 protected:
  ~AnsorRecords() override { std::filesystem::remove(path_); }

  Result<ImportCounts> take(const std::string& lines, const std::string& network = "tenset") {
    HONE_TRY(DatasetFile file, DatasetFile::open(path_));
    std::istringstream in(lines);
    return import_ansor_records(in, network, file);
  }

  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() /
      ("hone-ansor-" + std::to_string(getpid()) + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(AnsorRecords, BecomeTasksProgramsAndLabels) {
  const std::string lines = "# a comment\n" + record("[1, 8]", "llvm -mcpu=a", 4, "[[0.002, 0.004], 0, 0.1, 1]") +
                            record("[1, 8]", "llvm -mcpu=b", 4, "[[0.001], 0, 0.1, 1]") +
                            record("[1, 8]", "llvm -mcpu=a", 2, "[[1e+10], 6, 0.1, 1]") +
                            record("[2, 8]", "llvm -mcpu=a", 2, "[[0.5], 0, 0.1, 1]");
  const Result<ImportCounts> counts = take(lines);
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->records, 4u);
  EXPECT_EQ(counts->programs, 3u);
  EXPECT_EQ(counts->tasks, 2u);
  const Dataset data = read_dataset(path_).value();
  EXPECT_EQ(data.targets.size(), 2u);
  EXPECT_DOUBLE_EQ(data.programs[0].seconds[0], 0.003);
  EXPECT_DOUBLE_EQ(data.programs[0].seconds[1], 0.001);
  EXPECT_EQ(data.programs[1].seconds[0], kFailed);
  EXPECT_TRUE(std::isnan(data.programs[1].seconds[1]));
  const TrainingSet set = make_training_set(data, "tlp", Part::Training).value();
  EXPECT_EQ(set.size(), 3u);
  EXPECT_EQ(set.numbers[5], 1) << "the word SP";
  EXPECT_EQ(set.numbers[11 + 2], 512) << "the extent of its loop";
  EXPECT_THAT(make_training_set(data, "tlp2", Part::Training).error().message,
              HasSubstr("no task for training with a program that ran; 3 programs are left out: Ansor's records of "
                        "'llvm -mcpu=a' are sentences of the language tlp alone, not of tlp2"));
  EXPECT_EQ(take(lines)->programs, 0u) << "known already";
}

TEST_F(AnsorRecords, OfATestNetworkAreForTestingWhereverElseTheyOccur) {
  const std::string shared = record("[1, 8]", "llvm", 4, "[[0.002], 0, 0.1, 1]");
  ASSERT_TRUE(take(shared + record("[2, 8]", "llvm", 4, "[[0.002], 0, 0.1, 1]")));
  ASSERT_EQ(take(shared, "ResNet-50")->programs, 0u);
  const Dataset data = read_dataset(path_).value();
  EXPECT_TRUE(is_test_task(data.tasks[0]));
  EXPECT_FALSE(is_test_task(data.tasks[1]));
}

TEST_F(AnsorRecords, OfGpusSpeakTheLanguageOfGpus) {
  const char* gpu = "cuda -keys=cuda,gpu -model=t4";
  std::string lines;
  for (const char* workload : {"[1]", "[2]"}) {
    std::string one = record(workload, gpu, 4, "[[0.002], 0, 0.1, 1]");
    one.replace(one.find(R"(["AN", 2, 0, 3])"), 15, R"(["CHR", 1, "shared", [3]], ["FFSP", 2, 0, [1, 2], 1, 3])");
    lines += one;
  }
  ASSERT_TRUE(take(lines));
  const Dataset data = read_dataset(path_).value();
  EXPECT_EQ(ansor_platform(data.targets[0]), TlpPlatform::Gpu);
  EXPECT_THAT(make_training_set(data, "tlp", Part::Training).error().message,
              HasSubstr("'" + std::string(gpu) + "' are sentences of the language tlp-gpu alone, not of tlp"));
  const TrainingSet set = make_training_set(data, "tlp-gpu", Part::Training).value();
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(set.first_rows[1], 4u) << "no step is lost";
  EXPECT_EQ(set.numbers[20 + 1], 1) << "the word CHR";
  EXPECT_EQ(set.numbers[40 + 5], 1) << "the word FFSP";
}

TEST_F(AnsorRecords, WithStepsThatAreNoWordsAreLeftOut) {
  std::string odd = record("[1]", "llvm", 4, "[[0.002], 0, 0.1, 1]");
  odd.replace(odd.find(R"(["AN", 2, 0, 3])"), 15, R"(["CHR", 1, "shared", [3]])");
  ASSERT_TRUE(
      take(odd + record("[2]", "llvm", 4, "[[0.002], 0, 0.1, 1]") + record("[3]", "llvm", 4, "[[0.002], 0, 0.1, 1]")));
  const TrainingSet set = make_training_set(read_dataset(path_).value(), "tlp", Part::Training).value();
  EXPECT_EQ(set.size(), 2u);
  EXPECT_EQ(set.left_out_text(),
            "1 program is left out: 1 of 3 steps of Ansor's records of 'llvm' are no words of the language tlp");
}

TEST_F(AnsorRecords, ThatAreWrongAreNamed) {
  EXPECT_THAT(take("{}\n").error().message, HasSubstr("line 1: no record of Ansor"));
  EXPECT_THAT(take("# x\nhello\n").error().message, HasSubstr("line 2"));
  EXPECT_THAT(take(record("[1]", "llvm", 4, "[[-1], 0, 0.1, 1]")).error().message, HasSubstr("took -1 s"));
  std::string unknown = record("[1]", "llvm", 4, "[[1], 0, 0.1, 1]");
  unknown.replace(unknown.find("\"SP\""), 4, "\"XX\"");
  EXPECT_THAT(take(unknown).error().message, HasSubstr("'XX'"));
}

}  // namespace
}  // namespace hone::cost
