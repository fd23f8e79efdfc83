#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "hone/space/explain.h"
#include "hone/space/gpu_space_test.h"
#include "hone/space/make_space.h"
#include "hone/space/template/templates.h"

namespace hone::space {
namespace {

using ::testing::HasSubstr;

/// A program, and the template that must fit it.
struct GpuFit {
  std::string name;
  ir::Function naive;
};

/// Extents of one, primes and tails among them.
std::vector<GpuFit> gpu_fits() {
  return {{"gpu_dense", gpu_product(16, 12, 8)},
          {"gpu_dense", gpu_product(13, 37, 5)},
          {"gpu_dense", gpu_product(1, 61, 16)},
          {"gpu_dense", gpu_product(24, 2, 1)},
          {"gpu_dense", gpu_matmul_relu(17, 8, 12)},
          {"gpu_batch_matmul", gpu_batch_matmul(3, 8, 5, 12)},
          {"gpu_batch_matmul", gpu_batch_matmul(2, 1, 13, 7)},
          {"gpu_conv2d", gpu_layer(4, 6, 7, 5, 3, 1)},
          {"gpu_conv2d", gpu_layer(3, 8, 5, 7, 1, 2)},
          {"gpu_conv2d", gpu_layer(2, 5, 1, 9, 3, 2)},
          {"gpu_depthwise", gpu_layer(8, 8, 6, 6, 3, 1, 8)},
          {"gpu_depthwise", gpu_layer(5, 5, 7, 1, 5, 2, 5)}};
}

std::unique_ptr<Space> gpu_template_space(const ir::Function& naive, const codegen::Target& target) {
  return make_space("template", {{{"direct", naive}}, {}, 0}, target).value();
}

TEST(GpuTemplates, EveryCandidateComputesTheSame) {
  Rng rng(/*seed=*/1);
  const codegen::Target target = gpu("-warp=4 -max-threads=16");
  for (const GpuFit& fit : gpu_fits()) {
    const auto space = gpu_template_space(fit.naive, target);
    ASSERT_EQ(space->sketches().size(), 2u) << fit.name << " does not fit";
    ASSERT_EQ(space->sketches()[0].name, "direct " + fit.name);
    GpuComparison comparison(fit.naive, *space, target, rng);
    for (const Candidate& start : space->starts())
      EXPECT_TRUE(comparison.check(start, /*compiles=*/start.sketch == 0)) << fit.name;
    int built = 0, drawn = 0;
    for (; drawn < 1000 && built < 30; ++drawn) {
      Candidate candidate{0, {}};
      for (const Knob& knob : space->sketches()[0].knobs)
        candidate.choices.push_back(
            static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(knob.options.size()) - 1)));
      built += comparison.check(candidate) ? 1 : 0;
    }
    EXPECT_EQ(built, 30) << fit.name << " of " << drawn << "\n" << explain(*space, 200, rng).to_text();
  }
}

TEST(GpuTemplates, OfWinogradConvolutionsComputeTheSame) {
  Rng rng(/*seed=*/2);
  const codegen::Target target = gpu("-warp=4 -max-threads=16");
  const tensor::Tensor x = tensor::placeholder("x", {1, 3, 7, 5}), w = tensor::placeholder("w", {5, 3, 3, 3});
  const tensor::ConvOptions options{.padding_before = {1, 1}, .padding_after = {1, 1}};
  const ir::Function naive = tensor::lower("conv", {x, w}, {*tensor::winograd_conv(x, w, options, 2)});
  const auto space = make_space("template", {{{"winograd", naive}}, {}, 0}, target).value();
  ASSERT_EQ(space->sketches().size(), 2u);
  ASSERT_EQ(space->sketches()[0].name, "winograd gpu_winograd");
  GpuComparison comparison(naive, *space, target, rng);
  for (const Candidate& start : space->starts()) EXPECT_TRUE(comparison.check(start));
  int built = 0;
  for (int drawn = 0; drawn < 1000 && built < 15; ++drawn)
    built += comparison.check(random_candidate(*space, rng)) ? 1 : 0;
  EXPECT_EQ(built, 15);
}

