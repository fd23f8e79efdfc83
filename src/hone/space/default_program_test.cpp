#include "hone/space/default_program.h"

#include <gtest/gtest.h>

#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/space/run_program_test.h"
#include "hone/tensor/catalogue.h"
#include "hone/tensor/definitions.h"

namespace hone::space {
namespace {

TEST(DefaultProgram, ComputesWhatTheNaiveProgramComputes) {
  Rng rng(/*seed=*/1);
  runtime::ThreadPool pool(2);
  for (const char* text : {"cpu -threads=2", "cpu -threads=1", "x86-64 -mattr=+avx2 -threads=2"}) {
    const codegen::Target target = codegen::parse_target(text).value();
    for (int round = 0; round < 3; ++round)
      for (const tensor::NamedProgram& entry : tensor::catalogue(rng)) {
        std::vector<ir::Array> expected = ir::random_arguments(entry.function, rng);
        const std::vector<ir::Array> arguments = expected;
        ASSERT_TRUE(ir::interpret(entry.function, expected)) << entry.name;
        // Second inputs are weights in every entry that has one worth packing.
        std::vector<std::size_t> constants;
        if (round % 2 == 1 && entry.function.params.size() > 2) constants.push_back(1);
        const schedule::KernelProgram program = default_program(entry.function, constants, target);
        ASSERT_TRUE(ir::verify(program.main)) << entry.name;
        const auto actual = run(program, arguments, target, pool);
        ASSERT_TRUE(actual) << entry.name << ": " << actual.error().message;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          if (std::find(program.packed.begin(), program.packed.end(), i) != program.packed.end()) continue;
          EXPECT_LE(ir::max_difference((*actual)[i], expected[i]), 1e-5) << entry.name << " on " << text << "\n"
                                                                         << ir::to_text(program.main);
        }
      }
  }
}

TEST(DefaultProgram, ComputesLayersInBlockedLayouts) {
  Rng rng(/*seed=*/2);
  runtime::ThreadPool pool(2);
  const Layer layers[] = {
      {16, 32, 6, 7, 1, 1, 1, 16, 16},
      {3, 16, 9, 8, 3, 2, 1, 0, 16},
      {16, 24, 5, 15, 3, 1, 1, 16, 8},
      {24, 16, 4, 3, 3, 1, 1, 8, 16},
      {16, 48, 3, 1, 3, 1, 1, 16, 16},
      {32, 32, 7, 16, 3, 1, 32, 16, 16},
      {16, 16, 9, 9, 5, 2, 16, 16, 16},
      {16, 16, 1, 1, 1, 1, 1, 16, 0},
      {8, 64, 2, 13, 1, 2, 1, 8, 16},
      {16, 16, 5, 29, 3, 1, 16, 16, 8},
      {512, 32, 5, 7, 1, 1, 1, 16, 16},
      {128, 32, 4, 5, 3, 1, 1, 16, 16},
      {32, 16, 6, 6, 1, 1, 1, 16, 16},
      // vectors of channels that tiles do not divide
      {32, 112, 4, 14, 1, 1, 1, 16, 16},
      {16, 80, 3, 7, 3, 1, 1, 16, 16},
      // blocks of channels that share a register: 2.5 registers, 3 tiles of 1.5, 11 blocks that nothing divides
      {32, 40, 4, 14, 1, 1, 1, 16, 8},
      {16, 72, 3, 9, 3, 1, 1, 16, 8},
      {16, 88, 2, 5, 1, 1, 1, 16, 8},
      // nothing in blocks: sums are, where steps or short rows would spoil vectors along rows
      {5, 32, 9, 16, 3, 2, 1, 0, 0},
      {7, 24, 6, 11, 3, 3, 1, 0, 0},
      {4, 48, 5, 17, 1, 1, 1, 0, 0},
      {3, 30, 7, 9, 3, 2, 1, 0, 0},
      // from blocks to results that are not in blocks
      {24, 29, 7, 9, 1, 1, 1, 8, 0},
      {32, 7, 6, 5, 3, 2, 1, 16, 0},
      // groups of 4, 8 and 32 channels, of 4 into 8, 2 into 4 and 3 into 3
      {32, 32, 5, 15, 3, 1, 8, 16, 16},
      {48, 48, 6, 7, 3, 2, 6, 16, 16},
      {64, 64, 4, 7, 3, 1, 2, 16, 16},
      {32, 64, 3, 5, 1, 1, 8, 16, 16},
      {24, 48, 5, 5, 3, 1, 12, 8, 16},
      {48, 48, 4, 3, 3, 1, 16, 16, 16},
  };
  for (const char* text : {"cpu -threads=2", "x86-64 -mattr=+avx2 -threads=1"}) {
    const codegen::Target target = codegen::parse_target(text).value();
    for (const Layer& layer : layers) {
      const ir::Function naive = blocked_layer(layer);
      std::vector<ir::Array> expected = ir::random_arguments(naive, rng);
      const std::vector<ir::Array> arguments = expected;
      ASSERT_TRUE(ir::interpret(naive, expected));
      const schedule::KernelProgram program = default_program(naive, std::vector<std::size_t>{1, 2}, target);
      const Result<std::vector<ir::Array>> found = run(program, arguments, target, pool);
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_LE(ir::max_difference(found->back(), expected.back()), 1e-5) << ir::to_text(program.main);
    }
  }
}

TEST(DefaultProgram, SharesRowsAmongThreadsWhereThatIsEven) {
  Rng rng(/*seed=*/5);
  runtime::ThreadPool pool(3);
  codegen::Target target = codegen::parse_target("cpu -threads=3").value();
  struct Shared {
    Layer layer;
    const char* loop;  ///< that is parallel
  };
  const Shared cases[] = {
      {{32, 80, 6, 14, 1, 1, 1, 16, 16}, "for y.0 in 0..3 parallel"},
      // a last band that is smaller, images with an edge, steps, and a result that is not in blocks
      {{16, 48, 20, 9, 3, 1, 1, 16, 16}, "for y.0 in 0..3 parallel"},
      {{3, 32, 41, 23, 3, 2, 1, 0, 16}, "for y.0 in 0..3 parallel"},
      {{32, 32, 12, 9, 3, 2, 1, 16, 0}, "for y.0 in 0..3 parallel"},
      // two images, seven rows: neither is even
      {{64, 96, 7, 7, 1, 1, 1, 16, 16}, "for n@o.0.0"},
      // channels that stay among themselves
      {{192, 192, 15, 15, 3, 1, 192, 16, 16}, "for n@c.0.0"},
      // the same, but not as many for each thread
      {{80, 80, 15, 15, 3, 1, 80, 16, 16}, "for y.0 in 0..3 parallel"},
      {{112, 112, 23, 9, 5, 2, 112, 16, 16}, "for y.0 in 0..3 parallel"},
  };
  for (const Shared& c : cases) {
    const ir::Function naive = blocked_layer(c.layer);
    std::vector<ir::Array> expected = ir::random_arguments(naive, rng);
    const std::vector<ir::Array> arguments = expected;
    ASSERT_TRUE(ir::interpret(naive, expected));
    const schedule::KernelProgram program = default_program(naive, std::vector<std::size_t>{1, 2}, target);
    const std::string text = ir::to_text(program.main);
    EXPECT_NE(text.find(c.loop), std::string::npos) << text;
    const Result<std::vector<ir::Array>> found = run(program, arguments, target, pool);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_LE(ir::max_difference(found->back(), expected.back()), 1e-5) << text;
  }
}

TEST(DefaultProgram, ComputesConvolutionsWithStepsOfAnyRank) {
  Rng rng(/*seed=*/4);
  runtime::ThreadPool pool(2);
  struct Convolved {
    tensor::Shape image, weight;
    tensor::ConvOptions options;
  };
  const Convolved cases[] = {
      {{1, 5, 31}, {32, 5, 3}, {.strides = {2}, .padding_before = {1}, .padding_after = {1}}},
      {{2, 3, 17}, {48, 3, 5}, {.strides = {3}, .padding_before = {0}, .padding_after = {4}}},
      {{1, 4, 5, 6, 7},
       {32, 4, 3, 3, 3},
       {.strides = {1, 2, 2}, .padding_before = {1, 1, 1}, .padding_after = {1, 1, 1}}},
      {{1, 3, 4, 4, 9}, {40, 3, 1, 2, 2}, {.strides = {1, 1, 2}}},
  };
  for (const char* text : {"cpu -threads=2", "x86-64 -mattr=+avx2 -threads=1"}) {
    const codegen::Target target = codegen::parse_target(text).value();
    for (const Convolved& c : cases) {
      const tensor::Tensor x = tensor::placeholder("x", c.image), w = tensor::placeholder("w", c.weight);
      const ir::Function naive = tensor::lower("conv", {x, w}, {*tensor::conv(x, w, c.options)});
      std::vector<ir::Array> expected = ir::random_arguments(naive, rng);
      const std::vector<ir::Array> arguments = expected;
      ASSERT_TRUE(ir::interpret(naive, expected));
      const schedule::KernelProgram program = default_program(naive, std::vector<std::size_t>{1}, target);
      EXPECT_NE(ir::to_text(program.main).find("packed"), std::string::npos) << ir::to_text(program.main);
      const Result<std::vector<ir::Array>> found = run(program, arguments, target, pool);
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_LE(ir::max_difference(found->back(), expected.back()), 1e-5) << ir::to_text(program.main);
    }
  }
}

TEST(DefaultProgram, FetchesWeightsAheadThatTheCacheDoesNotHold) {
  Rng rng(/*seed=*/3);
  runtime::ThreadPool pool(2);
  codegen::Target target = codegen::parse_target("cpu -threads=2").value();
  target.l1_bytes = target.l2_bytes = 1 << 12;
  const tensor::Tensor a = tensor::placeholder("a", {37, 64}), b = tensor::placeholder("b", {64, 113});
  const ir::Function product = tensor::lower("product", {a, b}, {*tensor::matmul(a, b)});
  for (const ir::Function& naive : {product, blocked_layer({128, 64, 5, 7, 3, 1, 1, 16, 16})}) {
    std::vector<ir::Array> expected = ir::random_arguments(naive, rng);
    const std::vector<ir::Array> arguments = expected;
    ASSERT_TRUE(ir::interpret(naive, expected));
    const schedule::KernelProgram program = default_program(naive, std::vector<std::size_t>{1}, target);
    EXPECT_NE(ir::to_text(program.main).find("prefetch"), std::string::npos) << ir::to_text(program.main);
    const Result<std::vector<ir::Array>> found = run(program, arguments, target, pool);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_LE(ir::max_difference(found->back(), expected.back()), 1e-5) << ir::to_text(program.main);
  }
}

TEST(DefaultWinogradTile, IsChosenWhereThereIsMuchToMultiply) {
  const codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1").value();
  EXPECT_EQ(default_winograd_tile({1, 64, 64, 56, 56}, target), 4);
  EXPECT_EQ(default_winograd_tile({1, 3, 64, 224, 224}, target), 0);
  EXPECT_EQ(default_winograd_tile({1, 64, 64, 1, 1}, target), 0);
  EXPECT_EQ(default_winograd_tile({1, 64, 64, 0, 0}, target), 0);
}

TEST(DefaultWinogradTile, HasMorePointsWhereTheirWeightsAreReadFast) {
  const auto tile_on = [](const char* text, std::int64_t channels, std::int64_t size) {
    codegen::Target target = codegen::parse_target(text).value();
    target.l2_bytes = 1 << 20;
    target.l3_bytes = 32 << 20;
    return default_winograd_tile({1, channels, channels, size, size}, target);
  };
  EXPECT_EQ(tile_on("x86-64 -mcpu=sapphirerapids -threads=1", 512, 7), 0);
  EXPECT_EQ(tile_on("x86-64 -mcpu=znver4 -threads=1", 512, 7), 2);
  EXPECT_EQ(tile_on("x86-64 -mcpu=sapphirerapids -threads=1", 256, 14), 2);
  EXPECT_EQ(tile_on("x86-64 -mcpu=znver4 -threads=1", 256, 14), 4);
}

}  // namespace
}  // namespace hone::space
