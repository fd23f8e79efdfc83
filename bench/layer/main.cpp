/// Times the default programs of single layers of well-known networks, as a share of the FMA peak measured in the same
/// round.
///
///     bench_layer [--only TEXT] [--threads N...] [--rounds N] [--emit naive|ir|lowered|llvm|asm]
///     bench_layer --model FILE... [--threads N...] [--rounds N] [--layouts]
///
/// Prints a table to stderr and one JSON line per figure to stdout; of model files a table of all their layers to
/// stdout, or, with --layouts, of all their kernels in every combination of layouts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fmt/core.h>

#include "layouts.h"
#include "models.h"
#include "runnable.h"

#include "hone/codegen/compile.h"
#include "hone/codegen/lower.h"
#include "hone/ir/text.h"
#include "hone/schedule/primitives.h"
#include "hone/space/default_program.h"
#include "hone/space/layout.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::bench {
namespace {

using tensor::Indices;
using tensor::Tensor;
using Clock = std::chrono::steady_clock;

/// A convolution with bias and an activation on an image of `size` by `size`.
struct Layer {
  std::string name;
  std::int64_t in, out, size, kernel, stride, groups;
  double bar = 0;
};

std::vector<Layer> layers() {
  return {
      {"first 7x7s2 3-64@224", 3, 64, 224, 7, 2, 1, 0.90},
      {"first 3x3s2 3-32@224", 3, 32, 224, 3, 2, 1, 0},
      {"1x1 64-64@56", 64, 64, 56, 1, 1, 1, 0.92},
      {"1x1 64-256@56", 64, 256, 56, 1, 1, 1, 0.92},
      {"1x1 256-64@56", 256, 64, 56, 1, 1, 1, 0.92},
      {"1x1 256-128@56", 256, 128, 56, 1, 1, 1, 0.92},
      {"1x1s2 256-512@56", 256, 512, 56, 1, 2, 1, 0.92},
      {"1x1 512-128@28", 512, 128, 28, 1, 1, 1, 0.92},
      {"1x1 128-512@28", 128, 512, 28, 1, 1, 1, 0.92},
      {"1x1 1024-256@14", 1024, 256, 14, 1, 1, 1, 0.92},
      {"1x1 256-1024@14", 256, 1024, 14, 1, 1, 1, 0.92},
      {"1x1 2048-512@7", 2048, 512, 7, 1, 1, 1, 0.92},
      {"1x1 512-2048@7", 512, 2048, 7, 1, 1, 1, 0.92},
      {"3x3 64-64@56", 64, 64, 56, 3, 1, 1, 0},
      {"3x3 128-128@28", 128, 128, 28, 3, 1, 1, 0},
      {"3x3 256-256@14", 256, 256, 14, 3, 1, 1, 0},
      {"3x3 512-512@7", 512, 512, 7, 3, 1, 1, 0},
      {"3x3s2 128-128@56", 128, 128, 56, 3, 2, 1, 0},
      {"3x3s2 512-512@14", 512, 512, 14, 3, 2, 1, 0},
      {"1x1 16-96@112", 16, 96, 112, 1, 1, 1, 0},
      {"1x1 96-24@56", 96, 24, 56, 1, 1, 1, 0},
      {"1x1 144-32@28", 144, 32, 28, 1, 1, 1, 0},
      {"1x1 320-1280@7", 320, 1280, 7, 1, 1, 1, 0},
      {"1x1 672-112@14", 672, 112, 14, 1, 1, 1, 0},
      {"1x1 480-80@14", 480, 80, 14, 1, 1, 1, 0},
      {"1x1 144-24@56", 144, 24, 56, 1, 1, 1, 0},
      {"1x1 240-40@28", 240, 40, 28, 1, 1, 1, 0},
      {"1x1 672-28@1", 672, 28, 1, 1, 1, 1, 0},
      {"1x1 28-672@1", 28, 672, 1, 1, 1, 1, 0},
      {"1x1 1152-48@1", 1152, 48, 1, 1, 1, 1, 0},
      {"depthwise 3x3 32@112", 32, 32, 112, 3, 1, 32, 0.90},
      {"depthwise 3x3s2 96@112", 96, 96, 112, 3, 2, 96, 0},
      {"depthwise 3x3 144@56", 144, 144, 56, 3, 1, 144, 0.90},
      {"depthwise 3x3 384@14", 384, 384, 14, 3, 1, 384, 0.90},
      {"depthwise 3x3 960@7", 960, 960, 7, 3, 1, 960, 0.90},
      {"depthwise 5x5 240@28", 240, 240, 28, 5, 1, 240, 0},
      {"depthwise 7x7 96@56", 96, 96, 56, 7, 1, 96, 0},
      {"groups of 4 3x3 128@56", 128, 128, 56, 3, 1, 32, 0},
      {"groups of 8 3x3 256@28", 256, 256, 28, 3, 1, 32, 0},
      {"groups of 16 3x3 512@14", 512, 512, 14, 3, 1, 32, 0},
      {"groups of 32 3x3 1024@7", 1024, 1024, 7, 3, 1, 32, 0},
  };
}

/// The layer as a group of operators gives it, its image in and out in blocks of `lanes` channels, or half as many,
/// where these divide.
ir::Function naive_program(const Layer& layer, std::int64_t lanes, bool is_swish) {
  const Tensor x = tensor::placeholder("x", {1, layer.in, layer.size, layer.size});
  const Tensor w = tensor::placeholder("w", {layer.out, layer.in / layer.groups, layer.kernel, layer.kernel});
  const Tensor b = tensor::placeholder("b", {layer.out});
  const std::int64_t pad = layer.kernel / 2;
  const tensor::ConvOptions options{.strides = {layer.stride, layer.stride},
                                    .padding_before = {pad, pad},
                                    .padding_after = {pad, pad},
                                    .groups = layer.groups};
  const Tensor y = layer.groups == layer.in ? *tensor::depthwise_conv(x, w, options) : *tensor::conv(x, w, options);
  const Tensor biased =
      tensor::compute("biased", tensor::axes_of(y.shape()), [&](const Indices& i) { return y(i) + b(i[1]); });
  const Tensor out = tensor::compute("out", tensor::axes_of(y.shape()), [&](const Indices& i) {
    const ir::Expr value = biased(i);
    if (is_swish) return value * ir::call(ir::Intrinsic::Sigmoid, {value});
    return ir::max(value, ir::constant(ir::kF32, 0.0));
  });
  ir::Function program = tensor::lower("kernel", {x, w, b}, {out});
  for (const auto& [param, channels] : {std::pair<std::size_t, std::int64_t>{0, layer.in}, {3, layer.out}})
    for (std::int64_t block = lanes; block >= lanes / 2; block /= 2)
      if (channels % block == 0) {
        program = *schedule::set_param_layout(program, param, space::blocked_map(4, block));
        break;
      }
  return program;
}

struct Options {
  std::vector<int> threads = {1};
  std::vector<std::string> models;
  std::string only, emit;
  bool is_swish = false, in_layouts = false;
  int rounds = 15;
};

void emit(const std::string& what, const ir::Function& naive, const schedule::KernelProgram& program,
          const codegen::Target& target) {
  if (what == "naive") fmt::print("{}\n", ir::to_text(naive));
  if (what == "ir") fmt::print("{}\n", ir::to_text(program.main));
  if (what == "lowered") fmt::print("{}\n", ir::to_text(value(codegen::lower(program.main, target))));
  if (what == "llvm") fmt::print("{}\n", value(codegen::emit_llvm(ir::Module{{program.main}}, target)));
  if (what == "asm") fmt::print("{}\n", value(codegen::emit_assembly(ir::Module{{program.main}}, target)));
}

/// The largest difference to the naive program, relative to the largest result.
double error_of(const ir::Function& naive, const Runnable& kernel, const codegen::Target& target) {
  const Runnable reference = prepare(naive, {naive, std::nullopt, {}}, target);
  reference.kernel.entry(reference.args.data(), nullptr);
  const auto count = static_cast<std::size_t>(elements(naive.params.back()));
  const float* expected = static_cast<float*>(reference.args[naive.params.size() - 1]);
  const float* found = static_cast<float*>(kernel.args[naive.params.size() - 1]);
  double largest = 1e-30, difference = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    difference = std::max(difference, std::abs(static_cast<double>(expected[i]) - static_cast<double>(found[i])));
  }
  return difference / largest;
}

