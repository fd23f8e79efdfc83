#include "hone/schedule/testing.h"

#include "hone/ir/interpret.h"
#include "hone/ir/text.h"
#include "hone/tensor/lower.h"
#include "hone/tensor/tensor.h"

namespace hone::schedule {

Program matmul(std::int64_t m, std::int64_t n, std::int64_t k) {
  const tensor::Tensor a = tensor::placeholder("A", {m, k}), b = tensor::placeholder("B", {k, n});
  const tensor::Tensor c = tensor::compute("C", {{"i", m}, {"j", n}}, [&](const tensor::Indices& i) {
    return tensor::reduce_sum({{"k", k}}, [&](const tensor::Indices& r) { return a(i[0], r[0]) * b(r[0], i[1]); });
  });
  return tensor::lower("matmul", {a, b}, {c});
}

namespace {

Result<std::vector<ir::Array>> run(const Program& program, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<ir::Array> arrays = ir::random_arguments(program, rng);
  HONE_TRY(ir::interpret(program, arrays));
  return arrays;
}

}  // namespace

testing::AssertionResult same_values(const Program& expected, const Program& found, std::uint64_t seed) {
  const Result<std::vector<ir::Array>> a = run(expected, seed), b = run(found, seed);
  if (!a) return testing::AssertionFailure() << a.error().message;
  if (!b) return testing::AssertionFailure() << b.error().message << " in\n" << ir::to_text(found);
  for (std::size_t i = 0; i < a->size(); ++i)
    if (const double difference = ir::max_difference((*a)[i], (*b)[i]); difference != 0)
      return testing::AssertionFailure() << "parameter " << i << " differs by " << difference << " in\n"
                                         << ir::to_text(found);
  return testing::AssertionSuccess();
}

}  // namespace hone::schedule
