/// Times kernels scheduled with the public primitives, as a share of the FMA peak measured in the same run.
///
///     bench_kernel [--threads N...] [--only TEXT] [--rounds N] [--gemm M N K] [--tile ...] [--emit
///     ir|lowered|llvm|asm]
///
/// Prints a table to stderr and one JSON line per figure to stdout.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <optional>

#include "schedules.h"

#include "hone/codegen/compile.h"
#include "hone/codegen/lower.h"
#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/measure/peak.h"
#include "hone/runtime/buffer.h"
#include "hone/runtime/parallel.h"
#include "hone/runtime/scratch.h"
#include "hone/runtime/thread_pool.h"
#include "hone/schedule/prepack.h"
#include "hone/schedule/trace.h"

namespace hone::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<int> threads = {1, 2};
  std::string only, emit;
  int rounds = 15;
  std::vector<std::int64_t> tile, gemm, winograd, blocks;
};

/// The share of the peak that each kernel is held to on one thread; on two, 1.85 times as much in absolute terms.
struct Entry {
  Case kernel;
  double bar;
};

/// The kernels of the table, or the one matrix product that the options ask for, with the tile they give.
std::vector<Entry> entries(const codegen::Target& target, const Options& options) {
  const int lanes = target.lanes(32);
  const std::vector<std::int64_t>& given = options.tile;
  const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k, OperandB b, std::vector<std::int64_t> tile) {
    if (!given.empty()) tile = given;
    return gemm(m, n, k,
                {.rows = tile[0], .vectors = tile[1], .lanes = lanes, .n_block = tile[2], .k_block = tile[3], .b = b});
  };
  if (!options.gemm.empty()) {
    const std::vector<std::int64_t>& shape = options.gemm;
    return {{product(shape[0], shape[1], shape[2], OperandB::Constant, {6, 4, 256, 512}), 0.0},
            {product(shape[0], shape[1], shape[2], OperandB::Variable, {6, 4, 256, 512}), 0.0}};
  }
  const std::vector<std::int64_t>& layer = options.winograd;
  if (!layer.empty()) return {{winograd(layer[0], layer[1], layer[2], options.blocks, target), 0.0}};
  return {{product(1024, 1024, 1024, OperandB::Constant, {6, 4, 256, 1024}), 0.90},
          {product(1024, 1024, 1024, OperandB::Variable, {6, 4, 256, 1024}), 0.90},
          {product(512, 512, 512, OperandB::Constant, {6, 4, 256, 512}), 0.85},
          {product(512, 512, 512, OperandB::Variable, {6, 4, 256, 512}), 0.85},
          {product(128, 3072, 768, OperandB::Streamed, {8, 3, 48, 768}), 0.85},
          {product(128, 768, 3072, OperandB::Streamed, {8, 3, 48, 768}), 0.85},
          {conv3x3_blocked(64, 56, lanes), 0.80},
          {winograd(64, 56, 4, {}, target), 3.2},
          {winograd(128, 28, 4, {}, target), 3.2},
          {winograd(256, 14, 4, {}, target), 2.5},
          {winograd(512, 7, 2, {}, target), 1.0}};
}

std::size_t bytes_of(const ir::Array& array) { return static_cast<std::size_t>(array.size() * array.type().bytes()); }

/// One kernel, compiled, with its arguments.
struct Runner {
  codegen::CompiledModule module;
  codegen::Kernel kernel;
  std::vector<ir::Array> arrays;
  std::vector<runtime::AlignedBytes> memory;  ///< the arrays as the tensors of a model are kept
  double compile_seconds;

  /// Brings what the kernel wrote to the arrays.
  void fetch() {
    for (std::size_t i = 0; i < arrays.size(); ++i)
      std::memcpy(arrays[i].data(), memory[i].data(), bytes_of(arrays[i]));
  }

  /// Runs once; gives the time in seconds.
  double run(runtime::ThreadPool& pool) {
    std::vector<void*> args;
    for (runtime::AlignedBytes& argument : memory) args.push_back(argument.data());
    const Clock::time_point start = Clock::now();
    const Result<void> status = kernel(args, &pool);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    status.value();
    return seconds;
  }
};

std::vector<ir::Array> random_arguments(const ir::Function& function) {
  Rng rng(1);
  return ir::random_arguments(function, rng);
}

