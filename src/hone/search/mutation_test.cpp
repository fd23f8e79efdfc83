#include "hone/search/mutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/search/landscape_test.h"

namespace hone::search {
namespace {

using space::Knob;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(TileMoves, MoveOneFactor) {
  const Knob knob{"tile", {{1, 1, 12}, {2, 1, 6}, {1, 2, 6}, {2, 2, 3}, {4, 1, 3}, {12, 1, 1}, {3, 4, 1}, {1, 3, 4}}};
  // From (2, 1, 6): the 2 goes to a neighbour, or 6 gives 2 or 6; (3, 4, 1) and (1, 3, 4) are more than one move away.
  EXPECT_THAT(tile_moves(knob, 1), ElementsAre(0, 2, 3, 4, 5));
}

TEST(TileMoves, MoveBetweenANumberAndWhatIsLeftOver) {
  const Knob knob{"tile", {{-1, 1, 1}, {-1, 2, 1}, {-1, 4, 1}, {-1, 1, 2}, {-1, 2, 2}, {-1, 3, 5}}};
  EXPECT_THAT(tile_moves(knob, 1), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(tile_moves(knob, 5), ElementsAre());
}

TEST(TileMoves, AreNoneBetweenPrimes) {
  const Knob knob{"tile", {{0, 7}, {3, 5}, {5, 7}}};
  EXPECT_THAT(tile_moves(knob, 0), IsEmpty());
  EXPECT_THAT(tile_moves(knob, 1), IsEmpty());
}

TEST(NearOptions, AreTheNextInEachNumber) {
  const Knob knob{"tile", {{1, 4}, {2, 1}, {2, 4}, {4, 1}, {4, 2}, {4, 4}, {4, 7}, {6, 4}, {9, 4}}};
  // From (4, 4): the next above and below in each number; (2, 1) changes both, and no factor moves.
  EXPECT_THAT(near_options(knob, 5), UnorderedElementsAre(2, 4, 6, 7));
}

TEST(NearOptions, MoveTheSmallestFactor) {
  const Knob knob{"tile", {{1, 1, 12}, {1, 2, 6}, {2, 1, 6}, {3, 1, 4}, {6, 1, 2}, {12, 1, 1}}};
  EXPECT_THAT(near_options(knob, 2), UnorderedElementsAre(0, 1, 4));
  EXPECT_THAT(near_options(knob, 0), UnorderedElementsAre(1, 2));
}

TEST(NearOptions, AreNoneForSingleNumbers) {
  EXPECT_THAT(near_options({"k", {{1}, {2}, {3}}}, 1), IsEmpty());
  EXPECT_THAT(near_options({"k", {{2, 2}}}, 0), IsEmpty());
}

TEST(Mutator, ChangesTilesMostOfTheTime) {
  const Knobs space(
      {{"s", {{"unroll", {{0}, {16}, {64}}}, {"tile", {{1, 8}, {2, 4}, {4, 2}, {8, 1}}}, {"fixed", {{1}}}}}});
  Mutator mutator(space, 0.9);
  Rng rng(1);
  int tiles = 0;
  for (int i = 0; i < 1000; ++i) {
    const Candidate before = space::random_candidate(space, rng), after = mutator.mutate(before, rng);
    ASSERT_NE(before, after);
    const bool is_tile = before.choices[1] != after.choices[1];
    ASSERT_NE(is_tile, before.choices[0] != after.choices[0]);
    tiles += is_tile;
  }
  EXPECT_NEAR(tiles, 900, 40);
}

TEST(Mutator, TakesAnyOptionWhereNoFactorMoves) {
  const Knobs space({{"s", {{"tile", {{2, 3}, {5, 7}}}}}});
  Rng rng(1);
  EXPECT_EQ(Mutator(space, 0.9).mutate({0, {0}}, rng), (Candidate{0, {1}}));
}

TEST(Mutator, LeavesAloneWhatHasNoChoice) {
  const Knobs space = knobs_of({1, 1});
  Rng rng(1);
  EXPECT_EQ(Mutator(space, 0.9).mutate({0, {0, 0}}, rng), (Candidate{0, {0, 0}}));
}

}  // namespace
}  // namespace hone::search
