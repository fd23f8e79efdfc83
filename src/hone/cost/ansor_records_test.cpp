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

  Result<ImportCounts> take(const std::string& lines) {
    HONE_TRY(DatasetFile file, DatasetFile::open(path_));
    std::istringstream in(lines);
    return import_ansor_records(in, "tenset", file);
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
  EXPECT_THAT(make_training_set(data, "tlp2", Part::Training).error().message, HasSubstr("no task for training"));
  EXPECT_EQ(take(lines)->programs, 0u) << "known already";
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
