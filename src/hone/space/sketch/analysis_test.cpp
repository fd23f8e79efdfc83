#include "hone/space/sketch/analysis.h"

#include <gtest/gtest.h>

#include "hone/space/run_program_test.h"

namespace hone::space {
namespace {

using tensor::Indices;
using tensor::placeholder;
using tensor::Tensor;

ir::Function product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const Tensor a = placeholder("A", {m, k}), b = placeholder("B", {k, n});
  return tensor::lower("product", {a, b}, {*tensor::matmul(a, b)});
}

TEST(NeedsTiling, IsForBlocksThatReadElementsAgain) {
  EXPECT_TRUE(needs_tiling(parts_of(product(5, 7, 3), "matmul")));
  EXPECT_FALSE(needs_tiling(parts_of(product(1, 1, 3), "matmul")));  // each element is read once
  const Tensor x = placeholder("x", {5, 7});
  const ir::Function sum =
      tensor::lower("sum", {x}, {*tensor::reduce_axes(x, tensor::ReduceKind::Sum, {1}, tensor::KeepAxes::No)});
  EXPECT_FALSE(needs_tiling(parts_of(sum, "sum")));
  EXPECT_FALSE(parts_of(sum, "nothing").is_naive);
}

TEST(IsStrictlyInlinable, ExcludesOutputsBranchesAndFunctions) {
  const Tensor x = placeholder("x", {5, 7});
  const Tensor twice = tensor::map("twice", x, [](const ir::Expr& e) { return e + e; });
  const Tensor power = tensor::map("power", twice, [](const ir::Expr& e) { return ir::call(ir::Intrinsic::Exp, {e}); });
  const Tensor last = tensor::map("last", power, [](const ir::Expr& e) { return e + e; });
  const ir::Function program = tensor::lower("chain", {x}, {last});
  EXPECT_TRUE(is_strictly_inlinable(program, "twice"));
  EXPECT_FALSE(is_strictly_inlinable(program, "power"));
  EXPECT_FALSE(is_strictly_inlinable(program, "last"));
}

TEST(ElementwiseConsumer, IsTheOnlyReaderOfEachElement) {
  const Tensor a = placeholder("A", {5, 3}), b = placeholder("B", {3, 7});
  const Tensor c = *tensor::matmul(a, b);
  EXPECT_EQ(elementwise_consumer(tensor::lower("f", {a, b}, {tensor::relu(c)}), "matmul"), "relu");
  EXPECT_EQ(elementwise_consumer(tensor::lower("f", {a, b}, {c}), "matmul"), std::nullopt);
  const Tensor rows = *tensor::reduce_axes(c, tensor::ReduceKind::Sum, {1}, tensor::KeepAxes::No);
  EXPECT_EQ(elementwise_consumer(tensor::lower("f", {a, b}, {rows}), "matmul"), std::nullopt);
  const Tensor shifted =
      tensor::compute("shifted", {4, 7}, [&](const Indices& i) { return c(i[0] + 1, i[1]) + c(i[0], i[1]); });
  EXPECT_EQ(elementwise_consumer(tensor::lower("f", {a, b}, {shifted}), "matmul"), std::nullopt);
}

TEST(NeedsRfactor, IsForFewResultsOfManyElements) {
  codegen::Target target = codegen::parse_target("cpu -mcpu=sapphirerapids -threads=2").value();
  EXPECT_TRUE(needs_rfactor(parts_of(product(4, 4, 1000), "matmul"), target));
  EXPECT_FALSE(needs_rfactor(parts_of(product(40, 40, 1000), "matmul"), target));
  EXPECT_FALSE(needs_rfactor(parts_of(product(4, 4, 3), "matmul"), target));
}

}  // namespace
}  // namespace hone::space
