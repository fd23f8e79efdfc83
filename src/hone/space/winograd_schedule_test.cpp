#include "hone/space/winograd_schedule.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "hone/codegen/compile.h"
#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/runtime/parallel.h"
#include "hone/runtime/scratch.h"
#include "hone/runtime/thread_pool.h"
#include "hone/schedule/prepack.h"
#include "hone/schedule/primitives.h"
#include "hone/space/default_program.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::space {
namespace {

using tensor::Indices;
using tensor::Tensor;

struct ConvShape {
  std::int64_t images, in, out, height, width, padding;
};

/// Odd extents, tails of every kind, and one that leaves none.
const std::vector<ConvShape> kShapes = {{1, 3, 2, 7, 5, 1}, {2, 5, 19, 9, 11, 1}, {1, 16, 32, 8, 4, 1},
                                        {1, 1, 1, 3, 3, 0}, {3, 17, 16, 6, 4, 0}, {1, 2, 33, 1, 13, 1}};

/// relu(conv(x, w) + bias + residual), after a prologue on x if asked.
ir::Function convolution(const ConvShape& s, std::int64_t m, bool has_prologue) {
  const Tensor x = tensor::placeholder("X", {s.images, s.in, s.height, s.width});
  const Tensor w = tensor::placeholder("W", {s.out, s.in, 3, 3});
  const tensor::ConvOptions options{.padding_before = {s.padding, s.padding}, .padding_after = {s.padding, s.padding}};
  const Tensor in = has_prologue ? tensor::relu(x) : x;
  const Tensor y = tensor::winograd_conv(in, w, options, m).value();
  const Tensor bias = tensor::placeholder("bias", {s.out}), residual = tensor::placeholder("residual", y.shape());
  const std::vector<tensor::Axis> axes(y.shape().begin(), y.shape().end());
  const Tensor biased = tensor::compute("biased", axes, [&](const Indices& i) { return y(i) + bias(i[1]); });
  const Tensor total = tensor::compute("total", axes, [&](const Indices& i) { return biased(i) + residual(i); });
  return tensor::lower("conv", {x, w, bias, residual}, {tensor::relu(total)});
}

/// The naive program's result on whole numbers, in `arguments`.
ir::Array expected_on(const ir::Function& naive, std::vector<ir::Array>& arguments) {
  Rng rng(/*seed=*/5);
  arguments = ir::random_arguments(naive, rng);
  std::vector<ir::Array> arrays = arguments;
  ir::interpret(naive, arrays).value();
  return arrays.back();
}

/// Compiles and runs the two parts of a schedule that packs its weight, which is parameter 1.
ir::Array run_compiled(const ir::Function& scheduled, std::vector<ir::Array> arguments, const codegen::Target& target) {
  auto [prepare, main] = schedule::split_prepack(scheduled).value();
  const codegen::CompileOptions options{.runtime = {hone_parallel_for, hone_allocate, hone_release}};
  const codegen::CompiledModule module = codegen::compile(ir::Module{{prepare, main}}, target, options).value();
  std::vector<std::int64_t> shape;
  for (const ir::Expr& extent : main.params[1].get<ir::Buffer>().shape) shape.push_back(ir::constant_value(extent));
  ir::Array packed(main.params[1].type(), shape);
  module.find(prepare.name).value()(std::vector<void*>{arguments[1].data(), packed.data()}).value();
  arguments[1] = packed;
  std::vector<void*> pointers;
  for (ir::Array& array : arguments) pointers.push_back(array.data());
  runtime::ThreadPool pool(2);
  module.find(main.name).value()(pointers, &pool).value();
  return arguments.back();
}

WinogradTile random_tile(Rng& rng, std::int64_t lanes) {
  return {.images = rng.uniform(1, 2),
          .rows = rng.uniform(1, 3),
          .columns = rng.uniform(1, 4),
          .channels = lanes * rng.uniform(1, 2),
          .gemm_rows = rng.uniform(1, 7),
          .gemm_vectors = rng.uniform(1, 2),
          .fetches_weights = rng.chance(0.5),
          .fetches_tensors = rng.chance(0.5)};
}

TEST(WinogradSchedule, ComputesWhatTheNaiveProgramComputes) {
  Rng rng(/*seed=*/1);
  for (const char* text : {"cpu -threads=2", "x86-64 -mattr=+avx2 -threads=1"}) {
    const codegen::Target target = codegen::parse_target(text).value();
    for (const ConvShape& shape : kShapes)
      for (int round = 0; round < (target.threads == 2 ? 3 : 1); ++round) {
        const std::int64_t m = std::vector<std::int64_t>{2, 4, 2}[static_cast<std::size_t>(round)];
        const ir::Function naive = convolution(shape, m, /*has_prologue=*/round == 2);
        std::vector<ir::Array> arguments;
        const ir::Array expected = expected_on(naive, arguments);
        const WinogradTile tile =
            round == 0 ? default_winograd_tile(naive, target) : random_tile(rng, target.lanes(32));
        const Result<schedule::Schedule> made = schedule_winograd(naive, /*packs_weight=*/true, tile, target);
        ASSERT_TRUE(made) << made.error().message << "\n" << ir::to_text(naive);
        ASSERT_TRUE(ir::verify(made->program())) << ir::to_text(made->program());
        const double tolerance = m == 2 ? 0 : 1e-3;
        std::vector<ir::Array> arrays = arguments;
        const Result<void> done = ir::interpret(made->program(), arrays);
        ASSERT_TRUE(done) << done.error().message << "\n" << ir::to_text(made->program());
        EXPECT_LE(max_difference(arrays.back(), expected), tolerance);
        EXPECT_LE(max_difference(run_compiled(made->program(), arguments, target), expected), tolerance)
            << text << ", round " << round << ", width " << shape.width;
      }
  }
}

/// The elements of x[n, c, y, x] as [n, c / lanes, y, x, lanes], for whole numbers of vectors.
ir::Array in_blocks(const ir::Array& x, std::int64_t lanes) {
  const std::vector<std::int64_t>& s = x.shape();
  const std::int64_t area = s[2] * s[3];
  ir::Array blocked(x.type(), {s[0], s[1] / lanes, s[2], s[3], lanes});
  for (std::int64_t n = 0; n < s[0]; ++n)
    for (std::int64_t c = 0; c < s[1]; ++c)
      for (std::int64_t at = 0; at < area; ++at)
        blocked.set(((n * (s[1] / lanes) + c / lanes) * area + at) * lanes + c % lanes,
                    x.float_at((n * s[1] + c) * area + at));
  return blocked;
}

TEST(WinogradSchedule, ParametersMayBeInBlocksOfChannels) {
  const codegen::Target target = codegen::parse_target("cpu -threads=2").value();
  const std::int64_t lanes = target.lanes(32);
  ir::Function naive = convolution({2, 2 * lanes, lanes, 6, 7, 1}, 2, /*has_prologue=*/false);
  std::vector<ir::Array> arguments;
  const ir::Array expected = in_blocks(expected_on(naive, arguments), lanes);
  const std::string map = fmt::format("(n, c, y, x) -> (n, c // {0}, y, x, c % {0})", lanes);
  for (const std::size_t param : {0, 3, 4}) {
    naive = schedule::set_param_layout(naive, param, map).value();
    arguments[param] = in_blocks(arguments[param], lanes);
  }
  const schedule::Schedule made =
      schedule_winograd(naive, /*packs_weight=*/true, default_winograd_tile(naive, target), target).value();
  EXPECT_EQ(max_difference(run_compiled(made.program(), arguments, target), expected), 0);
}

TEST(WinogradSchedule, TheLargestTilesCompileToo) {
  const codegen::Target target = codegen::parse_target("cpu -threads=2").value();
  const ir::Function naive = convolution({1, 16, 16, 12, 12, 1}, 6, /*has_prologue=*/false);
  std::vector<ir::Array> arguments;
  const ir::Array expected = expected_on(naive, arguments);
  const WinogradTile tile = default_winograd_tile(naive, target);
  const schedule::Schedule made = schedule_winograd(naive, /*packs_weight=*/true, tile, target).value();
  EXPECT_LE(max_difference(run_compiled(made.program(), arguments, target), expected), 1e-3);
}

TEST(WinogradSchedule, WeightsThatChangeAreTransformedInTheProgram) {
  const codegen::Target target = codegen::parse_target("cpu -threads=2").value();
  const ir::Function naive = convolution(kShapes[1], 2, /*has_prologue=*/false);
  std::vector<ir::Array> arguments;
  const ir::Array expected = expected_on(naive, arguments);
  const schedule::Schedule made =
      schedule_winograd(naive, /*packs_weight=*/false, default_winograd_tile(naive, target), target).value();
  EXPECT_FALSE(schedule::split_prepack(made.program()));
  ir::interpret(made.program(), arguments).value();
  EXPECT_EQ(max_difference(arguments.back(), expected), 0);
}

TEST(WinogradSchedule, ValuesAtThePointsStandInTheCacheOfOneBlockOnly) {
  const codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=1").value();
  const ir::Function naive = convolution({1, 64, 64, 56, 56, 1}, 4, /*has_prologue=*/false);
  const WinogradTile tile = default_winograd_tile(naive, target);
  EXPECT_EQ(tile.rows * tile.columns, 14);
  EXPECT_LE((tile.gemm_rows + 1) * tile.gemm_vectors + 1, target.vector_registers);
}

TEST(WinogradSchedule, IsTheDefaultProgramWithWeightsTransformedAheadIfTheyAreConstant) {
  const codegen::Target target = codegen::parse_target("cpu -threads=2").value();
  const ir::Function naive = convolution(kShapes[1], 4, /*has_prologue=*/false);
  const schedule::KernelProgram constant = default_program(naive, std::vector<std::size_t>{1}, target);
  ASSERT_TRUE(constant.prepare);
  EXPECT_EQ(constant.packed, std::vector<std::size_t>{1});
  EXPECT_EQ(constant.main.params[1].get<ir::Buffer>().shape.size(), 6u);
  EXPECT_FALSE(default_program(naive, {}, target).prepare);
}

TEST(WinogradSchedule, OtherProgramsAreRefused) {
  const Tensor x = tensor::placeholder("X", {1, 4, 8, 8}), w = tensor::placeholder("W", {4, 4, 3, 3});
  const ir::Function direct = tensor::lower("direct", {x, w}, {tensor::conv(x, w, {}).value()});
  EXPECT_FALSE(is_winograd(direct));
  EXPECT_EQ(schedule_winograd(direct, true, {}, codegen::host_target()).error().message,
            "winograd: 'direct' is not a Winograd convolution");
}

}  // namespace
}  // namespace hone::space
