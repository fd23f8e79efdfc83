#include "hone/space/default_program.h"

#include <gtest/gtest.h>

#include "hone/codegen/compile.h"
#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/runtime/parallel.h"
#include "hone/runtime/scratch.h"
#include "hone/runtime/thread_pool.h"
#include "hone/schedule/primitives.h"
#include "hone/tensor/catalogue.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::space {
namespace {

/// Runs the program on the arguments of the naive one, packing what it wants packed.
Result<std::vector<ir::Array>> run(const DefaultProgram& program, const std::vector<ir::Array>& arguments,
                                   const codegen::Target& target, runtime::ThreadPool& pool) {
  ir::Module module{{program.main}};
  module.functions[0].name = "main";
  if (program.prepare) {
    module.functions.push_back(*program.prepare);
    module.functions[1].name = "prepare";
  }
  codegen::CompileOptions options;
  options.runtime = {hone_parallel_for, hone_allocate, hone_release};
  HONE_TRY(const codegen::CompiledModule compiled, codegen::compile(module, target, options));
  std::vector<ir::Array> arrays = arguments;
  if (program.prepare) {
    std::vector<void*> pointers;
    std::vector<ir::Array> packed;
    for (const std::size_t i : program.packed) pointers.push_back(arrays[i].data());
    for (const std::size_t i : program.packed) {
      std::vector<std::int64_t> shape;
      for (const ir::Expr& extent : program.main.params[i].get<ir::Buffer>().shape)
        shape.push_back(ir::constant_value(extent));
      packed.emplace_back(program.main.params[i].type(), shape);
    }
    for (ir::Array& array : packed) pointers.push_back(array.data());
    HONE_TRY(const codegen::Kernel prepare, compiled.find("prepare"));
    HONE_TRY(prepare(pointers));
    for (std::size_t i = 0; i < packed.size(); ++i) arrays[program.packed[i]] = packed[i];
  }
  std::vector<void*> pointers;
  for (ir::Array& array : arrays) pointers.push_back(array.data());
  HONE_TRY(const codegen::Kernel main, compiled.find("main"));
  HONE_TRY(main(pointers, &pool));
  return arrays;
}

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
        const DefaultProgram program = default_program(entry.function, constants, target);
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

/// A convolution with bias and relu whose image stands in blocks of channels, in (if `in_block` > 0) and out.
struct Layer {
  std::int64_t in, out, height, width, kernel, stride, groups, in_block, out_block;
};

ir::Function blocked_layer(const Layer& layer) {
  const tensor::Tensor x = tensor::placeholder("x", {2, layer.in, layer.height, layer.width});
  const tensor::Tensor w = tensor::placeholder("w", {layer.out, layer.in / layer.groups, layer.kernel, layer.kernel});
  const tensor::Tensor b = tensor::placeholder("b", {layer.out});
  const std::int64_t pad = layer.kernel / 2;
  const tensor::ConvOptions options{.strides = {layer.stride, layer.stride},
                                    .padding_before = {pad, pad},
                                    .padding_after = {pad, pad},
                                    .groups = layer.groups};
  const tensor::Tensor y = layer.groups == 1 ? *tensor::conv(x, w, options) : *tensor::depthwise_conv(x, w, options);
  const tensor::Tensor out = tensor::compute("out", tensor::axes_of(y.shape()), [&](const tensor::Indices& i) {
    return ir::max(y(i) + b(i[1]), ir::constant(ir::kF32, 0.0));
  });
  ir::Function program = tensor::lower("layer", {x, w, b}, {out});
  const auto map = [](std::int64_t block) {
    return "(n, c, y, x) -> (n, c // " + std::to_string(block) + ", y, x, c % " + std::to_string(block) + ")";
  };
  if (layer.in_block > 0) program = *schedule::set_param_layout(program, 0, map(layer.in_block));
  if (layer.out_block > 0) program = *schedule::set_param_layout(program, 3, map(layer.out_block));
  return program;
}

TEST(DefaultProgram, ComputesLayersInBlockedLayouts) {
  Rng rng(/*seed=*/2);
  runtime::ThreadPool pool(2);
  const Layer layers[] = {
      {16, 32, 6, 7, 1, 1, 1, 16, 16},  {3, 16, 9, 8, 3, 2, 1, 0, 16},    {16, 24, 5, 15, 3, 1, 1, 16, 8},
      {24, 16, 4, 3, 3, 1, 1, 8, 16},   {16, 48, 3, 1, 3, 1, 1, 16, 16},  {32, 32, 7, 16, 3, 1, 32, 16, 16},
      {16, 16, 9, 9, 5, 2, 16, 16, 16}, {16, 16, 1, 1, 1, 1, 1, 16, 0},   {8, 64, 2, 13, 1, 2, 1, 8, 16},
      {16, 16, 5, 29, 3, 1, 16, 16, 8}, {512, 32, 5, 7, 1, 1, 1, 16, 16}, {128, 32, 4, 5, 3, 1, 1, 16, 16},
      {32, 16, 6, 6, 1, 1, 1, 16, 16},
  };
  for (const char* text : {"cpu -threads=2", "x86-64 -mattr=+avx2 -threads=1"}) {
    const codegen::Target target = codegen::parse_target(text).value();
    for (const Layer& layer : layers) {
      const ir::Function naive = blocked_layer(layer);
      std::vector<ir::Array> expected = ir::random_arguments(naive, rng);
      const std::vector<ir::Array> arguments = expected;
      ASSERT_TRUE(ir::interpret(naive, expected));
      const DefaultProgram program = default_program(naive, std::vector<std::size_t>{1, 2}, target);
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
    const DefaultProgram program = default_program(naive, std::vector<std::size_t>{1}, target);
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

}  // namespace
}  // namespace hone::space
