#include "hone/space/sketch/sketch_space.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/ir/equal.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/space/candidate.h"
#include "hone/space/explain.h"
#include "hone/space/make_space.h"
#include "hone/space/run_program_test.h"
#include "hone/space/sketch/factors.h"
#include "hone/tensor/catalogue.h"

namespace hone::space {
namespace {

using tensor::placeholder;
using ::testing::HasSubstr;

Task task_with_weights(const ir::Function& naive) {
  Task task{{{"direct", naive}}, {}, 0};
  if (naive.params.size() > 2) task.constants = {1};  // weights in every entry that has some
  return task;
}

TEST(SketchSpace, CandidatesOfEveryDefinitionBuildAndComputeTheSame) {
  Rng rng(/*seed=*/1);
  std::size_t drawn = 0, built = 0;
  Explanation all;
  for (const char* text : {"cpu -threads=2", "x86-64 -mattr=+avx2 -threads=1"}) {
    const codegen::Target target = codegen::parse_target(text).value();
    for (int round = 0; round < 2; ++round)
      for (const tensor::NamedProgram& entry : tensor::catalogue(rng)) {
        const auto space = make_sketch_space(task_with_weights(entry.function), target);
        ASSERT_TRUE(space) << entry.name;
        ASSERT_FALSE((*space)->sketches().empty());
        std::vector<ir::Array> expected = ir::random_arguments(entry.function, rng);
        const std::vector<ir::Array> arguments = expected;
        ASSERT_TRUE(ir::interpret(entry.function, expected)) << entry.name;
        const auto check = [&](const Candidate& candidate) {
          const Result<schedule::Schedule> made = (*space)->build(candidate);
          if (!made) return false;
          EXPECT_TRUE(ir::verify(made->program())) << entry.name;
          const Result<schedule::Program> again = schedule::replay(entry.function, made->trace());
          EXPECT_TRUE(again && ir::structural_hash(*again) == ir::structural_hash(made->program())) << entry.name;
          std::vector<ir::Array> found = arguments;
          const Result<void> done = ir::interpret(made->program(), found);
          EXPECT_TRUE(done) << entry.name << ": " << done.error().message << "\n" << ir::to_text(made->program());
          for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_LE(ir::max_difference(found[i], expected[i]), 1e-5) << entry.name << "\n"
                                                                       << to_json(**space, candidate) << "\n"
                                                                       << ir::to_text(made->program());
          return true;
        };
        for (const Candidate& start : (*space)->starts()) EXPECT_TRUE(check(start)) << entry.name;
        std::size_t good = 0;
        for (int i = 0; i < 10; ++i) good += check(random_candidate(**space, rng)) ? 1 : 0;
        const Explanation explained = explain(**space, 20, rng);
        for (const auto& [reason, count] : explained.rejected) all.rejected[reason] += count;
        all.drawn += explained.drawn;
        all.built += explained.built;
        drawn += 10;
        built += good;
        if (round == 0)
          fmt::print("{:<32}{:>3} sketches {:>22} candidates, {:>2} of 10 built\n", entry.name,
                     (*space)->sketches().size(), size_of(**space), good);
      }
  }
  fmt::print("{}", all.to_text());
  EXPECT_GE(static_cast<double>(built), 0.6 * static_cast<double>(drawn));
}

ir::Function layer(std::int64_t in, std::int64_t out, std::int64_t height, std::int64_t width, std::int64_t kernel) {
  const tensor::Tensor x = placeholder("x", {1, in, height, width}), w = placeholder("w", {out, in, kernel, kernel});
  const tensor::Tensor b = placeholder("b", {out});
  const std::int64_t pad = kernel / 2;
  const tensor::Tensor y = *tensor::conv(x, w, {.padding_before = {pad, pad}, .padding_after = {pad, pad}});
  const tensor::Tensor z = tensor::compute("out", tensor::axes_of(y.shape()), [&](const tensor::Indices& i) {
    return ir::max(y(i) + b(i[1]), ir::constant(ir::kF32, 0.0));
  });
  return tensor::lower("layer", {x, w, b}, {z});
}

TEST(SketchSpace, CompiledCandidatesComputeTheSame) {
  Rng rng(/*seed=*/2);
  runtime::ThreadPool pool(2);
  const tensor::Tensor x = placeholder("x", {31, 97});
  const std::vector<ir::Function> programs = {product(37, 113, 64), product(1, 61, 47), layer(5, 37, 13, 7, 3),
                                              layer(16, 32, 1, 9, 1),
                                              tensor::lower("softmax", {x}, {*tensor::softmax(x, -1)})};
  for (const char* text : {"cpu -threads=2", "x86-64 -mattr=+avx2 -threads=1"}) {
    const codegen::Target target = codegen::parse_target(text).value();
    for (const ir::Function& naive : programs) {
      const auto space = make_sketch_space(task_with_weights(naive), target);
      ASSERT_TRUE(space);
      std::vector<ir::Array> expected = ir::random_arguments(naive, rng);
      const std::vector<ir::Array> arguments = expected;
      ASSERT_TRUE(ir::interpret(naive, expected));
      for (int i = 0; i < 2; ++i) {
        const Candidate candidate = i == 0 ? (*space)->first() : random_candidate(**space, rng);
        const Result<schedule::Schedule> made = (*space)->build(candidate);
        if (!made && i > 0) continue;
        ASSERT_TRUE(made) << made.error().message;
        const auto found = run(schedule::split_packing(made->program()), arguments, target, pool);
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_LE(ir::max_difference(found->back(), expected.back()), 1e-5) << to_json(**space, candidate) << "\n"
                                                                            << ir::to_text(made->program());
      }
    }
  }
}

TEST(SketchSpace, SumsWithFewResultsAreCutIntoParts) {
  Rng rng(/*seed=*/5);
  runtime::ThreadPool pool(2);
  const codegen::Target target = codegen::parse_target("cpu -threads=2").value();
  const tensor::Tensor x = placeholder("x", {701, 21});
  const auto sum_over = [&](int axis) {
    return tensor::lower("sum", {x}, {*tensor::reduce_axes(x, tensor::ReduceKind::Sum, {axis}, tensor::KeepAxes::No)});
  };
  const tensor::Tensor all = *tensor::reduce_axes(x, tensor::ReduceKind::Sum, {0, 1}, tensor::KeepAxes::No);
  for (const ir::Function& naive : {product(3, 5, 401), sum_over(0), tensor::lower("sum", {x}, {all})}) {
    const auto space = make_sketch_space(task_with_weights(naive), target).value();
    std::vector<ir::Array> expected = ir::random_arguments(naive, rng);
    const std::vector<ir::Array> arguments = expected;
    ASSERT_TRUE(ir::interpret(naive, expected));
    std::size_t cut = 0;
    for (std::size_t sketch = 0; sketch < space->sketches().size(); ++sketch) {
      const std::vector<Knob>& knobs = space->sketches()[sketch].knobs;
      for (std::size_t k = 0; k < knobs.size(); ++k) {
        if (!knobs[k].name.ends_with(".sums") || knobs[k].options.back()[0] != 2) continue;
        Candidate candidate{sketch, std::vector<std::size_t>(knobs.size(), 0)};
        candidate.choices[k] = knobs[k].options.size() - 1;
        const Result<schedule::Schedule> made = space->build(candidate);
        ASSERT_TRUE(made) << made.error().message;
        const auto found = run(schedule::split_packing(made->program()), arguments, target, pool);
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_LE(ir::max_difference(found->back(), expected.back()), 1e-5) << ir::to_text(made->program());
        EXPECT_NE(ir::to_text(made->program()).find("parallel"), std::string::npos) << ir::to_text(made->program());
        ++cut;
      }
    }
    EXPECT_EQ(cut, 1) << naive.name;
  }
}

std::vector<std::string> published_sketches(const ir::Function& naive, const char* target) {
  const auto space = make_space("ansor", task_with_weights(naive), codegen::parse_target(target).value()).value();
  std::vector<std::string> names;
  for (const Sketch& sketch : space->sketches()) names.push_back(sketch.name);
  return names;
}

TEST(SketchSpace, AsPublishedTiledSumsAreCutIntoPartsAsWell) {
  for (const char* target : {"cpu -threads=1", "cpu -threads=2"}) {
    EXPECT_THAT(published_sketches(product(2, 4, 8192), target), testing::Contains("direct matmul(parts) divisor"));
    EXPECT_THAT(published_sketches(product(64, 64, 64), target), testing::Not(testing::Contains(HasSubstr("(parts)"))));
  }
  Rng rng(/*seed=*/7);
  const ir::Function naive = product(2, 4, 200);
  const auto space =
      make_space("ansor", task_with_weights(naive), codegen::parse_target("cpu -threads=2").value()).value();
  std::vector<ir::Array> expected = ir::random_arguments(naive, rng);
  const std::vector<ir::Array> arguments = expected;
  ASSERT_TRUE(ir::interpret(naive, expected));
  int cut = 0;
  for (std::uint64_t i = 0; i < size_of(*space); ++i) {
    const Candidate candidate = candidate_at(*space, i);
    if (space->sketches()[candidate.sketch].name != "direct matmul(parts) divisor") continue;
    const Result<schedule::Schedule> made = space->build(candidate);
    ASSERT_TRUE(made) << made.error().message;
    if (schedule::to_json(made->trace()).find("rfactor") == std::string::npos) continue;
    std::vector<ir::Array> found = arguments;
    ASSERT_TRUE(ir::interpret(made->program(), found));
    EXPECT_LE(ir::max_difference(found.back(), expected.back()), 1e-5) << to_json(*space, candidate);
    ++cut;
  }
  EXPECT_GE(cut, 2);
}

TEST(SketchSpace, AsPublishedSumsOverOuterAxesAreNotTiled) {
  const tensor::Tensor x = placeholder("x", {70, 21});
  const tensor::Tensor sums = *tensor::reduce_axes(x, tensor::ReduceKind::Sum, {0}, tensor::KeepAxes::No);
  EXPECT_THAT(published_sketches(tensor::lower("sums", {x}, {sums}), "cpu -threads=2"), testing::ElementsAre("direct"));
}

TEST(SketchSpace, HasBothFamiliesOfTilesAndEveryAxisThatCanRunInLanes) {
  const codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=2").value();
  const auto space = make_sketch_space(task_with_weights(layer(64, 128, 28, 28, 3)), target).value();
  std::vector<std::string> names;
  for (const Sketch& sketch : space->sketches()) names.push_back(sketch.name);
  EXPECT_THAT(names, testing::ElementsAre("direct conv(x_1) hardware", "direct conv(o) hardware",
                                          "direct conv(x_1) divisor", "direct conv(o) divisor"));
  for (const Sketch& sketch : space->sketches())
    for (const Knob& knob : sketch.knobs) {
      EXPECT_GE(knob.options.size(), 1) << knob.name;
      EXPECT_LE(knob.options.size(), kMostOptions) << knob.name;
      EXPECT_TRUE(std::is_sorted(knob.options.begin(), knob.options.end())) << knob.name;
    }
}

TEST(SketchSpace, BlockedLayoutsRunInTheirLanes) {
  const codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=2").value();
  const auto space =
      make_space("sketch", task_with_weights(blocked_layer({64, 128, 28, 28, 3, 1, 1, 16, 16})), target).value();
  std::vector<std::string> names;
  for (const Sketch& sketch : space->sketches()) names.push_back(sketch.name);
  EXPECT_THAT(names, testing::ElementsAre("direct conv(o.1) hardware", "direct conv(o.1) divisor"));
}

TEST(SketchSpace, WinogradConvolutionsHaveASketchOfTheirOwn) {
  Rng rng(/*seed=*/4);
  runtime::ThreadPool pool(2);
  const codegen::Target target = codegen::parse_target("cpu -threads=2").value();
  const tensor::Tensor x = placeholder("x", {1, 20, 13, 13}), w = placeholder("w", {36, 20, 3, 3});
  const tensor::ConvOptions options{.padding_before = {1, 1}, .padding_after = {1, 1}};
  Task task = task_with_weights(tensor::lower("conv", {x, w}, {*tensor::conv(x, w, options)}));
  task.algorithms.push_back({"winograd2", tensor::lower("conv", {x, w}, {*tensor::winograd_conv(x, w, options, 2)})});
  task.likely = 1;
  const auto space = make_sketch_space(task, target).value();
  ASSERT_EQ(space->sketches().back().name, "winograd2");
  const Candidate first = space->first();
  ASSERT_EQ(first.sketch, space->sketches().size() - 1);
  std::vector<ir::Array> expected = ir::random_arguments(task.naive(), rng);
  const std::vector<ir::Array> arguments = expected;
  ASSERT_TRUE(ir::interpret(task.naive(), expected));
  const Result<schedule::Schedule> made = space->build(first);
  ASSERT_TRUE(made) << made.error().message;
  const auto found = run(schedule::split_packing(made->program()), arguments, target, pool);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_LE(ir::max_difference(found->back(), expected.back()), 1e-4);
}

TEST(SketchSpace, KeepsTheWeightsOfATileSideBySide) {
  const codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1").value();
  const auto space = make_sketch_space(task_with_weights(product(64, 128, 64)), target).value();
  const Result<schedule::Schedule> made = space->build(space->first());
  ASSERT_TRUE(made);
  EXPECT_THAT(schedule::to_json(made->trace()), HasSubstr("transform_layout"));
  const Result<schedule::Program> replayed = schedule::replay(product(64, 128, 64), made->trace());
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_EQ(ir::to_text(*replayed), ir::to_text(made->program()));
}

TEST(SketchSpace, BlocksOfWhatTheCacheCannotHoldAreCopied) {
  Rng rng(/*seed=*/6);
  runtime::ThreadPool pool(2);
  for (const char* text : {"cpu -threads=1", "cpu -threads=2"}) {
    codegen::Target target = codegen::parse_target(text).value();
    const auto copies_first = [&](const ir::Function& naive) {
      const auto space = make_sketch_space({{{"direct", naive}}, {}, 0}, target).value();
      return schedule::to_json(space->build(space->first())->trace()).find("cache_read") != std::string::npos;
    };
    target.l2_bytes = 1 << 21;
    EXPECT_FALSE(copies_first(product(512, 512, 512)));
    EXPECT_TRUE(copies_first(product(512, 2048, 512)));
    EXPECT_FALSE(copies_first(product(3, 2048, 512)));  // read once
    target.l2_bytes = 1 << 13;
    EXPECT_TRUE(copies_first(product(61, 113, 64)));
    for (const ir::Function& naive :
         {product(61, 113, 64), product(97, 17, 131), product(113, 1, 61), product(1, 5, 7)}) {
      const auto space = make_sketch_space({{{"direct", naive}}, {}, 0}, target).value();
      std::vector<ir::Array> expected = ir::random_arguments(naive, rng);
      const std::vector<ir::Array> arguments = expected;
      ASSERT_TRUE(ir::interpret(naive, expected));
      for (const Candidate& start : space->starts()) {
        const Result<schedule::Schedule> made = space->build(start);
        ASSERT_TRUE(made) << made.error().message;
        const auto found = run(schedule::split_packing(made->program()), arguments, target, pool);
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_LE(ir::max_difference(found->back(), expected.back()), 1e-5) << to_json(*space, start);
      }
    }
  }
}

TEST(SketchSpace, StartsWalkOperandsBothWays) {
  codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1").value();
  target.l2_bytes = 1 << 21;
  const auto space = make_sketch_space(task_with_weights(product(512, 512, 512)), target).value();
  const std::vector<Candidate> starts = space->starts();
  ASSERT_EQ(starts.size(), 2);
  EXPECT_EQ(starts[0], space->first());
  EXPECT_THAT(to_json(*space, starts[0]), HasSubstr(R"("matmul.order":[0,0])"));
  EXPECT_THAT(to_json(*space, starts[1]), HasSubstr(R"("matmul.order":[1,1])"));
}

TEST(SketchSpace, PrimesHaveTilesWithTails) {
  const codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1").value();
  const auto space = make_sketch_space(task_with_weights(product(2039, 2039, 2039)), target).value();
  EXPECT_GT(size_of(space->sketches().front()), 10'000);
  Rng rng(/*seed=*/3);
  const Explanation explained = explain(*space, 50, rng);
  EXPECT_EQ(explained.drawn, 50);
  EXPECT_GE(explained.built, 30) << explained.to_text();
}

TEST(SketchSpace, UserRulesComeFirst) {
  const codegen::Target target = codegen::parse_target("cpu -threads=1").value();
  SketchOptions options;
  options.rules.push_back(
      {"mine", [](const Derivation&, const std::string&, const RuleContext&) { return Verdict::ApplyAndStop; },
       [](const Derivation& derivation, const std::string& block, const RuleContext&) {
         Derivation next = derivation;
         next.pending.pop_back();
         next.actions.push_back({.block = block, .name = "mine", .knobs = {{"depth", {{1}, {2}}}}, .first = {1}});
         return std::vector<Derivation>{next};
       }});
  const auto space = make_sketch_space(task_with_weights(product(5, 7, 3)), target, options).value();
  ASSERT_EQ(space->sketches().front().name, "direct mine hardware");
  EXPECT_EQ(space->first(), (Candidate{0, {1}}));
}

TEST(SketchSpace, AnErrorNamesWhatIsWrong) {
  const codegen::Target target = codegen::parse_target("cpu -threads=1").value();
  EXPECT_THAT(make_sketch_space({}, target).error().message, HasSubstr("no algorithm"));
  Task task = task_with_weights(product(5, 7, 3));
  task.constants = {7};
  EXPECT_THAT(make_sketch_space(task, target).error().message, HasSubstr("constant 7 is outside the parameters 0..2"));
}

}  // namespace
}  // namespace hone::space
