// Ansor's steps done to programs of ours, and schedules of ours in Ansor's steps.
#include "hone/space/sketch/ansor_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "hone/ir/equal.h"
#include "hone/space/candidate.h"
#include "hone/space/schedule_test.h"
#include "hone/space/sketch/ansor_export.h"
#include "hone/space/sketch/ansor_stages.h"
#include "hone/space/sketch/sketch_space.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::space::ansor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

codegen::Target target(int threads = 2) {
  codegen::Target target = codegen::host_target();
  target.threads = threads;
  return target;
}

Task task_of(ir::Function naive, std::vector<std::size_t> constants = {}) {
  return {{{"direct", std::move(naive)}}, std::move(constants)};
}

/// a · b: stages a, b, matmul.
ir::Function multiplied(std::int64_t m, std::int64_t n, std::int64_t k) {
  const tensor::Tensor a = tensor::placeholder("a", {m, k}), b = tensor::placeholder("b", {k, n});
  return tensor::lower("product", {a, b}, {*tensor::matmul(a, b)});
}

/// conv(x, w) with its padding, then relu: stages x, pad, w, conv, relu.
ir::Function conv_relu(std::int64_t out = 16) {
  const tensor::Tensor x = tensor::placeholder("x", {1, 8, 14, 14}), w = tensor::placeholder("w", {out, 8, 3, 3});
  const tensor::ConvOptions options{.padding_before = {1, 1}, .padding_after = {1, 1}};
  const tensor::Tensor y = *tensor::conv(x, w, options);
  const tensor::Tensor relu = tensor::compute("relu", tensor::axes_of(y.shape()), [&](const tensor::Indices& i) {
    return ir::max(y(i), ir::constant(ir::kF32, 0.0));
  });
  return tensor::lower("layer", {x, w}, {relu});
}

/// The loops and blocks of a program in their order: "8p 4 16v matmul; ".
std::string outline(const schedule::Program& program) {
  std::string text;
  std::vector<std::string> open;
  for (const schedule::Path& path : schedule::blocks(program)) {
    std::size_t depth = 0;
    for (const ir::Stmt& stmt : path.loops()) {
      const ir::For& loop = stmt.get<ir::For>();
      if (depth >= open.size() || open[depth] != ir::name_of(loop.var)) {
        open.resize(depth);
        open.push_back(ir::name_of(loop.var));
        text += std::to_string(*ir::as_int(loop.extent));
        if (loop.how != ir::ForKind::Serial) text += ir::to_string(loop.how)[0];
        text += ' ';
      }
      ++depth;
    }
    open.resize(depth);
    text += path.block().name + "; ";
  }
  return text;
}

/// Imports steps and compares the result, compiled, with the naive program; gives its outline.
std::string import_and_check(const Task& task, const Steps& steps, LayoutRewrite rewrite = LayoutRewrite::None) {
  const Result<schedule::Schedule> made = import_steps(task, steps, rewrite);
  if (!made) return made.error().message;
  expect_same_result(task.naive(), made, target(), 1e-4);
  EXPECT_TRUE(schedule::replay(task.naive(), made->trace())) << "the trace does not replay";
  return outline(made->program());
}

TEST(AnsorImport, StagesAreNumberedAsAnsorDoes) {
  std::vector<std::string> buffers;
  for (const Stage& stage : stages_of(conv_relu())) buffers.push_back(stage.buffer);
  EXPECT_THAT(buffers, ElementsAre("x", "pad", "w", "conv", "relu"));
}

/// The sketch of a product with a copy that is written to, as Ansor records it for CPUs.
constexpr const char* kProduct =
    R"([["CHW",2,"local"],["SP",2,0,48,[2,3,4],1],["SP",2,4,64,[1,2,16],1],["SP",2,8,20,[5],1],)"
    R"(["RE",2,[0,4,1,5,8,2,6,9,3,7]],["FSP",3,0,1,2],["FSP",3,3,2,2],["RE",3,[0,3,1,4,2,5]],["CA",2,3,3],)"
    R"(["FU",3,[0,1,2,3]],["AN",3,0,3],["PR",2,0,"auto_unroll_max_step$64"],["AN",2,9,2],["AN",3,2,2]])";

