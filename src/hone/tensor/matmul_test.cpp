#include "hone/tensor/definitions.h"
#include "hone/tensor/testing.h"

namespace hone::tensor {
namespace {

using Arrays = std::vector<ir::Array>;

void expect_product(std::int64_t m, std::int64_t n, std::int64_t k, const MatmulOptions& options, ir::DType type) {
  const Tensor a = placeholder("A", options.transpose_a ? Shape{k, m} : Shape{m, k}, type);
  const Tensor b = placeholder("B", options.transpose_b ? Shape{n, k} : Shape{k, n}, type);
  const Result<Tensor> c = matmul(a, b, options);
  ASSERT_TRUE(c) << message_of(c);
  EXPECT_EQ(c->shape(), (Shape{m, n}));
  EXPECT_EQ(c->type(), options.result == ir::kVoid ? type : options.result);
  expect_values({a, b}, c, [&](const Arrays& x, const Index& i) {
    double sum = 0;
    for (std::int64_t r = 0; r < k; ++r)
      sum += at(x[0], options.transpose_a ? Index{r, i[0]} : Index{i[0], r}) *
             at(x[1], options.transpose_b ? Index{i[1], r} : Index{r, i[1]});
    return sum;
  });
}

TEST(Matmul, AllFourTransposesGiveTheProduct) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true})
      for (const Index& size : {Index{5, 7, 3}, Index{1, 1, 1}, Index{2, 3, 0}, Index{0, 3, 2}, Index{13, 1, 11}})
        expect_product(size[0], size[1], size[2], {transpose_a, transpose_b}, ir::kF32);
}

TEST(Matmul, OtherTypesAndWiderResults) {
  for (const ir::DType type : {ir::kF64, ir::kI32, ir::kF16, ir::kBF16}) expect_product(3, 5, 4, {}, type);
  expect_product(3, 5, 7, {.result = ir::kI32}, ir::kI8);
  expect_product(3, 5, 7, {.transpose_b = true, .result = ir::kF32}, ir::kBF16);
}

TEST(Matmul, BatchesBroadcast) {
  struct Case {
    Shape a, b, result;
  };
  const std::vector<Case> cases = {{{3, 2, 5}, {3, 5, 4}, {3, 2, 4}},
                                   {{3, 2, 5}, {5, 4}, {3, 2, 4}},
                                   {{2, 1, 2, 3}, {7, 3, 1}, {2, 7, 2, 1}},
                                   {{0, 2, 3}, {1, 3, 2}, {0, 2, 2}}};
  for (const Case& c : cases) {
    const Tensor a = placeholder("A", c.a), b = placeholder("B", c.b);
    const Result<Tensor> product = matmul(a, b);
    ASSERT_TRUE(product) << message_of(product);
    EXPECT_EQ(product->shape(), c.result);
    const auto element = [](const ir::Array& array, const Index& i, std::int64_t row, std::int64_t column) {
      const std::size_t batches = array.shape().size() - 2, skip = i.size() - array.shape().size();
      Index own;
      for (std::size_t axis = 0; axis < batches; ++axis) own.push_back(array.shape()[axis] == 1 ? 0 : i[skip + axis]);
      own.push_back(row);
      own.push_back(column);
      return at(array, own);
    };
    expect_values({a, b}, product, [&](const Arrays& x, const Index& i) {
      double sum = 0;
      for (std::int64_t k = 0; k < c.a.back(); ++k)
        sum += element(x[0], i, i[i.size() - 2], k) * element(x[1], i, k, i.back());
      return sum;
    });
  }
}

TEST(Matmul, OperandsThatDoNotFitAreRefused) {
  EXPECT_EQ(message_of(matmul(placeholder("A", {2, 3}), placeholder("B", {4, 5}))),
            "matmul: inner extents 3 and 4 differ, they must be equal");
  EXPECT_EQ(message_of(matmul(placeholder("A", {3}), placeholder("B", {3, 5}))),
            "matmul: 'A' has 1 axes, allowed is 2 and more");
  EXPECT_EQ(message_of(matmul(placeholder("A", {2, 3}), placeholder("B", {3, 5}, ir::kI8))),
            "matmul: types f32 of 'A' and i8 of 'B' differ, they must be equal");
  EXPECT_EQ(message_of(matmul(placeholder("A", {2, 2, 3}), placeholder("B", {3, 3, 5}))),
            "matmul: shapes [2] and [3] do not broadcast: extents 2 and 3 must be equal, or one of them 1");
}

}  // namespace
}  // namespace hone::tensor
