/// Times kernels scheduled with the public primitives, as a share of the FMA peak measured in the same run.
///
///     bench_kernel [--threads N...] [--only TEXT] [--rounds N] [--tile ...] [--emit ir|lowered|llvm|asm]
///
/// Prints a table to stderr and one JSON line per figure to stdout.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>
#include <optional>

#include "schedules.h"

#include "hone/codegen/compile.h"
#include "hone/codegen/lower.h"
#include "hone/ir/array.h"
#include "hone/ir/text.h"
#include "hone/measure/peak.h"
#include "hone/runtime/parallel.h"
#include "hone/runtime/scratch.h"
#include "hone/runtime/thread_pool.h"
#include "hone/schedule/trace.h"

namespace hone::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<int> threads = {1, 2};
  std::string only, emit;
  int rounds = 15;
  std::vector<std::int64_t> tile;
};

/// The share of the peak that each kernel is held to on one thread; on two, 1.85 times as much in absolute terms.
struct Entry {
  Case kernel;
  double bar;
};

/// `given` replaces the tile sizes of the matrix products, to try others.
std::vector<Entry> entries(int lanes, const std::vector<std::int64_t>& given) {
  const auto tile = [&](std::int64_t rows, std::int64_t vectors, std::int64_t n_block, std::int64_t k_block,
                        bool pack_a) {
    if (given.size() == 5)
      return GemmTile{.rows = given[0],
                      .vectors = given[1],
                      .lanes = lanes,
                      .n_block = given[2],
                      .k_block = given[3],
                      .pack_a = given[4] != 0};
    return GemmTile{
        .rows = rows, .vectors = vectors, .lanes = lanes, .n_block = n_block, .k_block = k_block, .pack_a = pack_a};
  };
  return {{gemm(1024, 1024, 1024, tile(6, 4, 512, 256, true)), 0.90},
          {gemm(512, 512, 512, tile(6, 4, 256, 256, true)), 0.85},
          {gemm(128, 3072, 768, tile(8, 3, 384, 384, false)), 0.85},
          {gemm(128, 768, 3072, tile(8, 3, 192, 384, false)), 0.85},
          {conv3x3_blocked(64, 56, lanes), 0.80}};
}

/// One kernel, compiled, with its arguments and the times seen so far.
struct Runner {
  codegen::CompiledModule module;
  codegen::Kernel kernel;
  std::vector<ir::Array> arrays;
  std::vector<double> seconds;
  double compile_seconds;

  void run(runtime::ThreadPool& pool) {
    std::vector<void*> args;
    for (ir::Array& array : arrays) args.push_back(array.data());
    const Clock::time_point start = Clock::now();
    const Result<void> status = kernel(args, &pool);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    status.value();
  }
};

std::vector<ir::Array> random_arguments(const ir::Function& function) {
  Rng rng(1);
  std::vector<ir::Array> arrays;
  for (const ir::Expr& param : function.params) {
    std::vector<std::int64_t> shape;
    for (const ir::Expr& extent : param.get<ir::Buffer>().shape) shape.push_back(ir::constant_value(extent));
    arrays.push_back(ir::random_whole(rng, param.type(), shape));
  }
  return arrays;
}

Result<Runner> prepare(const ir::Function& scheduled, const codegen::Target& target) {
  const codegen::CompileOptions options{
      .assume_alignment = 64,
      .runtime = {.parallel_for = hone_parallel_for, .allocate = hone_allocate, .release = hone_release}};
  const Clock::time_point start = Clock::now();
  HONE_TRY(codegen::CompiledModule module, codegen::compile(ir::Module{{scheduled}}, target, options));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  HONE_TRY(const codegen::Kernel kernel, module.find(scheduled.name));
  return Runner{std::move(module), kernel, random_arguments(scheduled), {}, seconds};
}

/// Checks the output against the naive program, compiled too (the interpreter would take minutes at these sizes).
Result<void> check(const Case& kernel, Runner& scheduled, const codegen::Target& target, runtime::ThreadPool& pool) {
  HONE_TRY(Runner naive, prepare(kernel.naive, target));
  naive.run(pool);
  const double difference = ir::max_difference(scheduled.arrays.back(), naive.arrays.back());
  if (difference != 0.0)
    return error(ErrorCode::VerifyError, "'{}' differs from the naive program by {}", kernel.name, difference);
  return {};
}

