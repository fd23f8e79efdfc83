#include "hone/cost/objectives.h"

#include <cmath>
#include <gtest/gtest.h>

namespace hone::cost {
namespace {

using Floats = std::vector<float>;

TEST(SumOfRows, GradientsOfTheKnownVectors) {
  const std::vector<std::uint32_t> first_rows = {0, 2, 5, 5};
  const Floats labels = {1, 0.25, 0.5}, sums = {0.2F, 0.3F, 0.1F, 0.1F, 0.2F};
  const SumOfRows objective(first_rows, labels);
  Floats first(5), second(5);
  objective.gradient(sums, first, second);
  for (const std::size_t row : {0, 1}) {
    EXPECT_FLOAT_EQ(first[row], -0.5F);
    EXPECT_FLOAT_EQ(second[row], 1);
  }
  for (const std::size_t row : {2, 3, 4}) {
    EXPECT_FLOAT_EQ(first[row], 0.0375F);
    EXPECT_FLOAT_EQ(second[row], 0.25F);
  }
  EXPECT_NEAR(objective.loss(sums), std::sqrt((0.25 + 0.0225 + 0.25) / 3), 1e-6);
}

TEST(SumOfRows, TreesLearnWhatMarginsLeave) {
  const std::vector<std::uint32_t> first_rows = {0, 2, 3};
  const Floats labels = {1, 0.5F}, sums = {0.25F, 0.25F, 0}, margins = {0.25F, 0.5F};
  const SumOfRows objective(first_rows, labels, margins);
  Floats first(3), second(3);
  objective.gradient(sums, first, second);
  EXPECT_EQ(first, (Floats{-0.25F, -0.25F, 0}));
  EXPECT_EQ(second, (Floats{1, 1, 0.5F}));
  EXPECT_NEAR(objective.loss(sums), std::sqrt(0.0625 / 2), 1e-6);
}

TEST(SquaredError, MarginsCountAsIfTheyWereTrees) {
  const Floats sums = {1, 2}, margins = {0.5F, 0}, labels = {1, 1};
  Floats first(2), second(2);
  squared_gradient(sums, margins, labels, first, second);
  EXPECT_EQ(first, (Floats{0.5F, 1}));
  EXPECT_EQ(second, (Floats{1, 1}));
}

TEST(PairwiseRanks, ThePairThatIsWrongPullsHarder) {
  const Floats labels = {1, 0}, none = {0, 0};
  PairwiseRanks ranks({2}, labels, 1);
  Floats first(2), second(2);
  ranks.gradient(Floats{0, 0}, none, first, second);
  EXPECT_FLOAT_EQ(first[0], -1);  // weight 2, p = 1/2
  EXPECT_FLOAT_EQ(first[1], 1);
  EXPECT_FLOAT_EQ(second[0], 1);  // 2 · weight · p · (1 - p)
  ranks.gradient(Floats{-3, 3}, none, first, second);
  EXPECT_NEAR(first[0], -2 / (1 + std::exp(-6)), 1e-5);
  const float from_sums = first[0];
  ranks.gradient(none, Floats{-3, 3}, first, second);
  EXPECT_FLOAT_EQ(first[0], from_sums);
}

TEST(PairwiseRanks, GroupsAndEqualLabelsAreNotCompared) {
  const Floats labels = {1, 1, 0, 0.5F};
  PairwiseRanks ranks({2, 1, 1}, labels, 1);
  Floats first(4), second(4);
  ranks.gradient(Floats{0, 1, 2, 3}, Floats(4), first, second);
  EXPECT_EQ(first, Floats(4, 0));
}

TEST(PairwiseRanks, LargeGroupsAreSampledAlikeForOneSeed) {
  Floats labels(1000), sums(1000);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<float>(i % 37);
  const auto gradient = [&](std::uint64_t seed) {
    PairwiseRanks ranks({1000}, labels, seed);
    Floats first(1000), second(1000);
    ranks.gradient(sums, Floats(1000), first, second);
    return first;
  };
  EXPECT_EQ(gradient(1), gradient(1));
  EXPECT_NE(gradient(1), gradient(2));
  EXPECT_LT(gradient(1)[36], -0.5F);  // the best of all is below no other
  EXPECT_GT(gradient(1)[0], 0.5F);
}

TEST(TransferDiscount, HalvesEvery64SamplesUntilItIsDropped) {
  EXPECT_EQ(transfer_discount(0), 1);
  EXPECT_EQ(transfer_discount(64), 0.5);
  EXPECT_EQ(transfer_discount(128), 0.25);
  EXPECT_NEAR(transfer_discount(276), 0.05033, 1e-5);
  EXPECT_EQ(transfer_discount(277), 0);
}

}  // namespace
}  // namespace hone::cost
