#include "hone/search/annealer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "hone/search/landscape_test.h"

namespace hone::search {
namespace {

using ::testing::ElementsAre;

/// Speeds less so much that all scores are negative.
std::vector<double> negative_speed(const Landscape& landscape, std::span<const Candidate> candidates) {
  std::vector<double> scores;
  for (const Candidate& candidate : candidates) scores.push_back(1e-3 / landscape(candidate) - 5);
  return scores;
}

TEST(Acceptance, IsCertainUnlessTheScoreFalls) {
  EXPECT_NEAR(acceptance(-0.1, 0.5), 0.8187, 1e-4);
  EXPECT_NEAR(acceptance(-0.1, 0.1), 0.3679, 1e-4);
  EXPECT_EQ(acceptance(0, 0.5), 1);
  EXPECT_EQ(acceptance(100, 0), 1);
  EXPECT_EQ(acceptance(-1, 0), 0);
}

TEST(Annealer, FindsTheBestWhateverTheSignOfScores) {
  const Knobs space = knobs_of({10, 10, 10, 10});
  const Landscape landscape = bowl({3, 7, 0, 9});
  Annealer annealer(space, {.chains = 64, .steps = 200, .patience = 200});
  Rng rng(1);
  const std::vector<Scored> best = annealer.find_best(
      10, [&](std::span<const Candidate> candidates) { return negative_speed(landscape, candidates); },
      [](const Candidate&) { return false; }, rng);
  ASSERT_EQ(best.size(), 10u);
  EXPECT_EQ(best[0].candidate, (Candidate{0, {3, 7, 0, 9}}));
  for (std::size_t i = 1; i < best.size(); ++i) EXPECT_LE(best[i].score, best[i - 1].score);
}

TEST(Annealer, DoesNotCareForTheScaleOfScores) {
  const Knobs space = knobs_of({10, 10, 10, 10});
  const Landscape landscape = bowl({3, 7, 0, 9});
  std::vector<std::vector<Candidate>> found;
  for (const double scale : {1.0, 4096.0}) {
    Annealer annealer(space, {.chains = 8, .steps = 30});
    Rng rng(1);
    std::vector<Candidate>& candidates = found.emplace_back();
    const auto score = [&](std::span<const Candidate> asked) {
      std::vector<double> scores = negative_speed(landscape, asked);
      for (double& value : scores) value *= scale;
      return scores;
    };
    for (const Scored& scored : annealer.find_best(20, score, [](const Candidate&) { return false; }, rng))
      candidates.push_back(scored.candidate);
  }
  EXPECT_EQ(found[0], found[1]);
}

TEST(Annealer, LeavesOutWhatIsExcludedOrCannotBeBuilt) {
  const Knobs space = knobs_of({5, 5});
  Annealer annealer(space, {.chains = 8, .steps = 100});
  Rng rng(1);
  const auto score = [&](std::span<const Candidate> asked) {
    std::vector<double> scores = negative_speed(bowl({2, 2}), asked);
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (asked[i].choices[0] == 3) scores[i] = -std::numeric_limits<double>::infinity();
    return scores;
  };
  const auto best =
      annealer.find_best(100, score, [](const Candidate& candidate) { return candidate.choices[0] == 2; }, rng);
  EXPECT_EQ(best.size(), 15u);
  for (const Scored& scored : best) {
    EXPECT_NE(scored.candidate.choices[0], 2u);
    EXPECT_NE(scored.candidate.choices[0], 3u);
  }
}

TEST(Annealer, FindsNothingWithAScorerThatKnowsNothing) {
  const Knobs space = knobs_of({5, 5});
  Annealer annealer(space, {});
  Rng rng(1);
  EXPECT_TRUE(annealer
                  .find_best(
                      5, [](std::span<const Candidate>) { return std::vector<double>(); },
                      [](const Candidate&) { return false; }, rng)
                  .empty());
}

TEST(Annealer, ReachesOtherSketches) {
  const Knobs space({sketch_of("slow", {9, 9}), sketch_of("fixed", {})});
  Annealer annealer(space, {.chains = 1, .steps = 100});
  Rng rng(1);
  std::set<std::size_t> sketches;
  const auto score = [](std::span<const Candidate> asked) { return std::vector<double>(asked.size(), 1.0); };
  for (const Scored& scored : annealer.find_best(100, score, [](const Candidate&) { return false; }, rng))
    sketches.insert(scored.candidate.sketch);
  EXPECT_THAT(sketches, ElementsAre(0, 1));
}

TEST(ChooseDiverse, WeighsNewDecisionsAgainstTheScore) {
  const std::vector<Scored> candidates = {
      {{0, {0, 0}}, 1.0}, {{0, {0, 1}}, 0.9}, {{0, {1, 1}}, 0.85}, {{0, {2, 2}}, 0}};
  const auto chosen = [&](double weight) { return choose_diverse(candidates, 2, weight); };
  EXPECT_THAT(chosen(0), ElementsAre(Candidate{0, {0, 0}}, Candidate{0, {0, 1}}));
  EXPECT_THAT(chosen(0.1), ElementsAre(Candidate{0, {0, 0}}, Candidate{0, {1, 1}}));
  EXPECT_EQ(choose_diverse(candidates, 9, 0.1).size(), 4u);
  EXPECT_TRUE(choose_diverse({}, 9, 0.1).empty());
}

TEST(ChooseDiverse, CoversKnobsIfNothingElseCounts) {
  const std::vector<Scored> candidates = {
      {{0, {0, 0}}, 1.0}, {{0, {0, 1}}, 0.9}, {{0, {1, 1}}, 0.85}, {{0, {2, 2}}, 0}};
  EXPECT_THAT(choose_diverse(candidates, 2, 1e9), ElementsAre(Candidate{0, {0, 0}}, Candidate{0, {1, 1}}));
}

}  // namespace
}  // namespace hone::search
