#include "hone/cost/training_options.h"

#include <gtest/gtest.h>

namespace hone::cost {
namespace {

TEST(TrainingOptions, RateFallsFromAllToLittle) {
  TrainingOptions options{.epochs = 10, .rate = 0.5};
  EXPECT_DOUBLE_EQ(rate_in(1, options), 0.5);
  for (int epoch = 2; epoch <= 10; ++epoch) EXPECT_LT(rate_in(epoch, options), rate_in(epoch - 1, options));
  EXPECT_GT(rate_in(10, options), 0.01);
  options.is_steady = true;
  EXPECT_DOUBLE_EQ(rate_in(10, options), 0.5);
}

}  // namespace
}  // namespace hone::cost