TEST(AnsorImport, AProductWithACopyIsScheduled) {
  const Task task = task_of(multiplied(48, 64, 20), {1});
  const Steps steps = parse_steps(kProduct).value();
  // Around both 2 * 2 by 2 * 1 tiles; then the tile's own loops, whose two outer levels have shrunk; then the copy.
  EXPECT_EQ(import_and_check(task, steps), "8p 1 1 1 1 4 3 2 5 4 16v matmul; 12 32v matmul.write; ");
  EXPECT_THAT(import_and_check(task, steps, LayoutRewrite::PreTransformed),
              HasSubstr("8p 1 1 1 1 4 3 2 5 4 16v matmul"));
}

TEST(AnsorImport, ARecordOfOtherSizesIsRefused) {
  const Steps steps = parse_steps(kProduct).value();
  EXPECT_EQ(import_and_check(task_of(multiplied(48, 60, 20)), steps),
            "ansor: step 2, SP: iterator 4 of 'matmul' has 60 iterations, the record says 64");
}

/// Two levels of tiles around a convolution, which the relu follows; the padding is left as it is.
Steps conv_steps() {
  return parse_steps(
             R"([["SP",3,0,1,[1,1,1],1],["SP",3,4,16,[1,2,8],1],["SP",3,8,14,[7,1,1],1],["SP",3,12,14,[1,1,14],1],)"
             R"(["SP",3,16,8,[4],1],["SP",3,18,3,[3],1],["SP",3,20,3,[1],1],)"
             R"(["RE",3,[0,4,8,12,1,5,9,13,16,18,20,2,6,10,14,17,19,21,3,7,11,15]],)"
             R"(["FSP",4,0,0,1],["FSP",4,2,1,1],["FSP",4,4,2,1],["FSP",4,6,3,1],["RE",4,[0,2,4,6,1,3,5,7]],)"
             R"(["CA",3,4,3],["FU",4,[0,1,2,3]],["AN",4,0,3],["PR",3,0,"auto_unroll_max_step$16"],["AN",4,4,2]])")
      .value();
}

TEST(AnsorImport, AConvolutionIsScheduledWithItsPaddingAnywhere) {
  const Task task = task_of(conv_relu(), {1});
  Steps at_root = conv_steps(), inlined = conv_steps(), attached = conv_steps();
  at_root.push_back(Fuse{1, {0, 1, 2}});
  at_root.push_back(Annotation{1, 0, 3});
  EXPECT_THAT(import_and_check(task, at_root), HasSubstr("128p 16 pad; 2p 1 1 1 1 "));
  inlined.push_back(ComputeInline{1});
  EXPECT_THAT(import_and_check(task, inlined), ::testing::StartsWith("2p 1 1 1 1 "));
  attached.push_back(ComputeAt{1, 3, 10});
  attached.push_back(Split{1, 3, 0, {4}, 1});
  EXPECT_THAT(import_and_check(task, attached), HasSubstr(" pad; "));
}

TEST(AnsorImport, PartialSumsAreMade) {
  const Task task = task_of(multiplied(4, 6, 60));
  // over the outer part, and over the inner part with the new axis last, in vectors
  const Steps outer = parse_steps(R"([["SP",2,2,60,[15],1],["RF",2,2,0],["AN",2,0,3],["FU",3,[0,1]]])").value();
  EXPECT_EQ(import_and_check(task, outer), "4p 4 6 15 matmul.rf; 24 4 matmul; ");
  const Steps inner =
      parse_steps(R"([["SP",2,2,60,[4],1],["RF",2,3,2],["RE",2,[0,1,3,2]],["AN",2,3,2],["CA",2,3,1]])").value();
  EXPECT_EQ(import_and_check(task, inner), "4 6 1 1 15 4v matmul.rf; 4 matmul; ");
}

