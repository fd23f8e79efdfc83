#include "hone/measure/peak.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

#include "hone/codegen/compile.h"
#include "hone/measure/timing.h"

namespace hone::measure {

namespace {

using namespace ir;

constexpr std::int64_t kSteps = 200'000;
constexpr int kRepeats = 15;

/// How many independent sums hide the latency of an addition and still fit into the registers.
int chains(const codegen::Target& target) { return target.vector_registers * 3 / 4; }

/// acc[c] = acc[c] * x + x for each chain c, kSteps times; the sums are stored at the end.
Function peak_loop(const codegen::Target& target) {
  const int lanes = target.lanes(32), count = chains(target);
  const std::vector<std::int64_t> size = {static_cast<std::int64_t>(lanes) * count};
  const Expr in = buffer("in", kF32, size), out = buffer("out", kF32, size);
  const Expr sums = buffer("sums", kF32, size, Scope::Register);
  const auto chain = [&](int c) { return make(Ramp{imm(static_cast<std::int64_t>(c) * lanes), imm(1)}, lanes); };
  const Expr x = make(Broadcast{load(in, {imm(0)})}, lanes);

  std::vector<Stmt> first, step, last;
  for (int c = 0; c < count; ++c) {
    first.push_back(store(sums, {chain(c)}, load(in, {chain(c)})));
    step.push_back(store(sums, {chain(c)}, load(sums, {chain(c)}) * x + x));
    last.push_back(store(out, {chain(c)}, load(sums, {chain(c)})));
  }
  const Stmt loop = make(For{.var = var("step"), .extent = imm(kSteps), .body = seq(std::move(step))});
  return {"peak", {in, out}, make(Allocate{sums, seq({seq(std::move(first)), loop, seq(std::move(last))})})};
}

/// sums[c] = sums[c] + in[…] for each chain c, over the whole of `in`, `passes` times; the sums are stored at the end.
Function read_loop(const codegen::Target& target, std::int64_t steps, std::int64_t passes) {
  const int lanes = target.lanes(32), count = chains(target);
  const std::int64_t width = static_cast<std::int64_t>(lanes) * count;
  const std::vector<std::int64_t> all = {width * steps}, size = {width};
  const Expr in = buffer("in", kF32, all), out = buffer("out", kF32, size);
  const Expr sums = buffer("sums", kF32, size, Scope::Register), at = var("step");
  const auto chain = [&](int c) { return make(Ramp{imm(static_cast<std::int64_t>(c) * lanes), imm(1)}, lanes); };

  std::vector<Stmt> first, step, last;
  for (int c = 0; c < count; ++c) {
    const Expr next = make(Ramp{at * imm(width) + imm(static_cast<std::int64_t>(c) * lanes), imm(1)}, lanes);
    first.push_back(store(sums, {chain(c)}, load(in, {chain(c)})));
    step.push_back(store(sums, {chain(c)}, load(sums, {chain(c)}) + load(in, {next})));
    last.push_back(store(out, {chain(c)}, load(sums, {chain(c)})));
  }
  const Stmt pass = make(For{.var = at, .extent = imm(steps), .body = seq(std::move(step))});
  const Stmt loop = make(For{.var = var("pass"), .extent = imm(passes), .body = pass});
  return {"read", {in, out}, make(Allocate{sums, seq({seq(std::move(first)), loop, seq(std::move(last))})})};
}

/// Runs a kernel of one input and one output, of so many floats, on every thread at once; the wall time of the best
/// repeat.
double best_seconds(const codegen::Kernel& kernel, std::int64_t takes, std::int64_t gives, int threads, int repeats) {
  double best = 1e30;
  std::barrier barrier(threads);
  const auto work = [&](int self) {
    std::vector<float> in(static_cast<std::size_t>(takes), 0.5F), out(static_cast<std::size_t>(gives));
    const std::array<void*, 2> args = {in.data(), out.data()};
    for (int repeat = 0; repeat < repeats; ++repeat) {
      barrier.arrive_and_wait();
      const Clock::time_point begin = Clock::now();
      kernel.entry()(args.data(), nullptr);
      barrier.arrive_and_wait();
      if (self == 0) best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
    }
  };
  std::vector<std::jthread> helpers;
  for (int i = 1; i < threads; ++i) helpers.emplace_back(work, i);
  work(0);
  helpers.clear();
  return best;
}

}  // namespace

Result<double> fma_peak(const codegen::Target& target, int threads) {
  if (threads < 1) return error(ErrorCode::InvalidArgument, "peak: {} threads, allowed are 1 and more", threads);
  HONE_TRY(const codegen::CompiledModule module, codegen::compile(ir::Module{{peak_loop(target)}}, target));
  HONE_TRY(const codegen::Kernel kernel, module.find("peak"));
  const std::int64_t floats = static_cast<std::int64_t>(target.lanes(32)) * chains(target);
  const double operations = 2.0 * kSteps * static_cast<double>(floats) * threads;
  return operations / best_seconds(kernel, floats, floats, threads, kRepeats) * 1e-9;
}

Result<double> read_bandwidth(const codegen::Target& target, int threads, std::int64_t bytes) {
  if (threads < 1) return error(ErrorCode::InvalidArgument, "bandwidth: {} threads, allowed are 1 and more", threads);
  constexpr std::int64_t kBytesPerRepeat = 1 << 25;  // less than a millisecond of a cache
  constexpr std::int64_t kBytesInAll = 1LL << 30;    // others may use the machine: some repeats must be free of them
  const std::int64_t width = static_cast<std::int64_t>(target.lanes(32)) * chains(target);
  const std::int64_t step_bytes = width * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t steps = std::max<std::int64_t>(1, bytes / step_bytes);
  const std::int64_t passes = std::max<std::int64_t>(1, kBytesPerRepeat / (steps * step_bytes));
  HONE_TRY(const codegen::CompiledModule module,
           codegen::compile(ir::Module{{read_loop(target, steps, passes)}}, target));
  HONE_TRY(const codegen::Kernel kernel, module.find("read"));
  const double read = static_cast<double>(steps * step_bytes * passes) * threads;
  const std::int64_t repeats = std::clamp<std::int64_t>(kBytesInAll / (steps * step_bytes * passes), 5, 40);
  return read / best_seconds(kernel, width * steps, width, threads, static_cast<int>(repeats)) * 1e-9;
}

}  // namespace hone::measure
