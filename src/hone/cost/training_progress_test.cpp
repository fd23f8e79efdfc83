#include "hone/cost/training_progress.h"

#include <gtest/gtest.h>

namespace hone::cost {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// Adds an epoch with this loss on what was held back.
bool add_epoch(TrainingProgress& progress, double loss, bool is_checked = true) {
  return progress.add({.epoch = progress.epoch + 1, .loss = loss, .validation_loss = loss, .is_checked = is_checked});
}

TEST(TrainingProgress, EndsSoManyEpochsAfterTheBest) {
  const TrainingOptions options{.epochs = 100, .patience = 2};
  TrainingProgress progress;
  EXPECT_TRUE(add_epoch(progress, 3));
  EXPECT_FALSE(add_epoch(progress, 3)) << "as good is not better";
  EXPECT_TRUE(add_epoch(progress, 2));
  EXPECT_FALSE(add_epoch(progress, kNoNumber));
  EXPECT_FALSE(progress.is_over(options));
  EXPECT_FALSE(add_epoch(progress, 4));
  EXPECT_TRUE(progress.is_over(options));
  EXPECT_EQ(progress.best.epoch, 3);
}

TEST(TrainingProgress, EndsAfterAllEpochs) {
  const TrainingOptions options{.epochs = 2, .patience = 8};
  TrainingProgress progress{.elapsed_s = 3};
  add_epoch(progress, 2);
  EXPECT_FALSE(progress.is_over(options));
  EXPECT_DOUBLE_EQ(progress.left_s(options), 3);
  add_epoch(progress, 1);
  EXPECT_TRUE(progress.is_over(options));
  EXPECT_DOUBLE_EQ(progress.left_s(options), 0);
}

TEST(TrainingProgress, TakesTheLastEpochIfNothingIsHeldBack) {
  TrainingProgress progress;
  EXPECT_TRUE(add_epoch(progress, 1, /*is_checked=*/false));
  EXPECT_TRUE(add_epoch(progress, 2, /*is_checked=*/false));
  EXPECT_FALSE(add_epoch(progress, kNoNumber, /*is_checked=*/false));
  EXPECT_EQ(progress.best.epoch, 2);
}

TEST(TrainingProgress, HasNoBestWhereNoLossIsANumber) {
  TrainingProgress progress;
  add_epoch(progress, kNoNumber);
  EXPECT_EQ(progress.best.epoch, 0);
}

}  // namespace
}  // namespace hone::cost