TEST(AnsorImport, AProgramForGpusIsScheduled) {
  const char* json =
      R"([["CHW",2,"local"],["SP",2,0,32,[1,2,4,1],1],["SP",2,5,32,[2,1,8,1],1],["SP",2,10,16,[2,2],1],)"
      R"(["RE",2,[0,5,1,6,2,7,10,11,3,8,12,4,9]],["FSP",3,0,1,3],["FSP",3,4,2,3],["RE",3,[0,4,1,5,2,6,3,7]],)"
      R"(["FU",3,[0,1]],["FU",3,[1,2]],["FU",3,[2,3]],["CA",2,3,2],["CHR",1,"shared",[2]],["CA",2,3,6],)"
      R"(["CHR",0,"shared",[3]],["CA",1,4,6],["AN",5,0,5],["AN",5,1,4],["AN",5,2,6]])";
  const Task task = task_of(multiplied(32, 32, 16));
  const std::string found = import_and_check(task, parse_steps(json).value());
  EXPECT_THAT(found, HasSubstr("a.shared; "));
  EXPECT_THAT(found, HasSubstr("b.shared; "));
  EXPECT_THAT(found, ::testing::StartsWith("8b 2v 2t "));
}

TEST(AnsorImport, OtherStepsAreTaken) {
  const Task task = task_of(conv_relu());
  EXPECT_EQ(
      import_and_check(task, parse_steps(R"([["SA",1,2,8,4],["FU",4,[]],["AN",4,0,1],["SP",4,1,1,[],1]])").value()),
      "1 8 16 16 pad; 1 16 14 14 8 3 3 conv; 1u 1 16 14 14 relu; ");
  EXPECT_EQ(import_and_check(task, parse_steps(R"([["SP",4,2,14,[4],0],["CA",1,3,0],["CR",1],["AN",4,2,0]])").value()),
            "1 8 16 16 pad; 1 16 14 14 8 3 3 conv; 1 16 4 4 14 relu; ");
}

TEST(AnsorImport, WhatDoesNotFitIsNamed) {
  const auto refusal = [](std::string_view json) {
    const Result<schedule::Schedule> made =
        import_steps(task_of(conv_relu()), parse_steps(json).value(), LayoutRewrite::None);
    return made ? "none" : made.error().message;
  };
  EXPECT_EQ(refusal(R"([["CI",9]])"), "ansor: step 0, CI: there is no stage 9, only 0..4");
  EXPECT_EQ(refusal(R"([["CI",0]])"), "ansor: step 0, CI: stage 0 is the input 'x'");
  EXPECT_EQ(refusal(R"([["AN",4,4,3]])"), "ansor: step 0, AN: 'relu' has no iterator 4, only 4");
  EXPECT_EQ(refusal(R"([["AN",4,3,11]])"), "ansor: step 0, AN: iterators are not marked to be tensorized here");
  EXPECT_EQ(refusal(R"([["AN",4,3,12]])"), "ansor: step 0, AN: there is no annotation 12");
  EXPECT_EQ(refusal(R"([["PR",4,0,"debug_skip_region"]])"),
            "ansor: step 0, PR: there is no pragma 'debug_skip_region' here");
  EXPECT_EQ(refusal(R"([["RE",4,[0,1,2]]])"), "ansor: step 0, RE: 0, 1, 2 is no order of the 4 iterators of 'relu'");
  EXPECT_EQ(refusal(R"([["FU",4,[0,2]]])"), "ansor: step 0, FU: the iterators 0, 2 do not follow each other");
  EXPECT_EQ(refusal(R"([["CI",1],["AN",1,0,3]])"), "ansor: step 1, AN: stage 1, 'pad', is inlined");
  EXPECT_EQ(refusal(R"([["CA",3,4,1],["FU",4,[1,2]]])"), "ansor: step 1, FU: 'conv' is computed between the iterators");
  EXPECT_EQ(refusal(R"([["CA",1,3,1],["CI",3]])"), "ansor: step 1, CI: 'pad' is computed at 'conv'");
  EXPECT_THAT(refusal(R"([["CI",3]])"), HasSubstr("ansor: step 0, CI: compute_inline: "));
  EXPECT_EQ(refusal(R"([["CHR",0,"shared",[1,3]]])"),
            "ansor: step 0, CHR: one copy of 'x' for 2 readers; here each reader has its own");
  EXPECT_EQ(refusal(R"([["CHW",3,"wmma.accumulator"]])"),
            "ansor: step 0, CHW: there is no scope 'wmma.accumulator' here");
  EXPECT_EQ(refusal(R"([["SP",4,1,16,[4],1],["CHW",4,"local"]])"), "ansor: step 1, CHW: 'relu' was changed before");
  EXPECT_EQ(refusal(R"([["SP",4,1,16,[0],1]])"),
            "ansor: step 0, SP: the lengths are 0, expected are numbers from 1 on");
  EXPECT_THAT(refusal(R"([["AN",3,4,2]])"), HasSubstr("ansor: step 0, AN: vectorize: "));
  EXPECT_THAT(refusal(R"([["CA",4,3,1]])"), HasSubstr("ansor: step 0, CA: "));
}

