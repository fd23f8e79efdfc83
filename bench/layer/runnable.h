/// Compiled kernels with their arguments, ready to be timed.
#pragma once

#include <cstdlib>
#include <fmt/core.h>
#include <vector>

#include "hone/codegen/target.h"
#include "hone/measure/load_kernel.h"
#include "hone/runtime/buffer.h"
#include "hone/runtime/thread_pool.h"

namespace hone::bench {

/// What a result holds; the end of the program if that is an error.
template <typename T>
T value(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}\n", result.error().message);
  std::exit(1);
}

std::int64_t elements(const ir::Expr& buffer);

struct Runnable {
  measure::LoadedKernel kernel;
  std::vector<runtime::AlignedBytes> memory;
  std::vector<void*> args;
};

/// Compiles a program, fills its arguments with small numbers, and packs what it wants packed.
Runnable prepare(const ir::Function& naive, const schedule::KernelProgram& program, const codegen::Target& target);

/// The time of a call, as the mean over some in a row.
double seconds(const Runnable& kernel, runtime::ThreadPool* pool, int calls);

/// What rounds of the kernel and of the multiply-add peak in turns give.
struct Timing {
  double ratio = 0;   ///< the median of kernel / peak within a round
  double best_s = 0;  ///< the fastest round of the kernel
  double peak = 0;    ///< the best of the peak, in operations per second
};
Timing time_rounds(const Runnable& kernel, double flops, const codegen::Target& target, runtime::ThreadPool* pool,
                   int rounds);

}  // namespace hone::bench
