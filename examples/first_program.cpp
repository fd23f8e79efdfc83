// A first program: define a matrix product, schedule it, compile it for this machine, and run it.
#include <fmt/core.h>

#include "hone/codegen/compile.h"
#include "hone/ir/array.h"
#include "hone/ir/text.h"
#include "hone/runtime/parallel.h"
#include "hone/runtime/scratch.h"
#include "hone/runtime/thread_pool.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/trace.h"
#include "hone/tensor/lower.h"

using namespace hone;
using namespace hone::schedule;

Result<void> run() {
  // What to compute: C[i, j] is the sum of A[i, k] * B[k, j] over k.
  const tensor::Tensor a = tensor::placeholder("A", {30, 64}), b = tensor::placeholder("B", {64, 48});
  const tensor::Tensor c = tensor::compute("C", {30, 48}, [&](const tensor::Indices& i) {
    return tensor::reduce_sum({64}, [&](const tensor::Indices& k) { return a(i[0], k[0]) * b(k[0], i[1]); });
  });
  const Program naive = tensor::lower("matmul", {a, b}, {c});  // loops i, j, k around block C

  // How to compute it: tiles of 4 rows by 16 columns, rows of tiles on several threads.
  const Trace trace = {Split{"i", {kRest, 4}}, Split{"j", {kRest, 16}}, Reorder{{"i.0", "j.0", "k", "i.1", "j.1"}},
                       Parallel{"i.0"},        Unroll{"i.1"},           Vectorize{"j.1"}};
  HONE_TRY(const Program scheduled, replay(naive, trace));
  fmt::print("{}\n", ir::to_text(scheduled));

  // Machine code for it, run on two threads.
  const codegen::CompileOptions options{.runtime = {hone_parallel_for, hone_allocate, hone_release}};
  HONE_TRY(const codegen::CompiledModule module, codegen::compile({{scheduled}}, codegen::host_target(), options));
  HONE_TRY(const codegen::Kernel kernel, module.find("matmul"));
  ir::Array x(ir::kF32, {30, 64}), y(ir::kF32, {64, 48}), z(ir::kF32, {30, 48});
  for (std::int64_t n = 0; n < x.size(); ++n) x.set(n, 1.0);
  for (std::int64_t n = 0; n < y.size(); ++n) y.set(n, 0.5);
  void* const arguments[] = {x.data(), y.data(), z.data()};
  runtime::ThreadPool pool(2);
  HONE_TRY(kernel(arguments, &pool));
  fmt::print("C[29, 47] = {}\n", z.float_at(z.size() - 1));
  return {};
}

int main() {
  const Result<void> done = run();
  if (!done) fmt::print(stderr, "first_program: {}\n", done.error().message);
  return done ? 0 : 1;
}
