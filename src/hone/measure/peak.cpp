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

/// Runs the kernel on every thread at once; the wall time of the best repeat.
double best_seconds(const codegen::Kernel& kernel, std::size_t floats, int threads) {
  double best = 1e30;
  std::barrier barrier(threads);
  const auto work = [&](int self) {
    std::vector<float> in(floats, 0.5F), out(floats);
    const std::array<void*, 2> args = {in.data(), out.data()};
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
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
  const std::size_t floats = static_cast<std::size_t>(target.lanes(32) * chains(target));
  const double operations = 2.0 * kSteps * static_cast<double>(floats) * threads;
  return operations / best_seconds(kernel, floats, threads) * 1e-9;
}

}  // namespace hone::measure
