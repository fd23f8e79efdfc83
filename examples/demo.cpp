/// The demo: defines a matrix product, schedules it step by step, runs it, and compares with the naive program.
///
///     example_demo [--steps] [--size N]
///
/// --steps prints the program after each step of the schedule; --size multiplies N × N matrices instead of 1024 × 1024.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/core.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/codegen/compile.h"
#include "hone/ir/array.h"
#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/measure/peak.h"
#include "hone/runtime/parallel.h"
#include "hone/runtime/scratch.h"
#include "hone/runtime/thread_pool.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/trace.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

using namespace hone;
using namespace hone::schedule;

namespace {

/// C = A · B: what each element of C is, and nothing about how it is computed.
Program matmul(std::int64_t m, std::int64_t n, std::int64_t k) {
  const tensor::Tensor a = tensor::placeholder("A", {m, k}), b = tensor::placeholder("B", {k, n});
  const tensor::Tensor c = tensor::compute("C", {{"i", m}, {"j", n}}, [&](const tensor::Indices& i) {
    return tensor::reduce_sum({{"k", k}}, [&](const tensor::Indices& r) { return a(i[0], r[0]) * b(r[0], i[1]); });
  });
  return tensor::lower("matmul", {a, b}, {c});
}

struct Line {
  Step step;
  std::string_view why;
};

/// A register tile of 6 rows by 4 vectors, cache blocks around it, B packed into panels.
std::vector<Line> matmul_schedule(std::int64_t lanes) {
  const std::int64_t panel = 4 * lanes;
  return {
      {Split{"i", {kRest, 6}}, "rows of the register tile"},
      {Split{"j", {kRest, 4, 4, lanes}}, "column blocks, panels, vectors of a panel, lanes of a vector"},
      {Split{"k", {kRest, 1024}}, "blocks of B that stay in cache"},
      {Reorder{{"j.0", "k.0", "i.0", "j.1", "k.1", "i.1", "j.2", "j.3"}}, "the register tile innermost"},
      {CacheRead{"C", "B", ir::Scope::Global}, "read B through a copy"},
      {ComputeAt{"B.global", "k.0"}, "copied one block at a time"},
      {TransformLayout{"B.global", fmt::format("(k, n) -> (n // {0}, k, n % {0})", panel)}, "in panels"},
      {Split{"ax1", {kRest, lanes}}, "copy vector by vector"},
      {Vectorize{"ax1.1"}, ""},
      {Vectorize{"j.3"}, "lanes of a vector register"},
      {Unroll{"j.2"}, "accumulators become registers"},
      {Unroll{"i.1"}, ""},
      {Parallel{"j.0"}, "column blocks on all cores"},
  };
}

/// Random whole numbers, so that reordered sums are equal bit for bit.
std::vector<ir::Array> random_arguments(const Program& program) {
  Rng rng(1);
  return ir::random_arguments(program, rng);
}

struct Outcome {
  ir::Array result;
  double seconds;  ///< the best of several runs
};

/// Compiles for this machine and runs on all its cores.
Result<Outcome> run_compiled(const Program& program, int repeats) {
  const codegen::CompileOptions options{.assume_alignment = 64,
                                        .runtime = {hone_parallel_for, hone_allocate, hone_release}};
  HONE_TRY(const codegen::CompiledModule module,
           codegen::compile(ir::Module{{program}}, codegen::host_target(), options));
  HONE_TRY(const codegen::Kernel kernel, module.find(program.name));
  runtime::ThreadPool pool(codegen::host_target().threads);
  std::vector<ir::Array> arrays = random_arguments(program);
  std::vector<void*> args;
  for (ir::Array& array : arrays) args.push_back(array.data());
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    HONE_TRY(kernel(args, &pool));
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return Outcome{arrays.back(), best};
}

Result<ir::Array> run_interpreted(const Program& program) {
  std::vector<ir::Array> arrays = random_arguments(program);
  HONE_TRY(ir::interpret(program, arrays));
  return arrays.back();
}

/// Applies the schedule one step after the other.
Result<Program> apply(const Program& naive, const std::vector<Line>& lines, bool print, bool print_programs) {
  Schedule schedule(naive);
  for (const Line& line : lines) {
    HONE_TRY(schedule.apply(line.step));
    if (print) fmt::print("  {:<72}{}\n", to_text(line.step), line.why);
    if (print_programs) fmt::print("\n{}\n", ir::to_text(schedule.program()));
  }
  return schedule.program();
}

struct Options {
  bool print_programs = false;
  std::int64_t size = 1024;
};

Result<Options> parse_options(std::span<char* const> words) {
  constexpr std::int64_t kLargestSize = 8192;
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--steps") {
      options.print_programs = true;
    } else if (word == "--size") {
      const std::string number = i + 1 < words.size() ? words[++i] : "";
      const char* const end = number.data() + number.size();
      const auto [stop, failure] = std::from_chars(number.data(), end, options.size);
      if (failure != std::errc{} || stop != end || options.size < 1 || options.size > kLargestSize)
        return error(ErrorCode::InvalidArgument, "--size is '{}', allowed are whole numbers in 1..{}", number,
                     kLargestSize);
    } else {
      return error(ErrorCode::InvalidArgument, "unknown option '{}', allowed are --steps, --size N", word);
    }
  }
  return options;
}

