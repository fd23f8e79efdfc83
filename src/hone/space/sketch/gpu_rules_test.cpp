#include "hone/space/sketch/gpu_rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/space/explain.h"
#include "hone/space/gpu_space_test.h"
#include "hone/space/make_space.h"
#include "hone/space/sketch/sketch_space.h"
#include "hone/tensor/catalogue.h"

namespace hone::space {
namespace {

using tensor::placeholder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Task gpu_task(const ir::Function& naive) { return {{{"direct", naive}}, {}, 0}; }

ir::Function gpu_softmax(std::int64_t rows, std::int64_t columns) {
  const tensor::Tensor x = placeholder("x", {rows, columns});
  return tensor::lower("softmax", {x}, {*tensor::softmax(x, -1)});
}

ir::Function gpu_sum(const std::vector<std::int64_t>& shape, const std::vector<int>& axes) {
  const tensor::Tensor x = placeholder("x", shape);
  return tensor::lower("sum", {x}, {*tensor::reduce_axes(x, tensor::ReduceKind::Sum, axes, tensor::KeepAxes::No)});
}

/// (exp(x) + y) · x.
ir::Function gpu_chain(std::int64_t rows, std::int64_t columns) {
  const tensor::Tensor x = placeholder("x", {rows, columns}), y = placeholder("y", {columns});
  const tensor::Tensor a = tensor::compute("a", tensor::axes_of(x.shape()), [&](const tensor::Indices& i) {
    return ir::call(ir::Intrinsic::Exp, {x(i)}) + y(i[1]);
  });
  const tensor::Tensor b =
      tensor::compute("b", tensor::axes_of(x.shape()), [&](const tensor::Indices& i) { return a(i) * x(i); });
  return tensor::lower("chain", {x, y}, {b});
}

/// The rules of each derivation in their order, as "rule(block)".
std::vector<std::vector<std::string>> rules_of(const ir::Function& naive, const codegen::Target& target) {
  const Task task = gpu_task(naive);
  std::vector<LeftOut> left_out;
  std::vector<std::vector<std::string>> all;
  for (const Derivation& derivation : derive(naive, {task, target, Tiles::Divisor}, {}, left_out)) {
    all.emplace_back();
    for (const Applied& one : derivation.applied) all.back().push_back(fmt::format("{}({})", one.rule, one.block));
  }
  return all;
}

TEST(GpuRules, OfAProductAreAnsors) {
  const codegen::Target target = gpu();
  EXPECT_THAT(rules_of(gpu_product(512, 512, 512), target),
              ElementsAre(ElementsAre("add cache write(matmul)", "tile with fusion(matmul)", "add cache read(input b)",
                                      "skip(input b)", "add cache read(input a)", "skip(input a)")));
  EXPECT_THAT(rules_of(gpu_matmul_relu(512, 512, 512), target),
              ElementsAre(ElementsAre("skip(relu)", "tile with fusion(matmul)", "add cache read(input b)",
                                      "skip(input b)", "add cache read(input a)", "skip(input a)")));
}

TEST(GpuRules, OfSmallProductsWithLongSumsShareThemAmongThreads) {
  EXPECT_THAT(rules_of(gpu_matmul_relu(8, 8, 512), gpu()),
              ElementsAre(ElementsAre("skip(relu)", "cross thread reduction(matmul)", "skip(input b)", "skip(input a)"),
                          ElementsAre("skip(relu)", "tile with fusion(matmul)", "add cache read(input b)",
                                      "skip(input b)", "add cache read(input a)", "skip(input a)")));
}

TEST(GpuRules, OfAConvolutionReadThePaddingIntoSharedMemory) {
  const auto all = rules_of(gpu_layer(64, 64, 28, 28, 3, 1), gpu());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(all[0], ElementsAre("skip(out)", "tile with fusion(conv)", HasSubstr("add cache read("),
                                  HasSubstr("always inline("), "skip(input b)", "add cache read(input w)",
                                  "skip(input w)", "skip(input x)"));
}

TEST(GpuRules, OfWinogradsTransformsWriteOutTheirCases) {
  const tensor::Tensor x = placeholder("x", {1, 64, 14, 14}), w = placeholder("w", {64, 64, 3, 3});
  const tensor::ConvOptions options{.padding_before = {1, 1}, .padding_after = {1, 1}};
  const auto all = rules_of(tensor::lower("conv", {x, w}, {*tensor::winograd_conv(x, w, options, 2)}), gpu());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(all[0],
              testing::IsSupersetOf({"simplify const tensor(output_rows)", "add cache write(winograd_products)",
                                     "tile with fusion(winograd_products)", "add cache read(input_points)",
                                     "simplify const tensor(input_points)", "simplify const tensor(weight_rows)"}));
}

TEST(GpuSketches, RandomCandidatesComputeTheSame) {
  Rng rng(/*seed=*/1);
  const codegen::Target target = gpu("-warp=4 -max-threads=32");  // as small as the programs
  const std::vector<ir::Function> programs = {gpu_product(16, 12, 8),
                                              gpu_product(13, 7, 5),
                                              gpu_product(1, 37, 16),
                                              gpu_product(37, 1, 3),
                                              gpu_product(2, 3, 67),
                                              gpu_matmul_relu(17, 8, 12),
                                              gpu_batch_matmul(3, 8, 5, 12),
                                              gpu_layer(4, 6, 7, 5, 3, 1),
                                              gpu_layer(3, 8, 5, 7, 1, 2),
                                              gpu_layer(8, 8, 6, 6, 3, 1, 8),
                                              gpu_softmax(5, 37),
                                              gpu_softmax(1, 128),
                                              gpu_sum({7, 61}, {1}),
                                              gpu_sum({61, 7}, {0}),
                                              gpu_sum({3, 11, 13}, {0, 2}),
                                              gpu_sum({131}, {0}),
                                              gpu_chain(7, 61),
                                              gpu_chain(1, 1)};
  for (const ir::Function& naive : programs) {
    const auto space = make_space("sketch", gpu_task(naive), target).value();
    EXPECT_FALSE(space->notes().is_fallback) << naive.name;
    GpuComparison comparison(naive, *space, target, rng);
    for (const Candidate& start : space->starts())
      EXPECT_TRUE(comparison.check(start, /*compiles=*/start == space->first()));
    int built = 0, drawn = 0;
    for (; drawn < 1000 && built < 30; ++drawn) built += comparison.check(random_candidate(*space, rng)) ? 1 : 0;
    EXPECT_EQ(built, 30) << naive.name << " of " << drawn << "\n" << explain(*space, 100, rng).to_text();
    fmt::print("{:<10}{:>3} sketches {:>22} candidates, {:>2} of {} built\n", naive.name, space->sketches().size(),
               size_of(*space), built, drawn);
  }
}

TEST(GpuSketches, OfEveryDefinitionComputeTheSame) {
  Rng rng(/*seed=*/2);
  const codegen::Target target = gpu("-warp=4 -max-threads=32");
  for (const tensor::NamedProgram& entry : tensor::catalogue(rng)) {
    const auto space = make_space("sketch", gpu_task(entry.function), target).value();
    GpuComparison comparison(entry.function, *space, target, rng);
    for (const Candidate& start : space->starts()) EXPECT_TRUE(comparison.check(start)) << entry.name;
    for (int i = 0; i < 5; ++i) comparison.check(random_candidate(*space, rng));
  }
}

TEST(GpuSketches, OfWinogradConvolutionsComputeTheSame) {
  Rng rng(/*seed=*/5);
  const codegen::Target target = gpu("-warp=4 -max-threads=32");
  const tensor::Tensor x = placeholder("x", {1, 3, 7, 5}), w = placeholder("w", {5, 3, 3, 3});
  const tensor::ConvOptions options{.padding_before = {1, 1}, .padding_after = {1, 1}};
  for (const std::int64_t m : {2, 4}) {
    Task task = gpu_task(tensor::lower("conv", {x, w}, {*tensor::conv(x, w, options)}));
    task.algorithms.push_back({"winograd", tensor::lower("conv", {x, w}, {*tensor::winograd_conv(x, w, options, m)})});
    task.likely = 1;
    const auto space = make_space("sketch", task, target).value();
    const Candidate first = space->first();
    EXPECT_TRUE(space->sketches()[first.sketch].name.starts_with("winograd")) << space->sketches()[first.sketch].name;
    GpuComparison comparison(task.naive(), *space, target, rng, /*tolerance=*/2e-3);
    EXPECT_TRUE(comparison.check(first, /*compiles=*/true));
    int built = 0;
    for (int drawn = 0; drawn < 1000 && built < 30; ++drawn)
      built += comparison.check(random_candidate(*space, rng)) ? 1 : 0;
    EXPECT_EQ(built, 30);
  }
}

TEST(GpuSketches, KeepToTheLimitsAndSayWhatTheyLeaveOut) {
  Rng rng(/*seed=*/3);
  const codegen::Target target = gpu("-shared-bytes=8192");
  const auto space = make_space("sketch", gpu_task(gpu_product(512, 512, 512)), target).value();
  std::string reasons;
  for (const LeftOut& left_out : space->notes().left_out) reasons += left_out.what + ": " + left_out.reason + "\n";
  EXPECT_THAT(reasons, HasSubstr("options of matmul.i"));
  EXPECT_THAT(reasons, HasSubstr("they have more than 8 virtual threads"));
  const Explanation explained = explain(*space, 400, rng);
  const std::string text = explained.to_text();
  EXPECT_GT(explained.built, 0) << text;
  EXPECT_THAT(text, HasSubstr("threads in a block, allowed are #"));
  EXPECT_THAT(text, HasSubstr("bytes of shared memory, allowed are #"));
  EXPECT_THAT(text, HasSubstr("registers in a thread, allowed are #"));
  EXPECT_THAT(text, HasSubstr("virtual threads, allowed are #"));
  for (int i = 0; i < 200; ++i) {
    const Result<schedule::Schedule> made = space->build(random_candidate(*space, rng));
    if (!made) continue;
    const GpuUse use = gpu_use(made->program());
    EXPECT_GE(use.threads, 32);
    EXPECT_LE(use.threads, 1024);
    EXPECT_LE(use.vthreads, 8);
    EXPECT_LE(use.shared_bytes, 8192);
    EXPECT_GT(use.shared_bytes, 0);
    EXPECT_LE(use.registers, 255);
  }
}

TEST(GpuSketches, PrimesHaveTilesWithTails) {
  const codegen::Target target = gpu();
  const auto space = make_space("sketch", gpu_task(gpu_product(2039, 2039, 2039)), target).value();
  EXPECT_FALSE(space->notes().is_fallback);
  const Result<schedule::Schedule> made = space->build(space->first());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(gpu_use(made->program()).threads, 256);
}

TEST(GpuSketches, AProgramIsLeftWhereNothingFits) {
  Rng rng(/*seed=*/4);
  const codegen::Target target = gpu("-shared-bytes=8 -warp=4 -max-threads=4");
  for (const ir::Function& naive : {gpu_product(16, 12, 8), gpu_layer(4, 6, 7, 5, 3, 1), gpu_softmax(5, 37)}) {
    const auto space = make_space("sketch", gpu_task(naive), target).value();
    GpuComparison comparison(naive, *space, target, rng);
    EXPECT_TRUE(comparison.check(space->first())) << naive.name;
  }
  const auto space = make_space("sketch", gpu_task(gpu_product(16, 12, 8)), target).value();
  EXPECT_TRUE(space->notes().is_fallback);
  EXPECT_THAT(ir::to_text(space->build(space->first())->program()), HasSubstr("thread_x"));
}

TEST(GpuSketches, OfSoftmaxShareSumsAmongTheThreadsOfARow) {
  const auto space = make_space("sketch", gpu_task(gpu_softmax(64, 512)), gpu()).value();
  std::vector<std::string> names;
  for (const Sketch& sketch : space->sketches()) names.push_back(sketch.name);
  EXPECT_THAT(names, ElementsAre("direct softmax(rows) sum(threads) max(threads)", "direct softmax(rows) sum(threads)",
                                 "direct max(threads)", "direct"));
}

TEST(GpuSketches, CopyOperandsOnceForAllThreadsOfABlock) {
  const codegen::Target target = gpu();
  const auto space = make_space("sketch", gpu_task(gpu_matmul_relu(256, 256, 256)), target).value();
  const Result<schedule::Schedule> made = space->build(space->first());
  ASSERT_TRUE(made) << made.error().message;
  const std::string text = ir::to_text(made->program());
  for (const char* part : {"a.shared", "b.shared", "block_x", "vthread", "thread_x", "local"})
    EXPECT_THAT(text, HasSubstr(part));
  const GpuUse use = gpu_use(made->program());
  EXPECT_EQ(use.threads, 256);
  EXPECT_EQ(use.registers, 16);
  EXPECT_EQ(use.shared_bytes, 2 * 64 * 16 * 4);
}

}  // namespace
}  // namespace hone::space
