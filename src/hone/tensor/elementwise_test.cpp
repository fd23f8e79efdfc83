#include <cmath>

#include "hone/tensor/definitions.h"
#include "hone/tensor/testing.h"

namespace hone::tensor {
namespace {

using Arrays = std::vector<ir::Array>;

TEST(Elementwise, ChainIsItsFormula) {
  for (const Shape& shape : {Shape{7, 3}, Shape{1}, Shape{}, Shape{3, 0}}) {
    const Tensor x = placeholder("X", shape);
    expect_values(
        {x}, elementwise_chain(x),
        [](const Arrays& a, const Index& i) { return std::tanh(2 * at(a[0], i) + 1) * at(a[0], i); }, 1e-6);
  }
  EXPECT_EQ(message_of(elementwise_chain(placeholder("X", {2}, ir::kI32))),
            "elementwise chain: 'X' has type i32, allowed are f16, bf16, f32 and f64");
}

TEST(Elementwise, AddBroadcastsLikeNumpy) {
  struct Case {
    Shape a, b, result;
  };
  const std::vector<Case> cases = {{{5, 3}, {5, 3}, {5, 3}}, {{5, 3}, {3}, {5, 3}},   {{5, 1}, {1, 7}, {5, 7}},
                                   {{}, {2, 3}, {2, 3}},     {{4, 1}, {0}, {4, 0}},   {{2, 1, 3}, {5, 1}, {2, 5, 3}},
                                   {{1}, {}, {1}},           {{2, 0}, {1, 1}, {2, 0}}};
  for (const Case& c : cases) {
    const Tensor a = placeholder("A", c.a), b = placeholder("B", c.b);
    const Result<Tensor> sum = add(a, b);
    ASSERT_TRUE(sum) << message_of(sum);
    EXPECT_EQ(sum->shape(), c.result);
    const auto pick = [](const ir::Array& array, const Index& i) {
      Index own;
      const std::size_t skip = i.size() - array.shape().size();
      for (std::size_t axis = 0; axis < array.shape().size(); ++axis)
        own.push_back(array.shape()[axis] == 1 ? 0 : i[skip + axis]);
      return at(array, own);
    };
    expect_values({a, b}, sum, [&](const Arrays& x, const Index& i) { return pick(x[0], i) + pick(x[1], i); });
  }
}

TEST(Elementwise, ShapesAndTypesThatDoNotFitAreRefused) {
  EXPECT_EQ(message_of(add(placeholder("A", {2, 3}), placeholder("B", {2, 4}))),
            "add: shapes [2, 3] and [2, 4] do not broadcast: extents 3 and 4 must be equal, or one of them 1");
  EXPECT_EQ(message_of(add(placeholder("A", {2}), placeholder("B", {2}, ir::kF64))),
            "add: types f32 of 'A' and f64 of 'B' differ, they must be equal");
}

TEST(Elementwise, ReluKeepsWhatIsPositive) {
  for (const ir::DType type : {ir::kF32, ir::kI8, ir::kF16}) {
    const Tensor x = placeholder("X", {11}, type);
    expect_values({x}, relu(x), [](const Arrays& a, const Index& i) { return std::max(at(a[0], i), 0.0); });
  }
}

TEST(Elementwise, TransposeMovesEveryAxis) {
  for (const std::vector<int>& permutation :
       std::vector<std::vector<int>>{{0, 1, 2}, {2, 0, 1}, {1, 0, 2}, {-1, 1, 0}}) {
    const Tensor x = placeholder("X", {2, 3, 5});
    expect_values({x}, transpose(x, permutation), [&](const Arrays& a, const Index& i) {
      Index from(3);
      for (std::size_t axis = 0; axis < 3; ++axis)
        from[static_cast<std::size_t>((permutation[axis] + 3) % 3)] = i[axis];
      return at(a[0], from);
    });
  }
  const Tensor scalar = placeholder("S", {});
  EXPECT_TRUE(transpose(scalar, {}));
}

TEST(Elementwise, PermutationsMustBePermutations) {
  const Tensor x = placeholder("X", {2, 3});
  EXPECT_EQ(message_of(transpose(x, {0})), "transpose: 1 axes for a tensor of 2, they must be as many");
  EXPECT_EQ(message_of(transpose(x, {0, 2})), "transpose: axis 2 of a tensor of 2 axes, allowed are -2..1");
  EXPECT_EQ(message_of(transpose(x, {1, -1})), "transpose: axis 1 occurs twice, allowed is once");
}

}  // namespace
}  // namespace hone::tensor
