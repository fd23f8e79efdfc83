#include "hone/cost/training_state.h"

#include <cmath>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

namespace hone::cost {
namespace {

using ::testing::HasSubstr;

class TrainingStateFile : public ::testing::Test {
 protected:
  ~TrainingStateFile() override { std::filesystem::remove(file_); }

  std::string problem(const TrainingIdentity& identity) const {
    const auto read = read_training_state(file_, identity);
    return read ? "" : read.error().message;
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("hone-training-" + std::to_string(getpid()));
  const TrainingState state_ = {
      .identity = {{"batch", "128"}, {"samples", "5"}},
      .progress =
          {.epoch = 7,
           .barren = 2,
           .elapsed_s = 1.5,
           .best = {.epoch = 5, .loss = 0.1, .validation_loss = 0.2, .is_checked = true, .top_5 = 1, .scored = 3}},
      .parts = {{"adam", std::string("\0bytes", 6)}, {"weights", ""}}};
};

TEST_F(TrainingStateFile, ComesBackAsItWas) {
  ASSERT_TRUE(write_training_state(file_, state_));
  const TrainingState read = read_training_state(file_, state_.identity).value();
  EXPECT_EQ(read.identity, state_.identity);
  EXPECT_EQ(read.parts, state_.parts);
  EXPECT_EQ(read.progress.epoch, 7);
  EXPECT_EQ(read.progress.barren, 2);
  EXPECT_EQ(read.progress.elapsed_s, 1.5);
  EXPECT_EQ(read.progress.best.epoch, 5);
  EXPECT_EQ(read.progress.best.validation_loss, 0.2);
  EXPECT_EQ(read.progress.best.scored, 3u);
  EXPECT_TRUE(read.progress.best.is_checked);
  ASSERT_TRUE(write_training_state(file_, {.identity = {}, .progress = {}, .parts = {}}));
  EXPECT_TRUE(std::isinf(read_training_state(file_, {}).value().progress.best.validation_loss));
}

TEST_F(TrainingStateFile, OfAnotherTrainingIsRefusedByWhatDiffers) {
  ASSERT_TRUE(write_training_state(file_, state_));
  EXPECT_EQ(problem({{"batch", "128"}, {"samples", "6"}}),
            "'" + file_.string() + "' is of another training: its samples is 5, expected 6");
  EXPECT_THAT(problem({{"loss", "mse"}}), HasSubstr("its loss is unknown, expected mse"));
}

TEST_F(TrainingStateFile, IsRefusedWhereItIsNotWhole) {
  ASSERT_TRUE(write_training_state(file_, state_));
  std::ifstream in(file_, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (const std::size_t size : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(file_, std::ios::binary) << whole.substr(0, size);
    EXPECT_THAT(problem(state_.identity), HasSubstr(file_.string())) << size;
  }
  EXPECT_THAT(write_training_state("/nowhere/state", state_).error().message, HasSubstr("/nowhere/state"));
}

TEST(TrainingIdentity, OfSamplesIsThatOfTheirNumbers) {
  TrainingSet set{.shape = {1, 1}, .targets = 1, .numbers = {1, 2}, .labels = {1, 0.5F}, .tasks = {0, 0}};
  const std::string one = identity_of(set);
  EXPECT_THAT(one, HasSubstr("2 of checksum"));
  EXPECT_EQ(identity_of(set), one);
  set.labels[1] = 0.25F;
  EXPECT_NE(identity_of(set), one);
}

}  // namespace
}  // namespace hone::cost
