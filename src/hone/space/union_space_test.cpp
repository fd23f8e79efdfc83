#include "hone/space/union_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "hone/ir/equal.h"
#include "hone/space/candidate.h"
#include "hone/space/make_space.h"
#include "hone/space/mapping_space.h"
#include "hone/space/run_program_test.h"

namespace hone::space {
namespace {

using ::testing::HasSubstr;

const codegen::Target& one_thread() {
  static const codegen::Target target = codegen::parse_target("cpu -threads=1").value();
  return target;
}

Task softmax_task() {
  const tensor::Tensor x = tensor::placeholder("x", {31, 97});
  return {.algorithms = {{"direct", tensor::lower("softmax", {x}, {*tensor::softmax(x, -1)})}}};
}

TEST(UnionSpace, HasTheCandidatesOfAllAndKeepsTheirNames) {
  const Task task = softmax_task();
  const auto both = make_space("auto", task, one_thread()).value();
  const auto mapping = make_space("mapping", task, one_thread()).value();
  const auto sketch = make_space("sketch", task, one_thread()).value();
  EXPECT_EQ(both->name(), "auto");
  EXPECT_EQ(size_of(*both), size_of(*mapping) + size_of(*sketch));
  EXPECT_EQ(both->first(), mapping->first());
  ASSERT_EQ(both->starts().size(), 2);
  Candidate start = sketch->first();
  EXPECT_EQ(to_json(*both, both->starts()[1]), to_json(*sketch, start));
  start.sketch += mapping->sketches().size();
  EXPECT_EQ(both->starts()[1], start);
  EXPECT_TRUE(ir::equal(both->build(both->first())->program(), mapping->build(mapping->first())->program()));
  Rng rng(/*seed=*/1);
  for (int i = 0; i < 20; ++i) {
    const Candidate candidate = random_candidate(*both, rng);
    const std::string json = to_json(*both, candidate);
    const Result<Candidate> back = parse_candidate(*both, json);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, candidate);
    const Space& own = candidate.sketch < mapping->sketches().size() ? *mapping : *sketch;
    EXPECT_TRUE(parse_candidate(own, json)) << json;
    const std::optional<Candidate> again = both->refit(std::vector<std::string>{json});
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, candidate);
  }
  EXPECT_THAT(parse_candidate(*both, R"({"space":"x","sketch":"direct","decisions":{}})").error().message,
              HasSubstr("space 'x', not of 'auto'"));
}

TEST(AutoSpace, IsTheMappingSpaceWhereThatHasSomethingToDecide) {
  const Task task{.algorithms = {{"direct", product(64, 64, 64)}}, .constants = {1}};
  const auto space = make_space("auto", task, one_thread()).value();
  EXPECT_EQ(space->name(), "mapping");
}

TEST(AutoSpace, HasSketchesWhereAllMappingsAreOneProgram) {
  const tensor::Tensor x = tensor::placeholder("x", {4, 32, 7, 7});
  const tensor::Tensor sums = tensor::compute("sums", {4, 32}, [&](const tensor::Indices& i) {
    return tensor::reduce_sum({7, 7}, [&](const tensor::Indices& k) { return x(i[0], i[1], k[0], k[1]); });
  });
  const Task task{.algorithms = {{"direct", tensor::lower("sums", {x}, {sums})}}};
  const auto mapping = make_space("mapping", task, one_thread()).value();
  EXPECT_GT(size_of(*mapping), 1u);
  std::set<ir::Hash128> programs;
  for (std::uint64_t i = 0; i < size_of(*mapping); i += 7)
    programs.insert(ir::structural_hash(mapping->build(candidate_at(*mapping, i))->program()));
  ASSERT_EQ(programs.size(), 1u) << "if there is a choice now, the test needs another task";
  const auto space = make_space("auto", task, one_thread()).value();
  EXPECT_EQ(space->name(), "auto");
  EXPECT_GT(size_of(*space), size_of(*mapping));
}

TEST(MakeSpace, AnsorHasThoseSketchesOfTheFirstAlgorithmWhoseTilesDivide) {
  const Task task{.algorithms = {{"direct", product(48, 32, 80)}, {"other", product(48, 32, 80)}}, .constants = {1}};
  const auto published = make_space("ansor", task, one_thread()).value();
  const auto all = make_space("sketch", task, one_thread()).value();
  EXPECT_EQ(published->name(), "ansor");
  const auto names = [](const Space& space) {
    std::set<std::string> found;
    for (const Sketch& sketch : space.sketches()) found.insert(sketch.name);
    return found;
  };
  std::set<std::string> expected;
  for (const std::string& name : names(*all))
    if (name.starts_with("direct") && name.find("hardware") == std::string::npos) expected.insert(name);
  EXPECT_FALSE(expected.empty());
  EXPECT_LT(expected.size(), names(*all).size());
  EXPECT_EQ(names(*published), expected);
  const std::string stored = to_json(*published, published->first());
  EXPECT_EQ(parse_candidate(*published, stored).value(), published->first());
}

TEST(MakeSpace, ListsTheNamesThereAre) {
  for (const std::string_view name : space_names()) EXPECT_TRUE(make_space(name, softmax_task(), one_thread())) << name;
  EXPECT_THAT(make_space("moon", softmax_task(), one_thread()).error().message,
              HasSubstr("there is no space 'moon', only: auto, mapping, sketch, ansor, template"));
}

}  // namespace
}  // namespace hone::space