Result<bool> emit(const Case& kernel, const ir::Function& scheduled, const codegen::Target& target,
                  const std::string& what) {
  if (what.empty()) return false;
  fmt::print("// {}\n", kernel.name);
  if (what == "ir") return fmt::print("{}", ir::to_text(scheduled)), true;
  HONE_TRY(const ir::Function lowered, codegen::lower(scheduled, target));
  if (what == "lowered") return fmt::print("{}", ir::to_text(lowered)), true;
  HONE_TRY(const std::string text, what == "asm" ? codegen::emit_assembly(ir::Module{{scheduled}}, target)
                                                 : codegen::emit_llvm(ir::Module{{scheduled}}, target));
  fmt::print("{}", text);
  return true;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Times one kernel, with the peak measured before each round so that both see the same machine.
Result<void> run_entry(const Entry& entry, int threads, const Options& options) {
  codegen::Target target = codegen::host_target();
  target.threads = threads;
  HONE_TRY(const ir::Function scheduled, schedule::replay(entry.kernel.naive, entry.kernel.trace));
  HONE_TRY(const bool emitted, emit(entry.kernel, scheduled, target, options.emit));
  if (emitted) return {};
  runtime::ThreadPool pool(threads);
  HONE_TRY(Runner runner, prepare(scheduled, target));
  runner.run(pool);
  HONE_TRY(check(entry.kernel, runner, target, pool));
  runner.seconds.clear();
  std::vector<double> peaks;
  for (int round = 0; round < options.rounds; ++round) {
    HONE_TRY(const double peak_now, measure::fma_peak(target, threads));
    peaks.push_back(peak_now);
    for (int i = 0; i < 3; ++i) runner.run(pool);
  }
  const double peak = *std::max_element(peaks.begin(), peaks.end());
  const double best = *std::min_element(runner.seconds.begin(), runner.seconds.end());
  const double achieved = entry.kernel.flops / best * 1e-9;
  const double typical = entry.kernel.flops / median(runner.seconds) * 1e-9 / median(peaks);
  fmt::print(stderr, "{:<26} {:>7} {:>10.1f} {:>10.1f} {:>8.1f} % {:>8.1f} % {:>7.0f} % {:>9.0f}\n", entry.kernel.name,
             threads, peak, achieved, 100 * achieved / peak, 100 * typical, 100 * entry.bar,
             runner.compile_seconds * 1e3);
  const char* commit = std::getenv("HONE_COMMIT");
  fmt::print(
      "{{\"bench\":\"kernel\",\"name\":\"{}\",\"commit\":\"{}\",\"target\":\"{}\",\"threads\":{},\"seed\":1,"
      "\"peak_gflops\":{:.2f},\"gflops\":{:.2f},\"ratio\":{:.4f},\"median_ratio\":{:.4f},\"min_ns\":{:.0f},"
      "\"median_ns\":{:.0f},\"compile_ms\":{:.1f}}}\n",
      entry.kernel.name, commit ? commit : "unknown", codegen::to_string(target), threads, peak, achieved,
      achieved / peak, typical, best * 1e9, median(runner.seconds) * 1e9, runner.compile_seconds * 1e3);
  return {};
}

Result<void> run(const Options& options) {
  if (options.emit.empty())
    fmt::print(stderr, "{:<26} {:>7} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}\n", "kernel", "threads", "peak",
               "achieved", "ratio", "typical", "bar", "compile");
  for (const Entry& entry : entries(codegen::host_target().lanes(32), options.tile))
    for (const int threads : options.threads) {
      if (entry.kernel.name.find(options.only) == std::string::npos) continue;
      HONE_TRY(run_entry(entry, threads, options));
    }
  if (options.emit.empty())
    fmt::print(
        stderr,
        "peak and achieved in GFLOP/s, best of {} rounds; ratio is achieved / peak, typical that of the medians; "
        "compile in ms\n",
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
  app.add_option("--rounds", options.rounds, "rounds of one peak and three kernel timings");
  app.add_option("--tile", options.tile, "tile of the matrix products: rows vectors n_block k_block pack_a")
      ->expected(5);
  app.add_option("--emit", options.emit, "print the program instead")
      ->check(CLI::IsMember({"ir", "lowered", "llvm", "asm"}));
  CLI11_PARSE(app, argc, argv);
  const hone::Result<void> status = hone::bench::run(options);
  if (status) return 0;
  fmt::print(stderr, "bench_kernel: {}\n", status.error().message);
  return 1;
}