void time_layer(const Layer& layer, int threads, const Options& options) {
  const codegen::Target target = value(codegen::parse_target(fmt::format("cpu -threads={}", threads)));
  const ir::Function naive = naive_program(layer, target.lanes(32), options.is_swish);
  const std::vector<std::size_t> constants = {1, 2};
  const auto begin = Clock::now();
  const schedule::KernelProgram program = space::default_program(naive, constants, target);
  if (!options.emit.empty()) return emit(options.emit, naive, program, target);
  const Runnable kernel = prepare(naive, program, target);
  const double compile_ms = std::chrono::duration<double>(Clock::now() - begin).count() * 1e3;

  runtime::ThreadPool pool(threads);
  seconds(kernel, &pool, 1);
  const double error = error_of(naive, kernel, target);
  const std::int64_t positions = (layer.size + layer.stride - 1) / layer.stride;
  const double flops = 2.0 * static_cast<double>(layer.in / layer.groups * layer.out * positions * positions *
                                                 layer.kernel * layer.kernel);
  const auto [median, best, best_peak] = time_rounds(kernel, flops, target, &pool, options.rounds);
  fmt::print(stderr, "{:<26}{:>3}{:>9.1f}{:>9.1f}{:>9.1f} %{:>8.1f} %{:>10.3f}{:>9.0f}{:>11.1e}\n", layer.name, threads,
             best_peak / 1e9, flops / best / 1e9, median * 100, flops / best / best_peak * 100, best * 1e3, compile_ms,
             error);
  fmt::print(
      "{{\"layer\":\"{}\",\"threads\":{},\"peak\":{:.4g},\"flops\":{:.6g},\"ratio\":{:.4f},\"min_ns\":{:.0f}}}\n",
      layer.name, threads, best_peak, flops / best, median, best * 1e9);
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  using namespace hone::bench;
  Options options;
  CLI::App app("Times single layers.");
  app.add_option("--only", options.only, "only layers whose name contains this");
  app.add_option("--threads", options.threads, "numbers of threads");
  app.add_option("--rounds", options.rounds, "rounds to take the median of");
  app.add_option("--emit", options.emit, "print a stage of the program: naive, ir, lowered, llvm or asm");
  app.add_flag("--swish", options.is_swish, "layers end in x · sigmoid(x), not in a relu");
  app.add_option("--model", options.models, "model files whose layers are timed instead");
  app.add_flag("--layouts", options.in_layouts, "time kernels of models in all layouts of what they read and write");
  CLI11_PARSE(app, argc, argv);
  for (const std::string& file : options.models) {
    if (options.in_layouts)
      time_layouts(file, options.only, options.rounds);
    else
      time_model(file, options.threads, options.rounds);
  }
  if (!options.models.empty()) return 0;
  fmt::print(stderr, "{:<26}{:>3}{:>9}{:>9}{:>11}{:>10}{:>10}{:>9}{:>11}\n", "layer", "thr", "peak", "GFLOP/s", "ratio",
             "best", "ms", "compile", "error");
  for (const Layer& layer : layers())
    for (const int threads : options.threads)
      if (layer.name.find(options.only) != std::string::npos) time_layer(layer, threads, options);
}
