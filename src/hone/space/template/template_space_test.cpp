#include "hone/space/template/template_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "hone/ir/equal.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/space/candidate.h"
#include "hone/space/default_program.h"
#include "hone/space/make_space.h"
#include "hone/space/run_program_test.h"
#include "hone/space/template/templates.h"
#include "hone/tensor/catalogue.h"

namespace hone::space {
namespace {

using tensor::placeholder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const codegen::Target& two_threads() {
  static const codegen::Target target = codegen::parse_target("cpu -threads=2").value();
  return target;
}

Task task_with_constants(const ir::Function& naive, std::vector<std::size_t> constants = {1}) {
  return {.algorithms = {{"direct", naive}}, .constants = std::move(constants)};
}

/// A space of one template that declares and does nothing else.
Result<std::unique_ptr<Space>> space_of_knobs(const std::function<void(Config&)>& declare) {
  const Template made{"mine", nullptr,
                      [=](Config& config, schedule::Schedule&, const TemplateContext&) -> Result<void> {
                        declare(config);
                        return {};
                      }};
  return make_template_space(task_with_constants(product(4, 4, 4)), two_threads(), {made});
}

TEST(TemplateSpace, OfTheTutorialsConvolutionIsAsLargeAsAutoTvms) {
  const auto space = space_of_knobs([](Config& config) {
    for (const auto& [name, extent] : {std::pair{"tile_f", 512}, {"tile_y", 7}, {"tile_x", 7}})
      config.split(name, extent, {.outputs = 4});
    for (const auto& [name, extent] : {std::pair{"tile_rc", 512}, {"tile_ry", 3}, {"tile_rx", 3}})
      config.split(name, extent, {.outputs = 3});
    config.choose("auto_unroll_max_step", {0, 512, 1500});
    config.choose("unroll_explicit", {0, 1});
  });
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ((*space)->sketches()[0].name, "direct mine");
  EXPECT_EQ(size_of((*space)->sketches()[0]), 10'454'400);
}

TEST(TemplateSpace, NumbersCandidatesInMixedRadix) {
  const auto space = space_of_knobs([](Config& config) {
    config.choose("a", {0, 1, 2, 3});
    config.choose("b", {0, 1, 2});
    config.choose("c", {0, 1});
  });
  EXPECT_EQ(candidate_at(**space, 17), (Candidate{0, {1, 1, 1}}));
  EXPECT_EQ(candidate_at(**space, 23), (Candidate{0, {3, 2, 1}}));
  EXPECT_EQ(index_of(**space, {0, {1, 1, 1}}), 17);
  EXPECT_EQ(size_of(**space), 24 + 1);  // and the default
}

TEST(TemplateSpace, ACandidateGetsWhatItDecided) {
  struct Seen {
    Factors tile;
    std::vector<std::string> order;
    std::vector<Mark> marks;
    std::vector<std::size_t> places;
    std::int64_t number = 0;
  } seen;
  const auto space = space_of_knobs([&](Config& config) {
    seen.tile = config.split("tile", 8, {.outputs = 3, .fallback = {-1, 2, 2}});
    seen.order = config.reorder("order", {"i", "j"}, {.fallback = 1});
    seen.marks = config.annotate("marks", 2, "try_unroll");
    seen.places = config.locate("where", 3);
    seen.number = config.choose("number", {5, 7}, 1);
  });
  ASSERT_TRUE(space) << space.error().message;
  // Declaring takes the fallbacks.
  EXPECT_THAT(seen.tile, ElementsAre(schedule::kRest, 2, 2));
  EXPECT_THAT(seen.order, ElementsAre("j", "i"));
  EXPECT_EQ(seen.number, 7);
  EXPECT_THAT((*space)->starts(), ElementsAre(Candidate{0, {5, 1, 0, 0, 1}}, Candidate{1, {}}));
  EXPECT_EQ((*space)->first(), (Candidate{1, {}}));
  ASSERT_TRUE((*space)->build({0, {9, 0, 2, 1, 0}}));
  EXPECT_THAT(seen.tile, ElementsAre(schedule::kRest, 1, 8));
  EXPECT_THAT(seen.order, ElementsAre("i", "j"));
  EXPECT_THAT(seen.marks, ElementsAre(Mark::Unroll, Mark::None));
  EXPECT_THAT(seen.places, ElementsAre(1));
  EXPECT_EQ(seen.number, 5);
}

TEST(TemplateSpace, FiltersAreAskedWhenACandidateIsBuilt) {
  int asked = 0;
  const auto space = space_of_knobs([&](Config& config) {
    config.split("a", 1 << 20, {.outputs = 4});
    config.split("b", 1 << 20, {.outputs = 4});
    config.keep_if([&](const Decisions& decided) {
      ++asked;
      return decided.find("a")->second[3] * decided.find("b")->second[3] <= 64;
    });
  });
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(asked, 1);  // of the fallback
  const Sketch& sketch = (*space)->sketches()[0];
  EXPECT_TRUE((*space)->build({0, {0, 0}}));
  const Result<schedule::Schedule> refused =
      (*space)->build({0, {sketch.knobs[0].options.size() - 1, sketch.knobs[1].options.size() - 1}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the filter of 'mine' leaves this candidate out"));
  EXPECT_EQ(asked, 3);
}

TEST(TemplateSpace, AnErrorNamesTheTemplateThatIsWrong) {
  const auto message = [](const std::function<void(Config&)>& declare) {
    return space_of_knobs(declare).error().message;
  };
  EXPECT_THAT(message([](Config& config) { config.split("tile", 0); }),
              HasSubstr("template 'mine': knob 'tile': split: the extent 0 is below 1"));
  EXPECT_THAT(message([](Config& config) { config.choose("a", {}); }), HasSubstr("knob 'a': no number is listed"));
  EXPECT_THAT(message([](Config& config) { config.choose("a", {1}, 1); }),
              HasSubstr("knob 'a': the fallback 1 is outside the options 0..0"));
  EXPECT_THAT(message([](Config& config) {
                config.choose("a", {1});
                config.choose("a", {1});
              }),
              HasSubstr("knob 'a' is declared twice"));
  EXPECT_THAT(message([](Config& config) { config.keep_if([](const Decisions&) { return false; }); }),
              HasSubstr("its filter leaves its own fallback out"));
  EXPECT_THAT(make_template_space({}, two_threads()).error().message, HasSubstr("no algorithm"));
}

TEST(TemplateSpace, RefusesATemplateThatDeclaresOtherKnobsLater) {
  int runs = 0;
  const auto space = space_of_knobs([&](Config& config) { config.choose(runs++ == 0 ? "a" : "b", {1, 2}); });
  EXPECT_THAT((*space)->build({0, {0}}).error().message, HasSubstr("knob 'b' was not declared"));
}

TEST(TemplateSpace, OfTasksThatNoTemplateFitsIsTheDefaultSchedule) {
  Rng rng(/*seed=*/2);
  for (const tensor::NamedProgram& entry : tensor::catalogue(rng)) {
    const auto space = make_template_space(task_with_constants(entry.function, {}), two_threads());
    ASSERT_TRUE(space) << entry.name << ": " << space.error().message;
    const Sketch& last = (*space)->sketches().back();
    EXPECT_EQ(last.name, "direct default");
    EXPECT_TRUE(last.knobs.empty());
    const Result<schedule::Schedule> built = (*space)->build((*space)->first());
    ASSERT_TRUE(built) << entry.name;
    EXPECT_TRUE(ir::equal(built->program(), default_schedule(entry.function, {}, two_threads()).program()))
        << entry.name;
  }
}

TEST(TemplateSpace, UserTemplatesComeFirstAndReplaceOthersOfTheirName) {
  const auto names = [] {
    std::vector<std::string> all;
    for (const Template& made : all_templates(two_threads())) all.push_back(made.name);
    return all;
  };
  const std::size_t built_in = names().size();
  const auto nothing = [](Config&, schedule::Schedule&, const TemplateContext&) { return Result<void>(); };
  add_template({"mine", nullptr, nothing});
  add_template({"dense", nullptr, nothing});
  const std::vector<std::string> now = names();
  ASSERT_EQ(now.size(), built_in + 1);
  EXPECT_EQ(now[0], "dense");
  EXPECT_EQ(now[1], "mine");
  const auto space = make_space("template", task_with_constants(product(4, 4, 4)), two_threads());
  ASSERT_TRUE(space);
  EXPECT_EQ((*space)->sketches()[0].name, "direct dense");
  EXPECT_TRUE((*space)->sketches()[0].knobs.empty());
  clear_templates();
  EXPECT_EQ(names().size(), built_in);
}

TEST(TemplateSpace, RefitsTheConfigurationThatSharesMostDivisors) {
  const auto space = space_of_knobs([&](Config& config) {
    config.split("tile", 48, {.outputs = 3});
    config.choose("unroll", {0, 4, 16});
  });
  const std::string far = R"({"space":"template","sketch":"direct mine","decisions":{"tile":[-1,5,7],"unroll":[16]}})";
  const std::string near = R"({"space":"template","sketch":"direct mine","decisions":{"tile":[-1,5,8],"unroll":[3]}})";
  const std::string other = R"({"space":"template","sketch":"direct other","decisions":{"tile":[-1,5,8]}})";
  const std::vector<std::string> logged = {other, far, near};
  const std::optional<Candidate> found = (*space)->refit(logged);
  ASSERT_TRUE(found);
  // 8 and then 3 (of what remains, 6, at most 5) of 48; the nearest number for what is no split.
  EXPECT_EQ(to_json(**space, *found),
            R"({"decisions":{"tile":[-1,3,8],"unroll":[4]},"sketch":"direct mine","space":"template"})");
  EXPECT_FALSE((*space)->refit(std::vector<std::string>{other, "nonsense"}));
}

}  // namespace
}  // namespace hone::space
