#include "hone/space/candidate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace hone::space {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A space of nothing but knobs.
class Knobs : public Space {
 public:
  explicit Knobs(std::vector<Sketch> sketches) : sketches_(std::move(sketches)) {}

  std::string_view name() const override { return "knobs"; }
  const std::vector<Sketch>& sketches() const override { return sketches_; }
  Candidate first() const override { return {0, std::vector<std::size_t>(sketches_[0].knobs.size(), 0)}; }
  Result<schedule::Schedule> build(const Candidate&) const override {
    return error(ErrorCode::Unsupported, "there are no programs here");
  }

 private:
  std::vector<Sketch> sketches_;
};

Knobs small_space() {
  return Knobs({{"direct", {{"rows", {{1}, {2}, {4}, {6}}}, {"columns", {{1, 16}, {2, 16}, {4, 16}}}, {"on", {{0}}}}},
                {"other", {{"rows", {{1}, {2}}}}},
                {"fixed", {}}});
}

TEST(Candidate, NumbersRunThroughAllSketchesAndBack) {
  const Knobs space = small_space();
  ASSERT_EQ(size_of(space), 4 * 3 + 2 + 1);
  std::set<Candidate> seen;
  for (std::uint64_t i = 0; i < size_of(space); ++i) {
    const Candidate candidate = candidate_at(space, i);
    EXPECT_EQ(index_of(space, candidate), i);
    EXPECT_TRUE(seen.insert(candidate).second);
  }
  EXPECT_THAT(candidate_at(space, 5).choices, ElementsAre(1, 1, 0));
}

TEST(Candidate, HugeSpacesHaveTheLargestSize) {
  std::vector<std::vector<std::int64_t>> options(1000, {1});
  EXPECT_EQ(size_of(Knobs({{"huge", std::vector<Knob>(10, Knob{"k", options})}})),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(Candidate, MutationChangesExactlyOneDecision) {
  const Knobs space = small_space();
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    const Candidate before = random_candidate(space, rng), after = mutate(space, before, rng);
    ASSERT_EQ(after.sketch, before.sketch);
    int changes = 0;
    for (std::size_t k = 0; k < before.choices.size(); ++k) changes += before.choices[k] != after.choices[k];
    EXPECT_EQ(changes, space.sketches()[before.sketch].name == "fixed" ? 0 : 1);
    EXPECT_LT(index_of(space, after), size_of(space));
  }
}

TEST(Candidate, AChildHasTheDecisionsAboutAStageFromOneParent) {
  const std::vector<std::vector<std::int64_t>> options = {{1}, {2}};
  const Knobs space({{"direct",
                      {{"pad.where", options},
                       {"conv.y", options},
                       {"conv.x", options},
                       {"relu.parallel", options},
                       {"conv.copy w.packed", options},
                       {"conv.rf.sums", options},
                       {"pad.parallel", options}}}});
  Rng rng(2);
  std::set<Candidate> children;
  for (int i = 0; i < 200; ++i)
    children.insert(cross(space, {0, {0, 0, 0, 0, 0, 0, 0}}, {0, {1, 1, 1, 1, 1, 1, 1}}, rng));
  for (const Candidate& child : children) {
    const std::vector<std::size_t>& is_from_b = child.choices;
    EXPECT_EQ(is_from_b[0], is_from_b[6]);
    for (const std::size_t other : {2, 4, 5}) EXPECT_EQ(is_from_b[1], is_from_b[other]);
  }
  EXPECT_EQ(children.size(), 8u) << "each of the three stages from either parent";
}

TEST(Candidate, AKnobWithoutABlockIsAStage) {
  Rng rng(2);
  const Candidate a{0, {0, 1, 0}}, b{0, {3, 2, 0}};
  std::set<Candidate> children;
  for (int i = 0; i < 100; ++i) children.insert(cross(small_space(), a, b, rng));
  EXPECT_THAT(children, ElementsAre(Candidate{0, {0, 1, 0}}, Candidate{0, {0, 2, 0}}, Candidate{0, {3, 1, 0}},
                                    Candidate{0, {3, 2, 0}}));
}

TEST(Candidate, NeighboursStopAtTheEnds) {
  const Knobs space = small_space();
  EXPECT_THAT(neighbours(space, {0, {0, 1, 0}}),
              ElementsAre(Candidate{0, {1, 1, 0}}, Candidate{0, {0, 0, 0}}, Candidate{0, {0, 2, 0}}));
  EXPECT_EQ(neighbours(space, {0, {0, 1, 0}}, 3).size(), 5);
  EXPECT_TRUE(neighbours(space, {2, {}}).empty());
}

TEST(Candidate, JsonKeepsNamesAndValues) {
  const Knobs space = small_space();
  EXPECT_EQ(to_json(space, {0, {3, 1, 0}}),
            R"({"decisions":{"columns":[2,16],"on":[0],"rows":[6]},"sketch":"direct","space":"knobs"})");
  for (std::uint64_t i = 0; i < size_of(space); ++i) {
    const Result<Candidate> back = parse_candidate(space, to_json(space, candidate_at(space, i)));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(index_of(space, *back), i);
  }
}

TEST(Candidate, AnErrorNamesWhatIsWrong) {
  const Knobs space = small_space();
  const auto message = [&](std::string_view json) { return parse_candidate(space, json).error().message; };
  EXPECT_THAT(message("[]"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(message("{"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(message(R"({"sketch":"direct","decisions":{}})"), HasSubstr("'space' must be a string"));
  EXPECT_THAT(message(R"({"space":"x","sketch":"direct","decisions":{}})"), HasSubstr("space 'x', not of 'knobs'"));
  EXPECT_THAT(message(R"({"space":"knobs","sketch":"y","decisions":{}})"),
              HasSubstr("no sketch 'y', only: direct, other, fixed"));
  EXPECT_THAT(message(R"({"space":"knobs","sketch":"other","decisions":{}})"), HasSubstr("knob 'rows'"));
  EXPECT_THAT(message(R"({"space":"knobs","sketch":"other","decisions":{"rows":[3]}})"),
              HasSubstr("no option [3], only: [[1], [2]]"));
  EXPECT_THAT(message(R"({"space":"knobs","sketch":"other","decisions":{"rows":"1"}})"),
              HasSubstr("'rows' must be a list of whole numbers, not \"1\""));
  EXPECT_THAT(message(R"({"space":"knobs","sketch":"other","decisions":{"rows":[1],"a":[1]}})"),
              HasSubstr("2 decisions"));
}

TEST(Candidate, OfAnotherTaskBecomesTheNearest) {
  const Knobs space = small_space();
  const auto nearest = nearest_candidate(
      space, R"({"space":"knobs","sketch":"direct","decisions":{"rows":[5],"columns":[8,16],"new":[1]}})");
  EXPECT_EQ(nearest, (Candidate{0, {3, 2, 0}}));
  EXPECT_FALSE(nearest_candidate(space, R"({"space":"knobs","sketch":"gone","decisions":{}})"));
  EXPECT_FALSE(nearest_candidate(space, "nonsense"));
}

}  // namespace
}  // namespace hone::space
