#include "hone/cost/boosted_trees.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <thread>

#include "hone/support/rng.h"

namespace hone::cost {
namespace {

using ::testing::HasSubstr;

struct Points {
  Matrix rows;
  std::vector<float> labels;
};

/// y = x0² + 2·x1 on points of [0, 1)³.
Points parabola(std::size_t count, std::uint64_t seed) {
  Points data{.rows = {.columns = 3}, .labels = {}};
  Rng rng(seed);
  for (std::size_t i = 0; i < count; ++i) {
    float x[3];
    for (float& value : x) value = static_cast<float>(rng.unit());
    data.rows.values.insert(data.rows.values.end(), x, x + 3);
    data.labels.push_back(x[0] * x[0] + 2 * x[1]);
  }
  return data;
}

double error_of(std::span<const float> found, std::span<const float> expected) {
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) sum += std::pow(found[i] - expected[i], 2);
  return std::sqrt(sum / static_cast<double>(found.size()));
}

Result<BoostedTrees> fit_squares(const Points& data, const TreeSettings& settings) {
  return BoostedTrees::fit(
      data.rows, settings,
      [&](std::span<const float> sums, std::span<float> first, std::span<float> second) {
        for (std::size_t i = 0; i < sums.size(); ++i) {
          first[i] = sums[i] - data.labels[i];
          second[i] = 1;
        }
      },
      [&](std::span<const float> sums) { return error_of(sums, data.labels); });
}

TEST(BoostedTrees, FitAFunctionAndPredictWhatTheyHaveNotSeen) {
  const BoostedTrees trees = fit_squares(parabola(2000, 1), {.depth = 4, .max_rounds = 100}).value();
  EXPECT_EQ(trees.columns(), 3u);
  EXPECT_GT(trees.size(), 10);
  const Points others = parabola(500, 2);
  EXPECT_LT(error_of(trees.predict(others.rows).value(), others.labels), 0.05);
}

TEST(BoostedTrees, OneLeafHasTheWeightOfTheFormula) {
  // No split lowers the loss by 1000, so each tree is one leaf of weight -eta * G / (H + lambda).
  const Points data{.rows = {.columns = 1, .values = {0, 1, 2}}, .labels = {1, 2, 6}};
  const BoostedTrees trees =
      fit_squares(data, {.depth = 2, .min_split_loss = 1000, .learning_rate = 0.5, .l2 = 1, .max_rounds = 1}).value();
  const std::vector<float> sums = trees.predict(data.rows).value();
  for (const float sum : sums) EXPECT_FLOAT_EQ(sum, 0.5F * 9 / (3 + 1));
}

TEST(BoostedTrees, TheSameDataGiveTheSameTrees) {
  const Points data = parabola(300, 3);
  const auto bytes = [&] { return fit_squares(data, {.depth = 5, .max_rounds = 20}).value().to_bytes().value(); };
  EXPECT_EQ(bytes(), bytes());
}

TEST(BoostedTrees, ComeBackFromBytesAndPredictTheSame) {
  const Points data = parabola(300, 4);
  const BoostedTrees trees = fit_squares(data, {.depth = 5, .max_rounds = 20}).value();
  const BoostedTrees again = BoostedTrees::from_bytes(trees.to_bytes().value()).value();
  EXPECT_EQ(again.size(), trees.size());
  EXPECT_EQ(again.columns(), trees.columns());
  EXPECT_EQ(again.predict(data.rows).value(), trees.predict(data.rows).value());
}

TEST(BoostedTrees, StopWhenTheLossNoLongerFallsAndDropTheTreesSince) {
  const Points data = parabola(200, 5);
  int calls = 0;
  const auto trees = BoostedTrees::fit(
      data.rows, {.max_rounds = 1000, .patience = 7},
      [&](std::span<const float>, std::span<float> first, std::span<float> second) {
        std::fill(first.begin(), first.end(), 1.0F);
        std::fill(second.begin(), second.end(), 1.0F);
      },
      [&](std::span<const float>) { return std::abs(3.0 - calls++); });
  EXPECT_EQ(trees->size(), 3);
  EXPECT_EQ(calls, 3 + 7 + 1);
}

TEST(BoostedTrees, WithoutALossThatFallsTheyAreEmptyAndSumToZero) {
  const Points data = parabola(20, 6);
  const auto nothing = [](std::span<const float>, std::span<float>, std::span<float>) {};
  const BoostedTrees trees =
      BoostedTrees::fit(data.rows, {.max_rounds = 0}, nothing, [](std::span<const float>) { return 1.0; }).value();
  EXPECT_EQ(trees.size(), 0);
  const BoostedTrees again = BoostedTrees::from_bytes(trees.to_bytes().value()).value();
  EXPECT_EQ(again.predict(data.rows).value(), std::vector<float>(20, 0.0F));
}

TEST(BoostedTrees, SeveralThreadsMayPredictAtOnce) {
  const Points data = parabola(1000, 7);
  const BoostedTrees trees = fit_squares(data, {.max_rounds = 30}).value();
  const std::vector<float> expected = trees.predict(data.rows).value();
  std::vector<float> found[4];
  {
    std::vector<std::jthread> threads;
    for (std::vector<float>& sums : found) threads.emplace_back([&] { sums = trees.predict(data.rows).value(); });
  }
  for (const std::vector<float>& sums : found) EXPECT_EQ(sums, expected);
}

TEST(BoostedTrees, BadRowsAreErrorsThatNameThem) {
  const auto message = [](Matrix rows) {
    Points data{.rows = std::move(rows), .labels = {}};
    data.labels.resize(data.rows.rows());
    return fit_squares(data, {}).error().message;
  };
  EXPECT_THAT(message({}), HasSubstr("0 rows of 0 numbers"));
  EXPECT_THAT(message({.columns = 4}), HasSubstr("0 rows of 4 numbers"));
  EXPECT_THAT(message({.columns = 2, .values = {0, 1, 2, std::numeric_limits<float>::quiet_NaN()}}),
              HasSubstr("number 1 of row 1 is nan, not finite"));
  EXPECT_THAT(message({.columns = 1, .values = {std::numeric_limits<float>::infinity()}}),
              HasSubstr("number 0 of row 0 is inf"));
  const BoostedTrees trees = fit_squares(parabola(10, 8), {.max_rounds = 2}).value();
  EXPECT_THAT(trees.predict(Matrix{.columns = 2, .values = {1, 2}}).error().message,
              HasSubstr("rows of 2 numbers, they were fitted to rows of 3"));
}

TEST(BoostedTrees, BytesThatAreNoTreesAreErrors) {
  EXPECT_FALSE(BoostedTrees::from_bytes(""));
  EXPECT_FALSE(BoostedTrees::from_bytes("three trees"));
  const std::string bytes = fit_squares(parabola(50, 9), {.max_rounds = 3}).value().to_bytes().value();
  for (const std::size_t size : {3, 8, 20, 27, 40})
    EXPECT_FALSE(BoostedTrees::from_bytes(bytes.substr(0, size))) << size;
  EXPECT_FALSE(BoostedTrees::from_bytes(bytes.substr(0, bytes.size() / 2)));
  std::string fewer = bytes;
  fewer[0] = 2;  // the number of columns
  EXPECT_THAT(BoostedTrees::from_bytes(fewer).error().message, HasSubstr("they read column 2 of 2"));
}

TEST(BoostedTrees, ColumnsThatAllRowsShareAreLeftOut) {
  Points data = parabola(300, 10), wide{.rows = {.columns = 5}, .labels = data.labels};
  for (std::size_t i = 0; i < data.rows.rows(); ++i) {
    const auto row = data.rows.row(i);
    wide.rows.values.insert(wide.rows.values.end(), {7, row[0], 3, row[1], row[2]});
  }
  const TreeSettings settings{.max_rounds = 20};
  const BoostedTrees trees = fit_squares(data, settings).value(), wide_trees = fit_squares(wide, settings).value();
  EXPECT_EQ(wide_trees.columns(), 5u);
  EXPECT_EQ(wide_trees.predict(wide.rows).value(), trees.predict(data.rows).value());
}

TEST(BoostedTrees, RowsThatAreAllAlikeGiveTheirMean) {
  const Points data{.rows = {.columns = 2, .values = std::vector<float>(20, 1.5F)},
                    .labels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
  const BoostedTrees trees = fit_squares(data, {.max_rounds = 200}).value();
  EXPECT_NEAR(trees.predict(data.rows).value()[0], 5.5F, 0.01);
}

}  // namespace
}  // namespace hone::cost
