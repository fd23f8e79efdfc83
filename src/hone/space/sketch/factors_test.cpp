#include "hone/space/sketch/factors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::space {
namespace {

using ::testing::ElementsAre;

TEST(Factorizations, OfTwelveIntoTwoAreListedFromOuterToInner) {
  const std::vector<Factors> expected = {{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 6}, {1, 12}, {2, 1}, {2, 2}, {2, 3},
                                         {2, 6}, {3, 1}, {3, 2}, {3, 4}, {4, 1}, {4, 3},  {6, 1}, {6, 2}, {12, 1}};
  EXPECT_EQ(factorizations(12, 2), expected);
}

TEST(Factorizations, AreAsManyAsAnsorHas) {
  EXPECT_EQ(factorizations(512, 1).size(), 7);
  EXPECT_EQ(factorizations(512, 3).size(), 210);
  EXPECT_EQ(factorizations(512, 4).size(), 700);
  EXPECT_EQ(factorizations(768, 3).size(), 628);
  EXPECT_EQ(factorizations(224, 3).size(), 220);
  EXPECT_EQ(factorizations(7, 3).size(), 4);
  EXPECT_EQ(factorizations(3, 1).size(), 2);
  EXPECT_EQ(factorizations(2039, 3), (std::vector<Factors>{{1, 1, 1}, {1, 2039, 1}, {2039, 1, 1}}));
}

TEST(BlockSizes, ArePowersOfTwoAndDivisors) {
  EXPECT_THAT(block_sizes(1), ElementsAre(1));
  EXPECT_THAT(block_sizes(13), ElementsAre(1, 2, 4, 8, 13));
  EXPECT_THAT(block_sizes(28), ElementsAre(1, 2, 4, 7, 8, 14, 16, 28));
}

TEST(Thinned, KeepsTheFirstAndSpreadsTheRest) {
  std::vector<Factors> options;
  for (std::int64_t i = 0; i < 100; ++i) options.push_back({i});
  EXPECT_THAT(thinned(options, 4), ElementsAre(Factors{0}, Factors{25}, Factors{50}, Factors{75}));
  EXPECT_EQ(thinned(options, 100), options);
}

}  // namespace
}  // namespace hone::space
