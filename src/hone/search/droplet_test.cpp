#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "hone/search/droplet_walk.h"
#include "hone/search/landscape_test.h"

namespace hone::search {
namespace {

using ::testing::ElementsAre;

const std::vector<std::size_t> kDims = {4, 3, 2};

/// The numbers of the positions that a walk comes to for the first time, ring by ring.
std::vector<std::uint64_t> first_visits(const Position& centre, DropletMoves moves, std::size_t widest) {
  const Knobs space = knobs_of(kDims);
  DropletWalk walk(kDims, centre, moves, widest);
  std::set<Position> visited = {centre};
  std::vector<std::uint64_t> numbers;
  while (const std::optional<Position> position = walk.next())
    if (visited.insert(*position).second) numbers.push_back(space::index_of(space, {0, *position}));
  return numbers;
}

TEST(DropletWalk, PublishedRingsAroundTheOrigin) {
  EXPECT_THAT(first_visits({0, 0, 0}, DropletMoves::Published, 1), ElementsAre(17, 5, 13, 1, 16, 4, 12));
  EXPECT_THAT(first_visits({0, 0, 0}, DropletMoves::Published, 2), ElementsAre(17, 5, 13, 1, 16, 4, 12, 10, 2, 8));
  EXPECT_THAT(first_visits({0, 0, 0}, DropletMoves::Published, 3),
              ElementsAre(17, 5, 13, 1, 16, 4, 12, 10, 2, 8, 15, 3));
  EXPECT_EQ(first_visits({0, 0, 0}, DropletMoves::Published, 0).size(), 12u);  // 13 of 24 with the centre
}

TEST(DropletWalk, PublishedRingsWrapAtTheTop) {
  EXPECT_THAT(first_visits({3, 2, 1}, DropletMoves::Published, 1),
              ElementsAre(0, 6, 12, 18, 8, 10, 20, 22, 3, 7, 15, 19, 11));
}

TEST(DropletWalk, PublishedDirectionsStartWithAllDecisions) {
  DropletWalk walk({9, 9, 9}, {4, 4, 4}, DropletMoves::Published, 1);
  std::vector<Position> positions;
  while (const std::optional<Position> position = walk.next()) positions.push_back(*position);
  EXPECT_EQ(positions, (std::vector<Position>{{5, 5, 5},
                                              {3, 3, 3},
                                              {5, 5, 4},
                                              {3, 3, 4},
                                              {5, 4, 5},
                                              {3, 4, 3},
                                              {5, 4, 4},
                                              {3, 4, 4},
                                              {4, 5, 5},
                                              {4, 3, 3},
                                              {4, 5, 4},
                                              {4, 3, 4},
                                              {4, 4, 5},
                                              {4, 4, 3}}));
}

TEST(DropletWalk, ChangesOneDecisionAtATimeAndStaysInside) {
  DropletWalk walk({4, 3, 1}, {1, 2, 0}, DropletMoves::Coordinates, 0);
  std::vector<Position> positions;
  while (const std::optional<Position> position = walk.next()) positions.push_back(*position);
  EXPECT_EQ(positions, (std::vector<Position>{{2, 2, 0}, {0, 2, 0}, {1, 1, 0}, {3, 2, 0}, {1, 0, 0}}));
}

TEST(DropletWalk, ChangesPairsLast) {
  DropletWalk walk({2, 3}, {0, 1}, DropletMoves::Diagonals, 1);
  std::vector<Position> positions;
  while (const std::optional<Position> position = walk.next()) positions.push_back(*position);
  EXPECT_EQ(positions, (std::vector<Position>{{1, 1}, {0, 2}, {0, 0}, {1, 2}, {1, 0}}));
}

TEST(DropletWalk, EndsAtOnceWithoutAxes) {
  for (const DropletMoves moves : {DropletMoves::Coordinates, DropletMoves::Diagonals, DropletMoves::Published}) {
    EXPECT_FALSE(DropletWalk({}, {}, moves, 0).next());
    EXPECT_FALSE(DropletWalk({1, 1}, {0, 0}, DropletMoves::Coordinates, 0).next());
  }
}

TEST(DropletWalk, OfManyAxesIsLazy) {
  DropletWalk walk(std::vector<std::size_t>(100, 5), Position(100, 2), DropletMoves::Published, 0);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(walk.next());
}

TEST(Droplet, ReachesTheBottomOfABowl) {
  const Knobs space = knobs_of({9, 7, 12, 5, 3});
  for (const std::size_t batch : {1, 7, 64}) {
    const auto search = make("droplet", space);
    const std::vector<Candidate> asked = run(*search, bowl({7, 1, 11, 2, 0}), 2000, batch);
    EXPECT_EQ(search->best(), (Candidate{0, {7, 1, 11, 2, 0}})) << batch;
    EXPECT_LT(asked.size(), 600u) << batch;
  }
}

TEST(Droplet, ReachesTheBottomByThePublishedMoves) {
  const Knobs space = knobs_of({9, 7, 12});
  SearchSetup setup;
  setup.options.droplet.moves = DropletMoves::Published;
  const auto search = make("droplet", space, setup);
  run(*search, bowl({7, 1, 10}), 2000);
  EXPECT_EQ(search->best(), (Candidate{0, {7, 1, 10}}));
}

TEST(Droplet, FollowsAValleyAcrossTheGrid) {
  const Knobs space = knobs_of({20, 20});
  const auto valley = [](const Candidate& candidate) {
    const double x = static_cast<double>(candidate.choices[0]), y = static_cast<double>(candidate.choices[1]);
    return 1 + (x - y) * (x - y) * 10 + (x + y - 30) * (x + y - 30) * 0.1;
  };
  const auto search = make("droplet", space);
  run(*search, valley, 1000);
  EXPECT_EQ(search->best(), (Candidate{0, {15, 15}}));
}

TEST(Droplet, LeapsOverAHillByWideningItsRings) {
  const Knobs space = knobs_of({10});
  const auto landscape = [](const Candidate& c) { return c.choices[0] == 6 ? 0.5 : c.choices[0] == 0 ? 1.0 : 2.0; };
  SearchSetup setup;
  const auto wide = make("droplet", space, setup);
  run(*wide, landscape, 100, 1);
  EXPECT_EQ(wide->best()->choices[0], 6u);
  setup.options.droplet.widest = 1;
  const auto narrow = make("droplet", space, setup);
  EXPECT_EQ(run(*narrow, landscape, 100, 1).size(), 2u);  // the start and its neighbour
  EXPECT_EQ(narrow->best()->choices[0], 0u);
}

TEST(Droplet, FindsTheNeighboursOfTilesInEachNumber) {
  space::Knob tile{.name = "tile"};
  for (std::int64_t rows = 1; rows <= 12; ++rows)
    for (std::int64_t columns = 1; columns <= 12; ++columns) tile.options.push_back({rows, columns});
  const Knobs space({{"s", {tile}}});
  const auto landscape = [&](const Candidate& candidate) {
    const std::vector<std::int64_t>& numbers = tile.options[candidate.choices[0]];
    return 1 + std::pow(numbers[0] - 9, 2) + std::pow(numbers[1] - 5, 2);
  };
  SearchSetup setup;
  setup.options.droplet.widest = 1;
  const auto search = make("droplet", space, setup);
  EXPECT_LT(run(*search, landscape, 1000, 4).size(), 60u);
  EXPECT_EQ(tile.options[search->best()->choices[0]], (std::vector<std::int64_t>{9, 5}));
}

TEST(Droplet, DescendsFromWhereItIsTold) {
  const Knobs space({sketch_of("a", {5, 5}), sketch_of("b", {9, 9})});
  SearchSetup setup;
  setup.starts = {{1, {8, 8}}};
  const auto search = make("droplet", space, setup);
  for (const Candidate& candidate : run(*search, bowl({6, 7}), 1000)) EXPECT_EQ(candidate.sketch, 1u);
  EXPECT_EQ(search->best(), (Candidate{1, {6, 7}}));
}

/// A schedule in which nothing is to be decided, beside one with knobs.
Knobs with_a_default() { return Knobs({sketch_of("default", {}), sketch_of("tiled", {20, 20})}); }

Landscape bowl_beside(double default_seconds) {
  return [=](const Candidate& c) { return c.sketch == 0 ? default_seconds : bowl({17, 12})(c); };
}

TEST(Droplet, DescendsWhereThereIsSomethingToDecideThoughADefaultLeads) {
  const Knobs space = with_a_default();
  for (const bool is_asked_for : {false, true}) {
    SearchSetup setup;
    if (is_asked_for) setup.starts = {space.first(), {1, {3, 3}}};
    const auto search = make("droplet", space, setup);
    run(*search, bowl_beside(2e-3), 1000);
    EXPECT_EQ(search->best(), (Candidate{1, {17, 12}})) << is_asked_for;
  }
}

TEST(Droplet, ADefaultThatNothingBeatsIsTheBest) {
  const Knobs space = with_a_default();
  SearchSetup setup;
  setup.starts = {space.first()};
  const auto search = make("droplet", space, setup);
  run(*search, bowl_beside(1e-4), 1000);
  EXPECT_EQ(search->best(), space.first());
  search->tell(space.first(), outcome_of(1));
  EXPECT_EQ(search->best(), (Candidate{1, {17, 12}}));
}

TEST(Droplet, StopsAtItsLimitOfTrials) {
  const Knobs space = knobs_of({50, 50});
  SearchSetup setup;
  setup.options.droplet.trials = 20;
  EXPECT_EQ(run(*make("droplet", space, setup), bowl({49, 49}), 1000).size(), 20u);
}

TEST(Droplet, EndsWhenNothingWasBetterForLongEnough) {
  const Knobs space = knobs_of({50, 50});
  SearchSetup setup;
  setup.options.droplet.patience = 10;
  const auto flat = [](const Candidate&) { return 1.0; };
  EXPECT_EQ(run(*make("droplet", space, setup), flat, 1000, 4).size(), 14u) << "4 before anything is known, then 10";
  const auto search = make("droplet", space, setup);
  EXPECT_GT(run(*search, bowl({20, 20}), 1000, 4).size(), 40u) << "each gain begins anew";
  EXPECT_EQ(search->best(), (Candidate{0, {20, 20}}));
}

/// Samples around a time, each off by up to 10 %.
Outcome noisy(double seconds, Rng& rng) {
  Outcome outcome;
  for (int i = 0; i < 5; ++i) outcome.samples.push_back(seconds * (0.9 + 0.2 * rng.unit()));
  std::vector<double> sorted = outcome.samples;
  std::sort(sorted.begin(), sorted.end());
  outcome.seconds = sorted[2];
  return outcome;
}

TEST(Droplet, KeepsTheIncumbentWhenTheDifferenceIsNoise) {
  const Knobs space = knobs_of({9, 9});
  const auto search = make("droplet", space);
  search->ask(1);
  search->tell(space.first(), {1.00, {1.00, 1.05, 0.98}});
  search->tell({0, {1, 0}}, {0.99, {0.97, 1.01, 0.99}});
  EXPECT_EQ(search->best(), space.first());
  search->tell({0, {0, 1}}, {0.97, {0.97}});  // one sample proves nothing
  EXPECT_EQ(search->best(), space.first());
  search->tell({0, {0, 2}}, {0.80, {0.79, 0.81, 0.80}});
  EXPECT_EQ(search->best(), (Candidate{0, {0, 2}}));
}

TEST(Droplet, ReplacesAnIncumbentOfWhichOnlyOneNumberIsKnown) {
  const Knobs space = knobs_of({9, 9});
  SearchSetup setup;
  setup.known = {{space.first(), {1.0, {}}}};
  const auto search = make("droplet", space, setup);
  search->ask(1);
  search->tell({0, {1, 0}}, {0.998, {0.998, 0.998, 0.998}});  // too little to be worth it
  EXPECT_EQ(search->best(), space.first());
  search->tell({0, {0, 1}}, outcome_of(0.9));
  EXPECT_EQ(search->best(), (Candidate{0, {0, 1}}));
}

TEST(Droplet, ReconsidersWhenTheIncumbentIsMeasuredAgain) {
  const Knobs space = knobs_of({9});
  const auto search = make("droplet", space);
  search->ask(2);
  search->tell({0, {0}}, outcome_of(1));
  search->tell({0, {1}}, outcome_of(2));
  search->ask(1);
  EXPECT_EQ(search->best(), (Candidate{0, {0}}));
  search->tell({0, {0}}, outcome_of(3));
  EXPECT_EQ(search->best(), (Candidate{0, {1}}));
}

TEST(Droplet, EndsOnNothingButNoise) {
  const Knobs space = knobs_of({10, 10, 10, 10, 10, 10});
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Rng rng(seed);
    const auto search = make("droplet", space);
    std::size_t trials = 0;
    for (std::vector<Candidate> batch = search->ask(16); !batch.empty() && trials < 20000; batch = search->ask(16)) {
      for (const Candidate& candidate : batch) search->tell(candidate, noisy(1, rng));
      trials += batch.size();
    }
    EXPECT_LT(trials, 2000u) << seed;
  }
}

TEST(Droplet, GetsNearTheBottomThroughNoise) {
  const Knobs space = knobs_of({12, 12, 12});
  const Landscape landscape = bowl({8, 3, 10});
  Rng rng(1);
  const auto search = make("droplet", space);
  for (std::vector<Candidate> batch = search->ask(8); !batch.empty(); batch = search->ask(8))
    for (const Candidate& candidate : batch) search->tell(candidate, noisy(landscape(candidate), rng));
  EXPECT_LE(landscape(*search->best()), 3e-3);  // at most two single steps away
}

TEST(ExploreThenExploit, DescendsFromTheBestThatWasExplored) {
  const Knobs space({sketch_of("a", {20, 20}), sketch_of("b", {20, 20, 20})});
  const auto landscape = [](const Candidate& candidate) {
    return candidate.sketch == 0 ? 1.0 : bowl({17, 12, 5})(candidate);
  };
  SearchSetup setup;
  const auto search = explore_then_exploit(make("random", space, setup), 50, space, setup);
  const std::vector<Candidate> asked = run(*search, landscape, 1000, 16);
  EXPECT_EQ(search->best(), (Candidate{1, {17, 12, 5}}));
  EXPECT_EQ(std::set<Candidate>(asked.begin(), asked.end()).size(), asked.size());
  const std::vector<Candidate> explored = run(*make("random", space, setup), landscape, 50, 16);
  EXPECT_TRUE(std::equal(explored.begin(), explored.end(), asked.begin()));
}

TEST(ExploreThenExploit, DescendsWhereThereIsSomethingToDecideThoughADefaultLeads) {
  const Knobs space = with_a_default();
  SearchSetup setup;
  setup.starts = {space.first()};
  const auto search = explore_then_exploit(make("random", space, setup), 5, space, setup);
  EXPECT_GT(run(*search, bowl_beside(2e-3), 1000).size(), 5u);
  EXPECT_EQ(search->best(), (Candidate{1, {17, 12}}));
}

TEST(ExploreThenExploit, EndsWhenThereIsNothingBetterAround) {
  const Knobs space = knobs_of({50, 50, 50});
  SearchSetup setup;
  const auto flat = [](const Candidate&) { return 1.0; };
  const auto search = explore_then_exploit(make("random", space, setup), 50, space, setup);
  EXPECT_LT(run(*search, flat, 10'000, 16).size(), 100u);
}

TEST(ExploreThenExploit, UsesWhatIsToldLate) {
  const Knobs space = knobs_of({20, 20});
  SearchSetup setup;
  const auto search = explore_then_exploit(make("random", space, setup), 4, space, setup);
  const std::vector<Candidate> late = search->ask(4);
  const std::vector<Candidate> around_first = search->ask(3);
  EXPECT_EQ(around_first.front(), space.first());
  search->tell(late[2], outcome_of(1));
  EXPECT_EQ(search->best(), late[2]);
  for (const Candidate& candidate : search->ask(4)) {
    const Candidate& centre = late[2];
    EXPECT_EQ((candidate.choices[0] != centre.choices[0]) + (candidate.choices[1] != centre.choices[1]), 1);
  }
}

TEST(ExploreThenExploit, GoesOnWhenNothingIsLeftToExplore) {
  const Knobs space = knobs_of({2});
  SearchSetup setup;
  const auto search = explore_then_exploit(make("grid", space, setup), 100, space, setup);
  EXPECT_EQ(run(*search, bowl({1}), 100).size(), 2u);
  EXPECT_EQ(search->best()->choices[0], 1u);
}

}  // namespace
}  // namespace hone::search
