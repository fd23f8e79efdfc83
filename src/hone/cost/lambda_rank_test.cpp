#include "hone/cost/lambda_rank.h"

#include <cmath>
#include <gtest/gtest.h>

#include "hone/support/rng.h"

namespace hone::cost {
namespace {

TEST(LambdaRank, HasTheLossOfThePublishedFormula) {
  const std::vector<float> scores = {0.1F, 0.9F, 0.5F, 0.7F}, labels = {0.2F, 1.0F, 0.8F, 0.4F};
  EXPECT_NEAR(max_dcg(labels), 1.691378, 1e-6);
  EXPECT_NEAR(lambda_rank(scores, labels).loss, 0.406509, 1e-6);
}

TEST(LambdaRank, ItsGradientIsTheSlopeOfTheLossAsLongAsRanksStay) {
  Rng rng(/*seed=*/3);
  std::vector<float> scores, labels;
  for (int i = 0; i < 12; ++i) {
    scores.push_back(static_cast<float>(i) * 0.25F);
    labels.push_back(static_cast<float>(rng.unit()));
  }
  const std::vector<std::size_t> groups = {5, 7};
  const RankLoss at = lambda_rank(scores, labels, groups);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    constexpr float kStep = 1e-2F;
    std::vector<float> up = scores, down = scores;
    up[i] += kStep, down[i] -= kStep;
    const double slope = (lambda_rank(up, labels, groups).loss - lambda_rank(down, labels, groups).loss) / (2 * kStep);
    EXPECT_NEAR(at.gradient[i], slope, 1e-4) << i;
  }
}

TEST(LambdaRank, GroupsAreApart) {
  const std::vector<float> scores = {0.1F, 0.9F, 0.5F, 0.7F}, labels = {0.2F, 1.0F, 0.8F, 0.4F};
  const std::vector<std::size_t> halves = {2, 2};
  const RankLoss both = lambda_rank(scores, labels, halves);
  const RankLoss first = lambda_rank(std::span(scores).first(2), std::span(labels).first(2));
  const RankLoss second = lambda_rank(std::span(scores).last(2), std::span(labels).last(2));
  EXPECT_DOUBLE_EQ(both.loss, first.loss + second.loss);
  EXPECT_EQ(both.gradient[3], second.gradient[1]);
}

TEST(LambdaRank, NothingToOrderCostsNothing) {
  EXPECT_EQ(lambda_rank({}, {}).loss, 0);
  const std::vector<float> scores = {3, -1, 0}, equal = {0.5F, 0.5F, 0.5F}, zeros = {0, 0, 0};
  EXPECT_EQ(lambda_rank(scores, equal).loss, 0);
  EXPECT_EQ(lambda_rank(scores, zeros).loss, 0);
  const std::vector<float> far = {1000, -1000}, wrong = {0, 1};
  EXPECT_TRUE(std::isfinite(lambda_rank(far, wrong).loss));
}

}  // namespace
}  // namespace hone::cost