/// Builds a schedule step by step.
schedule::Schedule scheduled(const Task& task, const schedule::Trace& trace) {
  schedule::Schedule made(task.naive());
  for (const schedule::Step& step : trace) {
    const Result<void> done = made.apply(step);
    EXPECT_TRUE(done) << done.error().message;
  }
  return made;
}

std::string exported(const Task& task, const schedule::Trace& trace) {
  const Result<Exported> found = export_steps(task, scheduled(task, trace).trace());
  return found ? to_json(found->steps) : found.error().message;
}

TEST(AnsorExport, SchedulesBecomeSteps) {
  const Task task = task_of(multiplied(50, 64, 20), {1});
  EXPECT_EQ(
      exported(task, {schedule::Split{"i", {0, 4}}, schedule::Split{"k", {5, 0}},
                      schedule::Reorder{{"i.0", "j", "k.0", "i.1", "k.1"}}, schedule::Fuse{{"i.0", "j"}},
                      schedule::Parallel{"i.0@j"}, schedule::Unroll{"k.1"}, schedule::Annotate{"k.0", "unroll", "64"}}),
      R"([["SP",2,0,50,[4],1],["SP",2,3,20,[4],1],["RE",2,[0,2,3,1,4]],["FU",2,[0,1]],["AN",2,0,3],)"
      R"(["AN",2,3,1],["PR",2,1,"auto_unroll_max_step$64"]])");
  EXPECT_EQ(exported(task, {schedule::CacheWrite{"matmul", ir::Scope::Local},
                            schedule::CacheRead{"matmul", "a", ir::Scope::Shared}, schedule::ComputeAt{"matmul", "ax1"},
                            schedule::ComputeAt{"a.shared", "k"}}),
            R"([["CHW",2,"local"],["CHR",0,"shared",[2]],["CA",3,4,1],["CA",1,3,2]])");
}

TEST(AnsorExport, FusedTilesAreWrittenAsAnsorDoes) {
  const Task task = task_of(multiplied(48, 64, 20), {1});
  const schedule::Trace trace = {schedule::CacheWrite{"matmul", ir::Scope::Local},
                                 schedule::Split{"i", {0, 2, 3}},
                                 schedule::Split{"j", {0, 16}},
                                 schedule::Split{"k", {0, 5}},
                                 schedule::Reorder{{"j.0", "i.0", "i.1", "k.0", "k.1", "i.2", "j.1"}},
                                 schedule::ReverseComputeAt{"matmul.write", "i.1"},
                                 schedule::Vectorize{"ax1"},
                                 schedule::Fuse{{"j.0", "i.0"}},
                                 schedule::Parallel{"j.0@i.0"}};
  const std::string steps = exported(task, trace);
  EXPECT_EQ(steps, R"([["CHW",2,"local"],["SP",2,0,48,[2,3],1],["SP",2,3,64,[16],1],["SP",2,5,20,[5],1],)"
                   R"(["RE",2,[3,0,1,5,6,2,4]],["FSP",3,0,1,2],["FSP",3,3,2,1],["RE",3,[3,0,1,2,4]],["CA",2,3,2],)"
                   R"(["AN",3,4,2],["FU",3,[0,1]],["AN",3,0,3]])");
  EXPECT_EQ(import_and_check(task, parse_steps(steps).value()), "32p 2 1 1 1 4 5 3 16 matmul; 3 16v matmul.write; ");
}

