#include "hone/cost/metrics.h"

#include <cmath>
#include <gtest/gtest.h>

#include "hone/support/rng.h"

namespace hone::cost {
namespace {

using Values = std::vector<double>;

const Values kPredicted = {.1, .9, .5, .7}, kMeasured = {.2, 1, .8, .4};

TEST(Metrics, AverageRecallOfTheKnownVector) {
  EXPECT_NEAR(average_recall(kPredicted, kMeasured, 4), 0.395833, 1e-6);
  EXPECT_NEAR(average_recall(kMeasured, kMeasured, 4), 0.479167, 1e-6);  // perfect is not 1
}

TEST(Metrics, AverageRecallIsTheMeanOfItsCurve) {
  Rng rng(/*seed=*/1);
  Values predicted(40), measured(40);
  for (double& value : predicted) value = rng.unit();
  for (double& value : measured) value = static_cast<double>(rng.uniform(0, 9));
  const std::vector<std::size_t> found = best_first(predicted), best = best_first(measured);
  double sum = 0;
  for (std::size_t n = 0; n < 20; ++n) {
    int common = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) common += found[i] == best[j];
    sum += common / (static_cast<double>(n) + 1);
  }
  EXPECT_NEAR(average_recall(predicted, measured, 20), sum / 20, 1e-12);
}

TEST(Metrics, TopKScoreOfTheKnownVector) {
  const std::vector<TaskLatencies> tasks = {{1, {2.5e-3, 3e-3, 2e-3}}, {3, {1.5e-3, 1.2e-3, 1e-3}}};
  EXPECT_NEAR(top_k_score(tasks, 2), 0.81967, 1e-5);
  EXPECT_EQ(top_k_score(tasks, 3), 1);
  EXPECT_EQ(top_k_score(tasks, 100), 1);
}

TEST(Metrics, PairwiseAccuracyCountsOrderedPairs) {
  EXPECT_NEAR(pairwise_accuracy(kPredicted, kMeasured), 5.0 / 6, 1e-12);  // only (.5, .7) is wrong
  EXPECT_EQ(pairwise_accuracy(kMeasured, kMeasured), 1);
  EXPECT_EQ(pairwise_accuracy(Values{1, 1, 1}, Values{1, 2, 3}), 0.5);
  EXPECT_EQ(pairwise_accuracy(Values{1, 2}, Values{3, 3}), 1);
}

TEST(Metrics, TopKRecallCountsTheBest) {
  EXPECT_EQ(top_k_recall(kPredicted, kMeasured, 1), 1);
  EXPECT_EQ(top_k_recall(kPredicted, kMeasured, 2), 0.5);
  EXPECT_EQ(top_k_recall(kPredicted, kMeasured, 3), 1);
  EXPECT_EQ(top_k_recall(kPredicted, kMeasured, 9), 1);
}

TEST(Metrics, PeakScoreFollowsTheBestSoFar) {
  const Values predicted = {3, 2, 1}, measured = {0.5, 0.25, 1};
  EXPECT_NEAR(average_peak_score(predicted, measured, 3), (0.5 + 0.5 + 1) / 3, 1e-12);
  EXPECT_EQ(average_peak_score(predicted, Values{0, 0, 0}, 3), 0);
}

TEST(Metrics, RmseOfKnownDifferences) { EXPECT_NEAR(rmse(Values{1, 2}, Values{4, 6}), std::sqrt(12.5), 1e-12); }

TEST(Metrics, NothingIsJudgedWithoutFailing) {
  EXPECT_EQ(rmse({}, {}), 0);
  EXPECT_EQ(pairwise_accuracy({}, {}), 1);
  EXPECT_EQ(top_k_recall({}, {}, 5), 1);
  EXPECT_EQ(average_recall({}, {}, 5), 0);
  EXPECT_EQ(average_peak_score({}, {}, 5), 0);
  EXPECT_EQ(top_k_score({}, 5), 1);
}

}  // namespace
}  // namespace hone::cost
