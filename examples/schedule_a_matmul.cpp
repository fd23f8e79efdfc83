// The program of docs/tutorial/01-schedule-a-matmul.md: from naive loops to vectors, registers and threads.
#include <fmt/core.h>
#include <utility>

#include "hone/codegen/compile.h"
#include "hone/codegen/lower.h"
#include "hone/ir/array.h"
#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/runtime/parallel.h"
#include "hone/runtime/scratch.h"
#include "hone/runtime/thread_pool.h"
#include "hone/schedule/prepack.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/trace.h"
#include "hone/tensor/lower.h"

using namespace hone;
using namespace hone::schedule;

namespace {

void print(const char* title, const Program& program) { fmt::print("== {}\n{}\n", title, ir::to_text(program)); }

/// The product in the interpreter and as machine code, on the same random numbers: the largest difference.
Result<double> compare(const Program& naive, const Program& scheduled) {
  Rng rng(/*seed=*/1);
  ir::Array a = ir::random_whole(rng, ir::kF32, {50, 32}), b = ir::random_whole(rng, ir::kF32, {32, 40});
  ir::Array expected(ir::kF32, {50, 40}), found(ir::kF32, {50, 40});
  ir::Array* const arrays[] = {&a, &b, &expected};
  HONE_TRY(ir::interpret(naive, arrays));

  const codegen::CompileOptions options{.runtime = {hone_parallel_for, hone_allocate, hone_release}};
  HONE_TRY(const codegen::CompiledModule module, codegen::compile({{scheduled}}, codegen::host_target(), options));
  HONE_TRY(const codegen::Kernel kernel, module.find("matmul"));
  runtime::ThreadPool pool(2);
  void* const pointers[] = {a.data(), b.data(), found.data()};
  HONE_TRY(kernel(pointers, &pool));
  return ir::max_difference(found, expected);
}

Result<void> tutorial() {
  const tensor::Tensor a = tensor::placeholder("A", {50, 32}), b = tensor::placeholder("B", {32, 40});
  const tensor::Tensor c = tensor::compute("C", {50, 40}, [&](const tensor::Indices& i) {
    return tensor::reduce_sum({32}, [&](const tensor::Indices& k) { return a(i[0], k[0]) * b(k[0], i[1]); });
  });
  const Program naive = tensor::lower("matmul", {a, b}, {c});
  print("naive", naive);

  Schedule schedule(naive);
  HONE_TRY(schedule.apply(Split{"i", {kRest, 4}}));
  HONE_TRY(schedule.apply(Split{"j", {kRest, 8}}));
  HONE_TRY(schedule.apply(Reorder{{"i.0", "j.0", "k", "i.1", "j.1"}}));
  print("tiled", schedule.program());

  const Result<void> refused = schedule.apply(Vectorize{"k"});
  fmt::print("== refused\n{}\n\n", refused.error().message);

  HONE_TRY(schedule.apply(TransformLayout{"B", "(k, n) -> (n // 8, k, n % 8)"}));
  print("packed", schedule.program());

  HONE_TRY(schedule.apply(Vectorize{"j.1"}));
  HONE_TRY(schedule.apply(Unroll{"i.1"}));
  HONE_TRY(schedule.apply(Parallel{"i.0"}));

  codegen::Target target;
  target.vector_bits = 256;
  HONE_TRY(const Program lowered, codegen::lower(schedule.program(), target));
  print("lowered", lowered);

  HONE_TRY(const auto parts, split_prepack(schedule.program()));
  print("ahead of time", parts.first);

  HONE_TRY(const double difference, compare(naive, schedule.program()));
  fmt::print("== checked\nlargest difference from the interpreter: {}\n", difference);
  return {};
}

}  // namespace

int main() {
  const Result<void> done = tutorial();
  if (!done) fmt::print(stderr, "schedule_a_matmul: {}\n", done.error().message);
  return done ? 0 : 1;
}