TEST(AnsorExport, WhatIsComputedAtSharedLoopsStaysThere) {
  const Task task = task_of(multiplied(50, 64, 20));  // 50 rows leave a tail
  EXPECT_THAT(exported(task, {schedule::CacheWrite{"matmul", ir::Scope::Local}, schedule::Split{"i", {0, 4}},
                              schedule::Reorder{{"i.0", "j", "i.1", "k"}},
                              schedule::CacheRead{"matmul", "b", ir::Scope::Shared},
                              schedule::ComputeAt{"b.shared", "i.0"}, schedule::ReverseComputeAt{"matmul.write", "j"}}),
              ::testing::StartsWith("[["));
}

TEST(AnsorExport, AConsumerThatIsNotFollowedIsRefused) {
  const Task task = task_of(multiplied(48, 64, 20));
  EXPECT_THAT(exported(task, {schedule::CacheWrite{"matmul", ir::Scope::Local}, schedule::Split{"ax0", {0, 4}},
                              schedule::ReverseComputeAt{"matmul.write", "i"}}),
              HasSubstr("the loops of the block were changed before"));
}

TEST(AnsorExport, WhatAnsorHasNoStepForIsNamed) {
  const Task task = task_of(conv_relu());
  EXPECT_THAT(exported(task, {schedule::TransformLayout{"pad", "(n, c, y, x) -> (n, y, x, c)"}}),
              HasSubstr("Ansor has no step for transform_layout, but of constants"));
  EXPECT_THAT(exported(task, {schedule::Annotate{"pad", "prepack", "1"}}),
              HasSubstr("Ansor has no step for the annotation 'prepack'"));
}

/// Schedules of the space of sketches come back the same, or are refused by name.
TEST(AnsorExport, CandidatesOfTheSketchSpaceComeBack) {
  Rng rng(/*seed=*/1);
  std::map<std::string, int> refusals;
  int same = 0;
  for (const Task& task : {task_of(multiplied(48, 64, 20), {1}), task_of(multiplied(50, 33, 20), {1}),
                           task_of(multiplied(7, 33, 40)), task_of(conv_relu(), {1})}) {
    const auto space = make_sketch_space(task, target(2)).value();
    for (int i = 0; i < 60; ++i) {
      const Result<schedule::Schedule> built = space->build(random_candidate(*space, rng));
      if (!built) continue;
      const Result<Exported> found = export_steps(task, built->trace());
      if (!found) {
        EXPECT_THAT(found.error().message, ::testing::StartsWith("ansor: "));
        ++refusals[found.error().message.substr(found.error().message.rfind(": "))];
        continue;
      }
      ++same;
      const auto again = import_steps(task, parse_steps(to_json(found->steps)).value(), found->rewrite);
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(identity(again->program()), identity(built->program()));
    }
  }
  for (const auto& [why, count] : refusals) {
    std::printf("%4d refused%s\n", count, why.c_str());
    EXPECT_THAT(why, ::testing::AnyOf(HasSubstr("transform_layout, but of constants"), HasSubstr("'reduce_lanes'")));
  }
  std::printf("%4d came back\n", same);
  EXPECT_GE(same, 100);
}

}  // namespace
}  // namespace hone::space::ansor
