#include "hone/search/ranking.h"

#include <gtest/gtest.h>
#include <limits>

namespace hone::search {
namespace {

TEST(Ranking, KeepsTheBestEachOnce) {
  Ranking ranking(2);
  EXPECT_TRUE(ranking.offer({0, {1}}, -3));
  EXPECT_FALSE(ranking.offer({0, {1}}, -3));
  EXPECT_TRUE(ranking.offer({0, {2}}, 1));
  EXPECT_TRUE(ranking.offer({0, {3}}, 0));
  EXPECT_FALSE(ranking.offer({0, {4}}, 0));
  EXPECT_FALSE(ranking.offer({0, {5}}, -std::numeric_limits<double>::infinity()));
  const std::vector<Scored> best = ranking.best();
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].candidate.choices[0], 2u);
  EXPECT_EQ(best[1].candidate.choices[0], 3u);
  EXPECT_TRUE(Ranking(0).best().empty());
  EXPECT_FALSE(Ranking(0).offer({0, {1}}, 1));
}

TEST(Roulette, DrawsByWeight) {
  Rng rng(1);
  const Roulette roulette({1, 0, 3});
  int counts[3] = {};
  for (int i = 0; i < 4000; ++i) ++counts[roulette.spin(rng)];
  EXPECT_NEAR(counts[0], 1000, 100);
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[2], 3000, 100);
}

TEST(Roulette, IsFairIfNothingHasWeight) {
  Rng rng(1);
  const Roulette roulette({0, 0});
  int firsts = 0;
  for (int i = 0; i < 1000; ++i) firsts += roulette.spin(rng) == 0;
  EXPECT_NEAR(firsts, 500, 60);
}

}  // namespace
}  // namespace hone::search