TEST(GpuTemplates, HaveTheKnobsOfAutoTvm) {
  const codegen::Target target = gpu();
  const auto space = gpu_template_space(gpu_layer(64, 64, 56, 56, 3, 1), target);
  std::vector<std::string> names;
  for (const Knob& knob : space->sketches()[0].knobs) names.push_back(knob.name);
  EXPECT_THAT(names, testing::ElementsAre("tile_f", "tile_y", "tile_x", "tile_rc", "tile_ry", "tile_rx",
                                          "auto_unroll_max_step", "lanes"));
  EXPECT_EQ(space->sketches()[0].knobs[0].options[0].size(), 4u);
  EXPECT_EQ(space->sketches()[0].knobs[3].options[0].size(), 2u);
}

TEST(GpuTemplates, BindEachTiledAxisToAnIndexOfItsOwn) {
  const codegen::Target target = gpu();
  const auto space = gpu_template_space(gpu_layer(64, 64, 56, 56, 3, 1), target);
  const Result<schedule::Schedule> made = space->build(space->starts()[0]);
  ASSERT_TRUE(made) << made.error().message;
  const std::string text = ir::to_text(made->program());
  for (const char* part : {"block_z", "block_y", "block_x", "vthread", "thread_z", "thread_y", "thread_x",
                           "pad.shared[", "w.shared[", "alloc conv: f32[2, 64, 56, 56] in local"})
    EXPECT_THAT(text, HasSubstr(part));
  const GpuUse use = gpu_use(made->program());
  EXPECT_LE(use.threads, 256);
  EXPECT_GT(use.shared_bytes, 0);
}

TEST(GpuTemplates, HaveManyProgramsWithinTheLimits) {
  Rng rng(/*seed=*/3);
  const codegen::Target target = gpu();
  for (const ir::Function& naive : {gpu_product(512, 512, 512), gpu_layer(64, 64, 56, 56, 3, 1)}) {
    const auto space = gpu_template_space(naive, target);
    std::set<ir::Hash128> programs;
    for (int i = 0; i < 200; ++i) {
      const Result<schedule::Schedule> made = space->build(random_candidate(*space, rng));
      if (!made) continue;
      programs.insert(ir::structural_hash(made->program()));
      EXPECT_TRUE(check_gpu_limits(made->program(), target));
    }
    EXPECT_GE(programs.size(), 10u) << explain(*space, 200, rng).to_text();
    EXPECT_THAT(explain(*space, 400, rng).to_text(), HasSubstr("threads in a block, allowed are #"));
  }
}

TEST(GpuTemplates, TheDefaultIsLeftWhereNoneFits) {
  Rng rng(/*seed=*/4);
  const tensor::Tensor x = tensor::placeholder("x", {5, 37});
  const ir::Function softmax = tensor::lower("softmax", {x}, {*tensor::softmax(x, -1)});
  for (const char* options : {"", "-shared-bytes=8"}) {
    const codegen::Target target = gpu(options);
    for (const ir::Function& naive : {softmax, gpu_product(16, 12, 8)}) {
      const auto space = gpu_template_space(naive, target);
      GpuComparison comparison(naive, *space, target, rng);
      EXPECT_TRUE(comparison.check(space->first())) << naive.name;
      EXPECT_THAT(ir::to_text(space->build(space->first())->program()), HasSubstr("thread_x"));
    }
  }
  EXPECT_TRUE(gpu_template_space(gpu_product(16, 12, 8), gpu("-shared-bytes=8"))->notes().is_fallback);
}

TEST(GpuSpaces, TheMappingSpaceIsForCpus) {
  const auto made = make_space("mapping", {{{"direct", gpu_product(3, 4, 5)}}, {}, 0}, gpu());
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("space 'mapping' is for CPUs"));
  EXPECT_EQ(make_space("auto", {{{"direct", gpu_product(3, 4, 5)}}, {}, 0}, gpu()).value()->name(), "sketch");
}

}  // namespace
}  // namespace hone::space
