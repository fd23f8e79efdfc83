#include "hone/cost/touch_features.h"

#include <cmath>
#include <gtest/gtest.h>

#include "hone/cost/store_features.h"
#include "hone/cost/testing_test.h"
#include "hone/schedule/primitives.h"

namespace hone::cost {
namespace {

using namespace schedule;

const LoopTouch& touch_of(const TouchAnalysis& analysis, std::size_t loop, std::string_view access) {
  for (const LoopTouch& touch : analysis.loops().at(loop).touches)
    if (analysis.accesses()[static_cast<std::size_t>(touch.access)].name == access) return touch;
  ADD_FAILURE() << "loop " << loop << " does not touch " << access;
  static const LoopTouch kNone{};
  return kNone;
}

void expect_touch(const TouchAnalysis& analysis, std::size_t loop, std::string_view access, double stride, double count,
                  double reuse) {
  const LoopTouch& touch = touch_of(analysis, loop, access);
  EXPECT_EQ(touch.stride, stride) << loop << ' ' << access;
  EXPECT_EQ(touch.count, count) << loop << ' ' << access;
  EXPECT_EQ(touch.reuse, reuse) << loop << ' ' << access;
}

TEST(TouchFeatures, AMatmulHasTheCountsCountedByHand) {
  const TouchAnalysis analysis = TouchAnalysis::analyze(matmul(4, 8, 16)).value();
  ASSERT_EQ(analysis.loops().size(), 3u);
  // C_0 is the init's store, C_1 the update's, C_2 its load
  expect_touch(analysis, 2, "A_0", 1, 16, 1);
  expect_touch(analysis, 1, "A_0", 0, 16, 8);
  expect_touch(analysis, 0, "A_0", 16, 64, 8);
  expect_touch(analysis, 2, "B_0", 8, 16, 1);
  expect_touch(analysis, 0, "B_0", 0, 128, 4);
  expect_touch(analysis, 2, "C_1", 0, 1, 16);
  expect_touch(analysis, 0, "C_1", 8, 32, 16);
  expect_touch(analysis, 1, "C_0", 1, 8, 1);  // the init does not stand in the loop that only reduces
  EXPECT_EQ(analysis.loops()[2].touches.size(), 4u);
  EXPECT_EQ(analysis.loops()[0].touches.size(), 5u);
  EXPECT_EQ(analysis.loops()[1].depth, 2);
  EXPECT_EQ(analysis.loops()[1].topdown, 32);
  EXPECT_EQ(analysis.loops()[1].bottomup, 128);
  EXPECT_EQ(analysis.loops()[2].adds, 1);
  EXPECT_EQ(analysis.loops()[2].multiplies, 1);
  EXPECT_EQ(analysis.loops()[0].adds, 0);
}

TEST(TouchFeatures, ItervarRowsListLoopsInTheOrderTheyAreMet) {
  const std::vector<float> features = itervar_features(
      TouchAnalysis::analyze(replay(matmul(4, 8, 16), {Vectorize{"j"}, Reorder{{"i", "k", "j"}}}).value()).value());
  ASSERT_EQ(features.size(), 3 * 18 + 5 * 6 + 4 * 6 + 5 * 6 + 1u);
  EXPECT_FLOAT_EQ(features[0], static_cast<float>(slog(4)));
  EXPECT_EQ(features[1], 1);      // depth
  EXPECT_EQ(features[4 + 9], 1);  // i is serial
  const std::size_t second = 18 + 5 * 6, third = second + 18 + 4 * 6;
  EXPECT_FLOAT_EQ(features[second], static_cast<float>(slog(16)));
  EXPECT_FLOAT_EQ(features[third], static_cast<float>(slog(8)));
  EXPECT_EQ(features[third + 1], 3);
  EXPECT_EQ(features[third + 4 + 7], 1);  // j is vectorised
  EXPECT_EQ(features[third + 15], 1);     // one addition right below it
}

TEST(TouchFeatures, WorkersHaveTheirShareOfTheCounts) {
  const TouchAnalysis analysis = TouchAnalysis::analyze(replay(matmul(4, 8, 16), {Parallel{"i"}}).value()).value();
  EXPECT_EQ(touch_of(analysis, 0, "A_0").thread_count, 64.0 / 16);
  EXPECT_EQ(touch_of(analysis, 0, "A_0").thread_reuse, 1);
  EXPECT_EQ(touch_of(analysis, 0, "B_0").thread_count, 1);
  EXPECT_EQ(touch_of(analysis, 0, "B_0").thread_reuse, 4);
  EXPECT_EQ(touch_of(analysis, 1, "A_0").thread_count, 0);
}

TEST(TouchFeatures, CurvesAreSampledAtTheNextLowerPoint) {
  const std::vector<float> features = curve_features(TouchAnalysis::analyze(matmul(4, 8, 16)).value());
  ASSERT_EQ(features.size(), 3 * 160 + 1u);  // A, B and C
  // A: counts 16, 16, 64 and reuses 1, 8, 8 below k, j, i; as logarithms, with a 0 before: (0, 4, 4, 6) and (0, 0, 3,
  // 3)
  EXPECT_EQ(features[0], 0);  // at 0: the first point
  EXPECT_EQ(features[1], 0);
  EXPECT_EQ(features[2 * 3], 0);  // at 3: still the first, 3 behind
  EXPECT_EQ(features[2 * 3 + 1], 3);
  EXPECT_EQ(features[2 * 4], 3);  // at 4: the last of the points at 4
  EXPECT_EQ(features[2 * 4 + 1], 0);
  EXPECT_EQ(features[2 * 9], 3);  // at 9: the last point, 3 behind
  EXPECT_EQ(features[2 * 9 + 1], 3);
  EXPECT_EQ(features[40 + 0], 4);      // reuse → count at 0: the last of the two points at 0 has count 4
  EXPECT_EQ(features[40 + 2 * 3], 6);  // and at 3: 6
}

TEST(TouchFeatures, CurvesHaveOneLengthForAllShapes) {
  const auto length = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return curve_features(TouchAnalysis::analyze(matmul(m, n, k)).value()).size();
  };
  EXPECT_EQ(length(4, 8, 16), length(1, 7, 13));
  EXPECT_EQ(length(4, 8, 16), length(0, 1, 1));
}

TEST(TouchFeatures, OddShapesGiveFiniteNumbers) {
  for (const std::int64_t m : {0, 1, 7})
    for (const std::int64_t k : {0, 1, 13}) {
      const TouchAnalysis analysis = TouchAnalysis::analyze(matmul(m, 5, k)).value();
      for (const float value : itervar_features(analysis)) EXPECT_TRUE(std::isfinite(value));
      for (const float value : curve_features(analysis)) EXPECT_TRUE(std::isfinite(value));
    }
}

}  // namespace
}  // namespace hone::cost
