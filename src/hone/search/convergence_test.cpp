// Searches against random search, on landscapes whose bottom is known.

#include <gtest/gtest.h>

#include "hone/search/landscape_test.h"

namespace hone::search {
namespace {

constexpr std::size_t kTrials = 300;
const std::vector<std::size_t> kLowest = {3, 10, 6, 0, 8};

Knobs large_space() { return knobs_of({12, 12, 12, 12, 12}); }

/// A scorer that is off by a factor of up to two, the same one for a candidate each time.
SearchSetup guided(const Space& space, std::uint64_t seed) {
  return {
      .seed = seed, .scorer = [&space](std::span<const Candidate> candidates) {
        std::vector<double> scores;
        for (const Candidate& candidate : candidates)
          scores.push_back(1e-3 / bowl(kLowest)(candidate) * std::exp2(Rng(space::index_of(space, candidate)).unit()));
        return scores;
      }};
}

/// The logarithm of the best time, as a mean over seeds.
double reached(std::string_view name, bool has_scorer, const std::function<void(Options&)>& change = {}) {
  const Knobs space = large_space();
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SearchSetup setup = has_scorer ? guided(space, seed) : SearchSetup{.seed = seed};
    setup.options.annealing.steps = 100;
    setup.options.evolutionary.population = 256;
    if (change) change(setup.options);
    const auto search = make(name, space, setup);
    run(*search, bowl(kLowest), kTrials);
    sum += std::log(bowl(kLowest)(*search->best()));
  }
  return sum / 5;
}

class BeatsRandom : public testing::TestWithParam<std::pair<std::string_view, bool>> {};

INSTANTIATE_TEST_SUITE_P(Names, BeatsRandom,
                         testing::Values(std::pair{"genetic", false}, std::pair{"annealing", true},
                                         std::pair{"evolutionary", true}, std::pair{"evolutionary", false},
                                         std::pair{"droplet", false}),
                         [](const auto& param) {
                           return std::string(param.param.first) + (param.param.second ? "WithScorer" : "");
                         });

TEST_P(BeatsRandom, AtEqualTrials) {
  const auto [name, has_scorer] = GetParam();
  EXPECT_LT(reached(name, has_scorer), reached("random", false) - std::log(1.5));
}

TEST(Evolutionary, CrossoverWorksAsWell) {
  EXPECT_LT(reached("evolutionary", true, [](Options& options) { options.evolutionary.crossover = 0.3; }),
            reached("random", false) - std::log(1.5));
}

TEST(Annealing, NeedsAScorer) {
  const Knobs space = knobs_of({2});
  const auto search = make_search("annealing", space, {});
  ASSERT_FALSE(search);
  EXPECT_EQ(search.error().message, "search 'annealing' needs a cost model");
}

/// Whether a scorer that begins to answer changes what is asked for.
TEST(ModelGuided, IsRandomUntilTheScorerKnowsSomething) {
  const Knobs space = large_space();
  for (const std::string_view name : {"annealing", "evolutionary"}) {
    bool is_trained = false;
    SearchSetup setup = guided(space, 1);
    const Scorer scorer = setup.scorer;
    setup.scorer = [&is_trained, scorer](std::span<const Candidate> candidates) {
      return is_trained ? scorer(candidates) : std::vector<double>();
    };
    const auto search = make(name, space, setup);
    const auto mean = [](const std::vector<Candidate>& candidates) {
      double sum = 0;
      for (const Candidate& candidate : candidates) sum += bowl(kLowest)(candidate);
      return sum / static_cast<double>(candidates.size());
    };
    const std::vector<Candidate> random = search->ask(32);
    is_trained = true;
    const std::vector<Candidate> chosen = search->ask(32);
    EXPECT_LT(mean(chosen), mean(random) / 3) << name;
  }
}

TEST(ModelGuided, KeepsSomeRandomCandidates) {
  const Knobs space = large_space();
  for (const std::string_view name : {"annealing", "evolutionary"}) {
    SearchSetup setup = guided(space, 1);
    setup.options.epsilon = 0.5;
    const std::vector<Candidate> asked = make(name, space, setup)->ask(64);
    ASSERT_EQ(asked.size(), 64u);
    const auto far = [](const Candidate& candidate) { return bowl(kLowest)(candidate) > 20e-3; };
    EXPECT_EQ(std::count_if(asked.begin(), asked.begin() + 32, far), 0) << name;
    EXPECT_GT(std::count_if(asked.begin() + 32, asked.end(), far), 20) << name;
  }
}

}  // namespace
}  // namespace hone::search
