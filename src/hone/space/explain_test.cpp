#include "hone/space/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/space/run_program_test.h"
#include "hone/space/sketch/sketch_space.h"
#include "hone/tensor/definitions.h"

namespace hone::space {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

codegen::Target avx512() { return codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1").value(); }

std::unique_ptr<Space> space_of(std::string_view name, const ir::Function& naive) {
  return make_space(name, {.algorithms = {{"direct", naive}}, .constants = {1}}, avx512()).value();
}

ir::Function sum_of_two() {
  const tensor::Tensor x = tensor::placeholder("x", {5, 7});
  return tensor::lower(
      "twice", {x},
      {tensor::compute("y", tensor::axes_of(x.shape()), [&](const tensor::Indices& i) { return x(i) + x(i); })});
}

TEST(Explain, OfAFewCandidatesTriesEachOnce) {
  const std::unique_ptr<Space> space = space_of("mapping", product(37, 113, 64));
  Rng rng(/*seed=*/1);
  const Explanation explained = explain(*space, 1000, rng);
  EXPECT_TRUE(explained.is_all);
  EXPECT_EQ(explained.drawn, size_of(*space));
  EXPECT_EQ(explained.built, explained.drawn) << explained.to_text();
  EXPECT_GT(explained.programs, 10);
  EXPECT_LE(explained.programs, explained.built);
  EXPECT_THAT(explained.to_text(), HasSubstr("candidates in all"));
}

TEST(Explain, OfManyCandidatesDrawsSome) {
  const std::unique_ptr<Space> space = space_of("sketch", product(37, 113, 64));
  Rng rng(/*seed=*/1);
  const Explanation explained = explain(*space, 30, rng);
  EXPECT_FALSE(explained.is_all);
  EXPECT_EQ(explained.drawn, 30);
  const std::size_t rejected = std::accumulate(explained.rejected.begin(), explained.rejected.end(), std::size_t{0},
                                               [](std::size_t sum, const auto& reason) { return sum + reason.second; });
  EXPECT_EQ(explained.built + rejected, explained.drawn);
  EXPECT_THAT(explained.to_text(), HasSubstr("drawn at random"));
}

TEST(Explanation, CountsReasonsWithoutNamesAndNumbers) {
  const Explanation explanation{.drawn = 10,
                                .built = 4,
                                .programs = 3,
                                .rejected = {{"split: factor # of loop '…'", 2}, {"unroll: too many", 4}}};
  EXPECT_EQ(explanation.to_text(),
            "4 of 10 candidates drawn at random can be built, and are 3 different programs\n"
            "       4  unroll: too many\n       2  split: factor # of loop '…'\n");
}

TEST(Notes, OfTheMappingSpaceNameTilesBeyondTheRegisters) {
  const Notes notes = space_of("mapping", product(37, 113, 64))->notes();
  EXPECT_FALSE(notes.is_fallback);
  EXPECT_THAT(notes.left_out, Contains(Field(&LeftOut::reason, HasSubstr("32 vector registers"))));
  EXPECT_THAT(notes.left_out, Contains(Field(&LeftOut::reason, HasSubstr("hide the latency"))));
  std::uint64_t tiles = 0;
  for (const LeftOut& left_out : notes.left_out)
    if (left_out.what == "register tiles of 'direct'") tiles += left_out.count;
  const std::unique_ptr<Space> space = space_of("mapping", product(37, 113, 64));
  EXPECT_EQ(tiles + space->sketches()[0].knobs[0].options.size(), 41) << "4 by 10 tiles, and what the rules would do";
}

TEST(Notes, OfASpaceWithNothingToDecideSayThatItFallsBack) {
  const Notes notes = space_of("mapping", sum_of_two())->notes();
  EXPECT_TRUE(notes.is_fallback);
  EXPECT_THAT(notes.left_out, Contains(Field(&LeftOut::reason, HasSubstr("no reduction"))));
}

TEST(Notes, OfTheSketchSpaceCountTheOptionsOfEachKnob) {
  const std::unique_ptr<Space> space = space_of("sketch", product(37, 113, 64));
  EXPECT_FALSE(space->notes().is_fallback);
  EXPECT_THAT(space->notes().left_out, Contains(Field(&LeftOut::reason, HasSubstr("32 vector registers"))));
  for (const LeftOut& left_out : space->notes().left_out) {
    EXPECT_GT(left_out.count, 0) << left_out.what;
    EXPECT_FALSE(left_out.reason.empty()) << left_out.what;
  }
}

TEST(Notes, OfASketchSpaceNameWhatIsBeyondItsLimits) {
  const Task task{.algorithms = {{"direct", product(37, 113, 64)}}, .constants = {1}};
  const auto space = make_sketch_space(task, avx512(), {.rules = {}, .most_sketches = 1});
  ASSERT_TRUE(space);
  EXPECT_THAT((*space)->notes().left_out, Contains(Field(&LeftOut::reason, "there are 1 sketches already")));
}

TEST(Notes, OfASketchThatCannotBeBuiltHaveItsError) {
  SketchOptions options;
  options.rules.push_back(
      {"broken", [](const Derivation&, const std::string&, const RuleContext&) { return Verdict::ApplyAndStop; },
       [](const Derivation& derivation, const std::string& block, const RuleContext&) {
         Derivation next = derivation;
         next.pending.pop_back();
         next.actions.push_back({.block = block, .name = "broken", .apply = [](Building&) -> Result<void> {
                                   return error(ErrorCode::IllegalStep, "this never works");
                                 }});
         return std::vector<Derivation>{next};
       }});
  const Task task{.algorithms = {{"direct", product(5, 7, 3)}}, .constants = {1}};
  const auto space = make_sketch_space(task, avx512(), options);
  ASSERT_TRUE(space);
  EXPECT_TRUE((*space)->notes().is_fallback);
  EXPECT_EQ((*space)->sketches().front().name, "untouched");
  EXPECT_THAT((*space)->notes().left_out, Contains(Field(&LeftOut::reason, "this never works")));
}

}  // namespace
}  // namespace hone::space
