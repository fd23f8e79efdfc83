// What every search promises.

#include "hone/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "hone/search/landscape_test.h"

namespace hone::search {
namespace {

using ::testing::HasSubstr;

/// Two structures, the second of which is better.
Knobs two_sketches() {
  return Knobs({sketch_of("slow", {4, 5}), sketch_of("fast", {3, 4, 2}), sketch_of("fixed", {})});
}

double two_sketches_seconds(const Candidate& candidate) {
  if (candidate.sketch == 2) return 9;
  return (candidate.sketch == 0 ? 5 : 1) + bowl(std::vector<std::size_t>(candidate.choices.size(), 1))(candidate);
}

/// A setup with a scorer that is right but for some noise.
SearchSetup guided(const Landscape& landscape, std::uint64_t seed = 1) {
  return {.seed = seed, .scorer = [landscape](std::span<const Candidate> candidates) {
            std::vector<double> scores;
            for (const Candidate& candidate : candidates) scores.push_back(1 / landscape(candidate));
            return scores;
          }};
}

class EverySearch : public testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Names, EverySearch, testing::ValuesIn(search_names().begin(), search_names().end()),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(EverySearch, AsksForNoCandidateTwice) {
  const Knobs space = two_sketches();
  const auto search = make(GetParam(), space, guided(two_sketches_seconds));
  const std::vector<Candidate> asked = run(*search, two_sketches_seconds, 1000, 7);
  EXPECT_LE(asked.size(), space::size_of(space));
  EXPECT_EQ(std::set<Candidate>(asked.begin(), asked.end()).size(), asked.size());
  EXPECT_TRUE(search->ask(5).empty());
}

TEST_P(EverySearch, IsTheSameForOneSeedInWhateverOrderItIsTold) {
  const Knobs space = knobs_of({8, 8, 8, 8});
  const Landscape landscape = bowl({3, 5, 2, 6});
  SearchSetup setup = guided(landscape);
  setup.options.evolutionary.population = 256;
  const auto a = make(GetParam(), space, setup), b = make(GetParam(), space, setup);
  for (int round = 0; round < 20; ++round) {
    std::vector<Candidate> asked = a->ask(10);
    ASSERT_EQ(asked, b->ask(10));
    for (const Candidate& candidate : asked) a->tell(candidate, outcome_of(landscape(candidate)));
    std::reverse(asked.begin(), asked.end());
    for (const Candidate& candidate : asked) b->tell(candidate, outcome_of(landscape(candidate)));
    ASSERT_EQ(a->best(), b->best());
  }
}

TEST_P(EverySearch, EndsInASpaceOfOneCandidate) {
  for (const Knobs& space : {knobs_of({}), knobs_of({1, 1})}) {
    const auto search = make(GetParam(), space, guided([](const Candidate&) { return 1.0; }));
    EXPECT_FALSE(search->best());
    EXPECT_EQ(search->ask(8), std::vector{space.first()});
    EXPECT_TRUE(search->ask(8).empty());
    search->tell(space.first(), outcome_of(1));
    EXPECT_EQ(search->best(), space.first());
    EXPECT_TRUE(search->ask(8).empty());
  }
}

TEST_P(EverySearch, SurvivesFailuresEverywhere) {
  const Knobs space = two_sketches();
  const double never = std::numeric_limits<double>::infinity();
  const auto search = make(GetParam(), space, guided(two_sketches_seconds));
  EXPECT_FALSE(run(*search, [&](const Candidate&) { return never; }, 1000).empty());
  EXPECT_FALSE(search->best());
}

TEST_P(EverySearch, TakesNotANumberForAFailure) {
  const Knobs space = knobs_of({3, 3});
  const auto search = make(GetParam(), space, guided(bowl({1, 1})));
  run(*search, [](const Candidate& candidate) { return candidate.choices[0] == 2 ? 1 : std::nan(""); }, 5, 1);
  search->tell({0, {2, 0}}, outcome_of(2));
  EXPECT_EQ(search->best()->choices[0], 2u);
}

TEST_P(EverySearch, DoesNotNeedToBeTold) {
  const Knobs space = knobs_of({6, 6, 6});
  const auto search = make(GetParam(), space, guided(bowl({1, 2, 3})));
  std::set<Candidate> asked;
  for (int round = 0; round < 10; ++round)
    for (const Candidate& candidate : search->ask(3)) EXPECT_TRUE(asked.insert(candidate).second);
  EXPECT_FALSE(search->best());
  EXPECT_FALSE(asked.empty());
  search->tell({0, {1, 2, 3}}, outcome_of(1));  // which may never have been asked for
  EXPECT_EQ(search->best(), (Candidate{0, {1, 2, 3}}));
}

TEST_P(EverySearch, ResumesFromKnownCandidates) {
  const Knobs space = knobs_of({5, 5});
  const Landscape landscape = bowl({2, 2});
  SearchSetup setup = guided(landscape);
  std::set<Candidate> known;
  for (std::uint64_t i = 0; i < 25; i += 2) {
    const Candidate candidate = space::candidate_at(space, i);
    known.insert(candidate);
    setup.known.push_back({candidate, outcome_of(landscape(candidate))});
  }
  const auto search = make(GetParam(), space, setup);
  EXPECT_EQ(search->best(), (Candidate{0, {2, 2}}));
  for (const Candidate& candidate : run(*search, landscape, 100)) EXPECT_FALSE(known.contains(candidate));
}

TEST_P(EverySearch, AsksForItsStartsFirst) {
  const Knobs space = knobs_of({5, 5});
  SearchSetup setup = guided(bowl({2, 2}));
  setup.starts = {{0, {4, 4}}, {0, {4, 4}}, {0, {1, 3}}};
  const auto search = make(GetParam(), space, setup);
  EXPECT_EQ(search->ask(2), (std::vector<Candidate>{{0, {4, 4}}, {0, {1, 3}}}));
}

TEST_P(EverySearch, TriesEachProgramOnce) {
  const Knobs space = knobs_of({4, 4, 4});
  SearchSetup setup = guided(bowl({3, 3}));
  setup.canonical = [](const Candidate& candidate) { return candidate.choices[0] * 4 + candidate.choices[1]; };
  const auto search = make(GetParam(), space, setup);
  const std::vector<Candidate> asked = run(*search, bowl({3, 3}), 100);
  std::set<std::uint64_t> programs;
  for (const Candidate& candidate : asked) EXPECT_TRUE(programs.insert(setup.canonical(candidate)).second);
  EXPECT_EQ(search->best()->choices[0], 3);
  EXPECT_EQ(search->best()->choices[1], 3);
}

TEST_P(EverySearch, WorksInSpacesWhoseCandidatesCannotBeNumbered) {
  const Knobs space = knobs_of(std::vector<std::size_t>(30, 50));
  SearchSetup setup = guided(bowl(std::vector<std::size_t>(30, 1)));
  setup.options.evolutionary.population = 64;
  setup.options.annealing.steps = 20;
  const std::vector<Candidate> asked = run(*make(GetParam(), space, setup), bowl(std::vector<std::size_t>(30, 1)), 100);
  EXPECT_EQ(std::set<Candidate>(asked.begin(), asked.end()).size(), 100u);
}

TEST(MakeSearch, NamesWhatItKnows) {
  const Knobs space = knobs_of({2});
  const Result<std::unique_ptr<Search>> search = make_search("magic", space, {});
  ASSERT_FALSE(search);
  EXPECT_THAT(search.error().message, HasSubstr("no search 'magic', only: auto, random, grid, "));
}

TEST(MakeSearch, RefusesNumbersOutOfRange) {
  const auto message = [](const std::function<void(Options&)>& change) {
    const Knobs space = knobs_of({2});
    SearchSetup setup;
    change(setup.options);
    const Result<std::unique_ptr<Search>> search = make_search("random", space, setup);
    return search ? std::string() : search.error().message;
  };
  EXPECT_EQ(message([](Options&) {}), "");
  EXPECT_THAT(message([](Options& o) { o.epsilon = 1.5; }), HasSubstr("epsilon is 1.5, but must be in 0..1"));
  EXPECT_THAT(message([](Options& o) { o.genetic.population = 0; }), HasSubstr("genetic.population is 0"));
  EXPECT_THAT(message([](Options& o) { o.evolutionary.per_trial = 0; }), HasSubstr("evolutionary.per_trial is 0"));
  EXPECT_THAT(message([](Options& o) { o.annealing.diversity_ratio = 0.5; }), HasSubstr("diversity_ratio is 0.5"));
}

TEST(Grid, GoesByNumber) {
  const Knobs space = two_sketches();
  const std::vector<Candidate> asked = run(*make("grid", space), two_sketches_seconds, 1000);
  ASSERT_EQ(asked.size(), space::size_of(space));
  for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(space::index_of(space, asked[i]), i);
}

TEST(Random, VisitsEverythingInTheEnd) {
  const Knobs space = two_sketches();
  EXPECT_EQ(run(*make("random", space), two_sketches_seconds, 1000).size(), space::size_of(space));
}

TEST(Evolutionary, LooksAtNoMoreCandidatesThanTheTrialsAreWorth) {
  const Knobs space = knobs_of(std::vector<std::size_t>(8, 30));
  const Landscape landscape = bowl(std::vector<std::size_t>(8, 11));
  std::size_t looked_at = 0;
  SearchSetup setup = guided(landscape);
  const Scorer scorer = setup.scorer;
  setup.options.evolutionary.population = 2048;
  setup.scorer = [&](std::span<const Candidate> candidates) {
    looked_at += candidates.size();
    return scorer(candidates);
  };
  EXPECT_EQ(run(*make("evolutionary", space, setup), landscape, 160).size(), 160u);
  const EvolutionaryOptions& options = setup.options.evolutionary;
  EXPECT_LE(looked_at, 160 * options.per_trial * (options.generations + 2));
  EXPECT_GE(looked_at, 160 * options.per_trial);
}

TEST(Evolutionary, BeginsNearItsStartsWhenNothingIsKnown) {
  const Knobs space = knobs_of(std::vector<std::size_t>(8, 30));
  SearchSetup setup;
  setup.starts = {{0, std::vector<std::size_t>(8, 15)}};
  std::size_t near = 0;
  for (const Candidate& candidate : make("evolutionary", space, setup)->ask(17)) {
    std::size_t changed = 0;
    for (const std::size_t choice : candidate.choices) changed += choice != 15 ? 1 : 0;
    near += changed <= 1 ? 1 : 0;
  }
  EXPECT_GE(near, 8u);
  EXPECT_LE(near, 10u) << "the others are random";
}

TEST(AutoSearch, TriesEverythingWhereThatIsLittle) {
  const Knobs small = knobs_of({60, 60}), large = knobs_of({60, 60, 60});
  EXPECT_TRUE(tries_all("auto", small));
  EXPECT_FALSE(tries_all("auto", large));
  EXPECT_TRUE(tries_all("exhaustive", large));
  EXPECT_FALSE(tries_all("random", small));
  EXPECT_EQ(make("auto", small, {})->ask(5), make("exhaustive", small, {})->ask(5));
  EXPECT_EQ(make("auto", large, {})->ask(5), make("evolutionary", large, {})->ask(5));
}

TEST(Exhaustive, TriesWhatLooksFastFirst) {
  const Knobs space = two_sketches();
  const std::vector<Candidate> asked =
      run(*make("exhaustive", space, guided(two_sketches_seconds)), two_sketches_seconds, 1000, 4);
  ASSERT_EQ(asked.size(), space::size_of(space));
  for (std::size_t i = 1; i < asked.size(); ++i)
    EXPECT_LE(two_sketches_seconds(asked[i - 1]), two_sketches_seconds(asked[i]));
}

TEST(Exhaustive, FollowsAScorerThatLearns) {
  const Knobs space = knobs_of({10});
  bool is_trained = false;
  SearchSetup setup;
  setup.scorer = [&](std::span<const Candidate> candidates) {
    std::vector<double> scores;
    for (const Candidate& c : candidates) scores.push_back(static_cast<double>(c.choices[0]));
    return is_trained ? scores : std::vector<double>();
  };
  const auto search = make("exhaustive", space, setup);
  EXPECT_EQ(search->ask(1).front().choices[0], 0u);
  is_trained = true;
  EXPECT_EQ(search->ask(1).front().choices[0], 9u);
}

}  // namespace
}  // namespace hone::search
