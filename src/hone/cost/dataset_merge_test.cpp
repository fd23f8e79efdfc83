#include "hone/cost/dataset_merge.h"

#include <cmath>
#include <gtest/gtest.h>
#include <unistd.h>

namespace hone::cost {
namespace {

/// A data set of one target.
class DatasetMerge : public ::testing::Test {
 protected:
  ~DatasetMerge() override { std::filesystem::remove(file_); }

  static Dataset collected(const std::string& target, const std::vector<std::string>& hashes, double seconds) {
    Dataset data{.notes = {{"machine", "that of " + target}}, .targets = {target}, .tasks = {}, .programs = {}};
    data.tasks.push_back({.key = "key",
                          .family = "family",
                          .name = "MatMul",
                          .algorithms = {{"direct", "func f() {\n}\n"}},
                          .constants = {},
                          .flops = 64,
                          .networks = {{target, 2}},
                          .done = "exhausted"});
    for (const std::string& hash : hashes) {
      data.tasks[0].programs.push_back(data.programs.size());
      data.programs.push_back({.task = 0,
                               .algorithm = 0,
                               .hash = hash,
                               .drawn_for = 0,
                               .candidate = "{}",
                               .trace = "[]",
                               .seconds = {seconds}});
    }
    return data;
  }

  Result<MergeCounts> merge(const Dataset& data) const {
    HONE_TRY(DatasetFile file, DatasetFile::open(file_));
    return merge_dataset(data, file);
  }
  Dataset merged() const { return read_dataset(file_).value(); }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() /
      ("hone-merge-" + std::to_string(getpid()) + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(DatasetMerge, KnowsTargetsTasksAndProgramsOfAllMachines) {
  ASSERT_TRUE(merge(collected("one", {"a", "b"}, 1e-6)));
  const MergeCounts counts = merge(collected("two", {"b", "c"}, 2e-6)).value();
  EXPECT_EQ(counts.targets, 1u);
  EXPECT_EQ(counts.tasks, 0u);
  EXPECT_EQ(counts.programs, 1u);
  EXPECT_EQ(counts.labels, 2u);
  const Dataset data = merged();
  EXPECT_EQ(data.targets, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(data.notes.at("machine"), "that of one; that of two");
  ASSERT_EQ(data.tasks.size(), 1u);
  EXPECT_EQ(data.tasks[0].networks.size(), 2u);
  EXPECT_EQ(data.tasks[0].done, "exhausted");
  ASSERT_EQ(data.programs.size(), 3u);
  EXPECT_EQ(data.programs[2].drawn_for, 1u);
  EXPECT_DOUBLE_EQ(data.programs[1].seconds[0], 1e-6);
  EXPECT_DOUBLE_EQ(data.programs[1].seconds[1], 2e-6);
  EXPECT_TRUE(std::isnan(data.programs[0].seconds[1]));
}

TEST_F(DatasetMerge, AgainAddsNothing) {
  const Dataset data = collected("one", {"a"}, kFailed);
  ASSERT_TRUE(merge(data));
  const auto size = std::filesystem::file_size(file_);
  const MergeCounts counts = merge(data).value();
  EXPECT_EQ(counts.targets + counts.tasks + counts.programs + counts.labels, 0u);
  EXPECT_EQ(std::filesystem::file_size(file_), size);
  EXPECT_EQ(merged().programs[0].seconds[0], kFailed);
}

TEST_F(DatasetMerge, KeepsWhyProgramsFailed) {
  Dataset data = collected("one", {"a", "b"}, kFailed);
  data.reasons = {{{0, 0}, "compile error"}, {{1, 0}, "timeout"}};
  ASSERT_TRUE(merge(collected("one", {"c"}, 1e-6)));
  ASSERT_TRUE(merge(data));
  EXPECT_EQ(merged().reasons, (std::map<std::pair<std::size_t, std::size_t>, std::string>{{{1, 0}, "compile error"},
                                                                                          {{2, 0}, "timeout"}}));
}

TEST_F(DatasetMerge, LeavesOutProgramsOfAlgorithmsThatAreNotKnown) {
  ASSERT_TRUE(merge(collected("one", {"a"}, 1e-6)));
  Dataset other = collected("two", {"b"}, 1e-6);
  other.tasks[0].algorithms = {{"direct", "func other() {\n}\n"}};
  EXPECT_EQ(merge(other)->left_out, 1u);
  EXPECT_EQ(merged().programs.size(), 1u);
}

}  // namespace
}  // namespace hone::cost
