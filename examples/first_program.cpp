// A first program: define a matrix product, look at it as loops, and run it in the reference interpreter.

#include <cstdio>

#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/tensor/lower.h"

using namespace hone;

int main() {
  // What to compute: C[i, j] is the sum of A[i, k] * B[k, j] over k.
  const std::int64_t m = 2, n = 3, k = 4;
  const tensor::Tensor a = tensor::placeholder("A", {m, k}), b = tensor::placeholder("B", {k, n});
  const tensor::Tensor c = tensor::compute("C", {m, n}, [&](const tensor::Indices& i) {
    return tensor::reduce_sum({k}, [&](const tensor::Indices& r) { return a(i[0], r[0]) * b(r[0], i[1]); });
  });

  // How to compute it, before any schedule: plain loops around one block.
  const ir::Function matmul = tensor::lower("matmul", {a, b}, {c});
  std::printf("%s\n", ir::to_text(matmul).c_str());

  // A holds 0, 1, 2, … and B the same; the interpreter fills C.
  ir::Array x(ir::kF32, {m, k}), y(ir::kF32, {k, n}), z(ir::kF32, {m, n});
  for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, i);
  for (std::int64_t i = 0; i < y.size(); ++i) y.set(i, i);
  ir::Array* const arguments[] = {&x, &y, &z};
  const Result<void> done = ir::interpret(matmul, arguments);
  if (!done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
  for (std::int64_t row = 0; row < m; ++row) {
    for (std::int64_t column = 0; column < n; ++column) std::printf("%6.0f", z.float_at(row * n + column));
    std::printf("\n");
  }
  return 0;
}