Result<Runner> compile(const ir::Function& scheduled, std::vector<ir::Array> arrays, const codegen::Target& target) {
  const codegen::CompileOptions options{
      .assume_alignment = 64,
      .runtime = {.parallel_for = hone_parallel_for, .allocate = hone_allocate, .release = hone_release}};
  const Clock::time_point start = Clock::now();
  HONE_TRY(codegen::CompiledModule module, codegen::compile(ir::Module{{scheduled}}, target, options));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  HONE_TRY(const codegen::Kernel kernel, module.find(scheduled.name));
  std::vector<runtime::AlignedBytes> memory;
  for (const ir::Array& array : arrays) {
    const std::size_t bytes = bytes_of(array);
    HONE_TRY(memory.emplace_back(), runtime::AlignedBytes::allocate(bytes, runtime::tensor_alignment(bytes)));
    std::memcpy(memory.back().data(), array.data(), bytes);
  }
  return Runner{std::move(module), kernel, std::move(arrays), std::move(memory), seconds};
}

/// Compiles the kernel; operands that are packed ahead of time are packed here.
Result<Runner> prepare(const Case& what, const ir::Function& scheduled, const codegen::Target& target,
                       runtime::ThreadPool& pool) {
  std::vector<ir::Array> arrays = random_arguments(scheduled);
  if (!what.packs_ahead) return compile(scheduled, std::move(arrays), target);
  HONE_TRY(const auto parts, schedule::split_prepack(scheduled));
  const auto& [packing, kernel] = parts;
  std::vector<ir::Array> packed = random_arguments(packing);
  const std::size_t inputs = packing.params.size() / 2;
  for (std::size_t i = 0; i < scheduled.params.size(); ++i)
    for (std::size_t j = 0; j < inputs; ++j)
      if (ir::name_of(scheduled.params[i]) == ir::name_of(packing.params[j])) packed[j] = arrays[i];
  HONE_TRY(Runner packer, compile(packing, std::move(packed), target));
  packer.run(pool);
  packer.fetch();
  for (std::size_t i = 0; i < kernel.params.size(); ++i)
    for (std::size_t j = inputs; j < packing.params.size(); ++j)
      if (ir::name_of(kernel.params[i]) == ir::name_of(packing.params[j])) arrays[i] = packer.arrays[j];
  return compile(kernel, std::move(arrays), target);
}

/// Checks the output against the naive program, compiled too (the interpreter would take minutes at these sizes).
Result<void> check(const Case& kernel, Runner& scheduled, const codegen::Target& target, runtime::ThreadPool& pool) {
  HONE_TRY(Runner naive, compile(kernel.naive, random_arguments(kernel.naive), target));
  naive.run(pool);
  naive.fetch();
  scheduled.fetch();
  const double difference = ir::max_difference(scheduled.arrays.back(), naive.arrays.back());
  if (difference > kernel.tolerance)
    return error(ErrorCode::VerifyError, "'{}' differs from the naive program by {}", kernel.name, difference);
  return {};
}

