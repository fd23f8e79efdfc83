#include "hone/graph/testing.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;

TEST(MatMul, TakesVectorsAndBroadcastsBatches) {
  const Tensor v = floats({2}, {1, 2}), m = floats({2, 2}, {1, 2, 3, 4});
  expect_tensor(apply_one("MatMul", {v, v}), floats({}, {5}));
  expect_tensor(apply_one("MatMul", {v, m}), floats({2}, {7, 10}));
  expect_tensor(apply_one("MatMul", {m, v}), floats({2}, {5, 11}));
  expect_tensor(apply_one("MatMul", {iota({2, 1, 1, 2}), floats({3, 2, 1}, {1, 1, 0, 1, 1, 0})}),
                floats({2, 3, 1, 1}, {1, 1, 0, 5, 3, 2}));
  expect_tensor(apply_one("MatMul", {floats({2, 0}, {}), floats({0, 1}, {})}), floats({2, 1}, {0, 0}));
  EXPECT_EQ(message_of("MatMul", {v, iota({3, 2})}),
            "MatMul: matmul: inner extents 2 and 3 differ, they must be equal");
}

TEST(Gemm, ScalesAndBroadcastsC) {
  const Tensor a = floats({2, 1}, {1, 2}), b = floats({3, 1}, {1, 2, 3});
  const Attributes attributes_ = attributes({{"transB", std::int64_t{1}}, {"alpha", 2.0F}, {"beta", 0.5F}});
  expect_tensor(apply_one("Gemm", {a, b, floats({2, 1}, {10, 20})}, attributes_),
                floats({2, 3}, {7, 9, 11, 14, 18, 22}));
}

TEST(MatMulInteger, HasZeroPointsPerRowAndColumn) {
  const Tensor a = Tensor::of<std::uint8_t>({2, 2}, {1, 2, 3, 4}), b = Tensor::of<std::int8_t>({2, 2}, {1, 0, 0, 1});
  expect_tensor(
      apply_one("MatMulInteger", {a, b, Tensor::of<std::uint8_t>({2}, {1, 3}), Tensor::of<std::int8_t>({2}, {0, 1})}),
      Tensor::of<std::int32_t>({2, 2}, {0, 0, 0, 0}));
}

TEST(Einsum, UnderstandsEllipsesDiagonalsAndImplicitResults) {
  const auto einsum = [](const std::string& equation, std::vector<runtime::Value> inputs) {
    return apply_one("Einsum", std::move(inputs), attributes({{"equation", equation}}));
  };
  const Tensor m = floats({2, 2}, {1, 2, 3, 4});
  expect_tensor(einsum("ij->ji", {m}), floats({2, 2}, {1, 3, 2, 4}));
  expect_tensor(einsum("ii", {m}), floats({}, {5}));
  expect_tensor(einsum("ii->i", {m}), floats({2}, {1, 4}));
  expect_tensor(einsum("ij, jk", {m, m}), floats({2, 2}, {7, 10, 15, 22}));
  expect_tensor(einsum("...ij->...i", {iota({2, 1, 2})}), floats({2, 1}, {1, 5}));
  expect_tensor(einsum("i,j,k->", {m.reshaped({4}), m.reshaped({4}), m.reshaped({4})}), floats({}, {1000}));
  expect_tensor(einsum("ij,jk,kl->li", {m, m, m}), floats({2, 2}, {37, 81, 54, 118}));
  expect_tensor(einsum("bij,bij->bji", {iota({2, 1, 2}), floats({1, 1, 2}, {1, 10})}),
                floats({2, 2, 1}, {0, 10, 2, 30}));
  expect_tensor(einsum("ij,jk->ik", {floats({1, 0}, {}), floats({0, 2}, {})}), floats({1, 2}, {0, 0}));
  EXPECT_EQ(message_of("Einsum", {m}, attributes({{"equation", std::string("ij->k")}})),
            "Einsum: label 'k' of the result stands in no term");
}

}  // namespace
}  // namespace hone::graph
