#include "runnable.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "hone/measure/peak.h"
#include "hone/support/rng.h"

namespace hone::bench {

std::int64_t elements(const ir::Expr& buffer) {
  std::int64_t count = 1;
  for (const ir::Expr& extent : buffer.get<ir::Buffer>().shape) count *= ir::constant_value(extent);
  return count;
}

Runnable prepare(const ir::Function& naive, const schedule::KernelProgram& program, const codegen::Target& target) {
  Runnable runnable{value(measure::load_kernel(program, target)), {}, {}};
  Rng rng(/*seed=*/1);
  const auto make = [&](const ir::Expr& buffer) {
    const auto bytes = static_cast<std::size_t>(elements(buffer) * buffer.type().bytes());
    // Whole huge pages, as in the arena of a session.
    const std::size_t alignment = runtime::tensor_alignment(bytes);
    runnable.memory.push_back(
        value(runtime::AlignedBytes::allocate((bytes + alignment - 1) / alignment * alignment, alignment)));
    float* data = reinterpret_cast<float*>(runnable.memory.back().data());
    if (buffer.type().is_float())
      for (std::size_t i = 0; i < bytes / sizeof(float); ++i) data[i] = static_cast<float>(rng.uniform(-8, 8)) / 8;
    else
      std::memset(data, 0, bytes);
    return data;
  };
  std::vector<void*> originals;
  for (const ir::Expr& param : naive.params) originals.push_back(make(param));
  runnable.args = originals;
  if (program.prepare) {
    std::vector<void*> packing;
    for (const std::size_t i : program.packed) packing.push_back(originals[i]);
    for (const std::size_t i : program.packed) packing.push_back(runnable.args[i] = make(program.main.params[i]));
    runnable.kernel.prepare(packing.data(), nullptr);
  }
  return runnable;
}

double seconds(const Runnable& kernel, runtime::ThreadPool* pool, int calls) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (int i = 0; i < calls; ++i) kernel.kernel.entry(kernel.args.data(), pool);
  return std::chrono::duration<double>(Clock::now() - begin).count() / calls;
}

Timing time_rounds(const Runnable& kernel, double flops, const codegen::Target& target, runtime::ThreadPool* pool,
                   int rounds) {
  const int calls = std::max(1, static_cast<int>(0.003 / seconds(kernel, pool, 1)));
  Timing timing{.best_s = std::numeric_limits<double>::infinity()};
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    const double peak = value(measure::fma_peak(target, target.threads)) * 1e9;
    (void)seconds(kernel, pool, 3);  // measuring the peak has left other things in the caches
    const double time = seconds(kernel, pool, calls);
    ratios.push_back(flops / time / peak);
    timing.best_s = std::min(timing.best_s, time);
    timing.peak = std::max(timing.peak, peak);
  }
  std::sort(ratios.begin(), ratios.end());
  timing.ratio = ratios[ratios.size() / 2];
  return timing;
}

}  // namespace hone::bench