Result<bool> emit(const Case& kernel, const ir::Function& scheduled, const codegen::Target& target,
                  const std::string& what) {
  if (what.empty()) return false;
  fmt::print("// {}\n", kernel.name);
  if (what == "ir") return fmt::print("{}", ir::to_text(scheduled)), true;
  ir::Function timed = scheduled;
  if (kernel.packs_ahead) {
    HONE_TRY(const auto parts, schedule::split_prepack(scheduled));
    timed = parts.second;
  }
  HONE_TRY(const ir::Function lowered, codegen::lower(timed, target));
  if (what == "lowered") return fmt::print("{}", ir::to_text(lowered)), true;
  HONE_TRY(const std::string text, what == "asm" ? codegen::emit_assembly(ir::Module{{timed}}, target)
                                                 : codegen::emit_llvm(ir::Module{{timed}}, target));
  fmt::print("{}", text);
  return true;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Times one kernel, with the peak measured before each round so that both see the same machine.
Result<void> run_entry(const Entry& entry, const codegen::Target& target, const Options& options) {
  const int threads = target.threads;
  HONE_TRY(const ir::Function scheduled, schedule::replay(entry.kernel.naive, entry.kernel.trace));
  HONE_TRY(const bool emitted, emit(entry.kernel, scheduled, target, options.emit));
  if (emitted) return {};
  runtime::ThreadPool pool(threads);
  HONE_TRY(Runner runner, prepare(entry.kernel, scheduled, target, pool));
  runner.run(pool);
  HONE_TRY(check(entry.kernel, runner, target, pool));
  // Each round compares the kernel with the peak of the same moment: clock rates and neighbours change.
  std::vector<double> peaks, ratios, seconds;
  for (int round = 0; round < options.rounds; ++round) {
    HONE_TRY(const double peak_now, measure::fma_peak(target, threads));
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) times.push_back(runner.run(pool));
    peaks.push_back(peak_now);
    ratios.push_back(entry.kernel.flops / *std::min_element(times.begin(), times.end()) * 1e-9 / peak_now);
    seconds.insert(seconds.end(), times.begin(), times.end());
  }
  const double peak = *std::max_element(peaks.begin(), peaks.end());
  const double best = *std::min_element(seconds.begin(), seconds.end());
  const double achieved = entry.kernel.flops / best * 1e-9;
  const double ratio = median(ratios);
  fmt::print(stderr, "{:<32} {:>7} {:>10.1f} {:>10.1f} {:>8.1f} % {:>8.1f} % {:>7.0f} % {:>9.0f}\n", entry.kernel.name,
             threads, peak, achieved, 100 * ratio, 100 * achieved / peak, 100 * entry.bar,
             runner.compile_seconds * 1e3);
  const char* commit = std::getenv("HONE_COMMIT");
  fmt::print(
      "{{\"bench\":\"kernel\",\"name\":\"{}\",\"commit\":\"{}\",\"target\":\"{}\",\"threads\":{},\"seed\":1,"
      "\"peak_gflops\":{:.2f},\"gflops\":{:.2f},\"ratio\":{:.4f},\"best_ratio\":{:.4f},\"min_ns\":{:.0f},"
      "\"median_ns\":{:.0f},\"compile_ms\":{:.1f}}}\n",
      entry.kernel.name, commit ? commit : "unknown", codegen::to_string(target), threads, peak, achieved, ratio,
      achieved / peak, best * 1e9, median(seconds) * 1e9, runner.compile_seconds * 1e3);
  return {};
}

Result<void> run(const Options& options) {
  if (options.emit.empty())
    fmt::print(stderr, "{:<32} {:>7} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}\n", "kernel", "threads", "peak",
               "achieved", "ratio", "best", "bar", "compile");
  for (const int threads : options.threads) {
    codegen::Target target = codegen::host_target();
    target.threads = threads;
    for (const Entry& entry : entries(target, options))
      if (entry.kernel.name.find(options.only) != std::string::npos) HONE_TRY(run_entry(entry, target, options));
  }
  if (options.emit.empty())
    fmt::print(stderr,
               "peak and achieved in GFLOP/s, the best seen; ratio is the median over {} rounds of kernel / peak in "
               "one round, "
               "best that of the two columns before; compile in ms\n",
               options.rounds);
  return {};
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  hone::bench::Options options;
  CLI::App app("Times kernels as a share of the FMA peak");
  app.add_option("--threads", options.threads, "thread counts to run with");
  app.add_option("--only", options.only, "run kernels whose name contains this");
  app.add_option("--rounds", options.rounds, "rounds of one peak and five kernel timings");
  app.add_option("--tile", options.tile, "tile of the matrix products: rows vectors n_block k_block")->expected(4);
  app.add_option("--gemm", options.gemm, "time one matrix product instead: m n k")->expected(3);
  app.add_option("--winograd", options.winograd, "time one Winograd convolution instead: channels size m")->expected(3);
  app.add_option("--blocks", options.blocks,
                 "its blocks: images rows columns channels gemm_rows gemm_vectors fetches_weights fetches_tensors")
      ->expected(8);
  app.add_option("--emit", options.emit, "print the program instead")
      ->check(CLI::IsMember({"ir", "lowered", "llvm", "asm"}));
  CLI11_PARSE(app, argc, argv);
  const hone::Result<void> status = hone::bench::run(options);
  if (status) return 0;
  fmt::print(stderr, "bench_kernel: {}\n", status.error().message);
  return 1;
}