Result<void> demo(const Options& options) {
  const codegen::Target& target = codegen::host_target();
  const std::vector<Line> lines = matmul_schedule(target.lanes(32));

  const std::int64_t size = options.size;
  const Program naive = matmul(size, size, size);
  fmt::print("A matrix product, defined by what each element is, as naive loops:\n\n{}\n", ir::to_text(naive));
  fmt::print("Its schedule for {}:\n\n", codegen::to_string(target));
  HONE_TRY(const Program scheduled, apply(naive, lines, true, options.print_programs));
  if (!options.print_programs) fmt::print("\n(--steps prints the program after each step)\n");

  // The same schedule on a small product with tails everywhere, against the reference interpreter.
  const Program small = matmul(13, 70, 31);
  HONE_TRY(const Program small_scheduled, apply(small, lines, false, false));
  HONE_TRY(const Outcome small_outcome, run_compiled(small_scheduled, 1));
  HONE_TRY(const ir::Array reference, run_interpreted(small));

  HONE_TRY(const Outcome slow, run_compiled(naive, 1));
  HONE_TRY(const Outcome fast, run_compiled(scheduled, 20));
  HONE_TRY(const double peak, measure::fma_peak(target, target.threads));

  const double small_difference = ir::max_difference(small_outcome.result, reference);
  const double difference = ir::max_difference(fast.result, slow.result);
  fmt::print("\nchecked: 13x70x31 differs from the interpreter by {}, {}^3 differs from the naive program by {}\n\n",
             small_difference, size, difference);
  if (small_difference != 0 || difference != 0)
    return error(ErrorCode::VerifyError, "the scheduled program computes other values than the naive one");
  const double flops = 2.0 * static_cast<double>(size * size) * static_cast<double>(size);
  fmt::print("{:<12}{:>12}{:>12}{:>12}\n", "program", "ms", "GFLOP/s", "of peak");
  const auto row = [&](std::string_view name, double seconds) {
    const double gflops = flops / seconds * 1e-9;
    fmt::print("{:<12}{:>12.2f}{:>12.1f}{:>10.1f} %\n", name, seconds * 1e3, gflops, 100 * gflops / peak);
  };
  row("naive", slow.seconds);
  row("scheduled", fast.seconds);
  row("peak", flops / peak * 1e-9);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const auto run = [&]() -> Result<void> {
    HONE_TRY(const Options options, parse_options(std::span(argv + 1, static_cast<std::size_t>(argc - 1))));
    return demo(options);
  };
  const Result<void> status = run();
  if (status) return 0;
  fmt::print(stderr, "demo: {}\n", status.error().message);
  return 1;
}
