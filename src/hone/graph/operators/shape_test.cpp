#include "hone/graph/testing.h"

namespace hone::graph::testing {
namespace {

using runtime::Tensor;

TEST(ShapeOperators, ShapeGivesTheWantedExtents) {
  expect_tensor(apply_one("Shape", {iota({2, 3, 5})}), ints({2, 3, 5}));
  expect_tensor(apply_one("Shape", {iota({2, 3, 5})}, attributes({{"start", -2}, {"end", -1}})), ints({3}));
  expect_tensor(apply_one("Shape", {iota({2, 3, 5})}, attributes({{"start", 2}, {"end", 1}})), ints({}));
  expect_tensor(apply_one("Shape", {iota({})}), ints({}));
  expect_tensor(apply_one("Shape", {Tensor::of_strings({1, 2}, {"a", "b"})}), ints({1, 2}));
  expect_tensor(apply_one("Size", {iota({2, 3})}), Tensor::scalar<std::int64_t>(6));
  expect_tensor(apply_one("Size", {iota({0, 3})}), Tensor::scalar<std::int64_t>(0));
}

TEST(ShapeOperators, ReshapeKeepsTheOrderOfElements) {
  for (const Shape& shape : {Shape{6, 10}, {60}, {2, 3, 2, 5}, {1, 60, 1}, {4, 15}, {5, 12}, {3, 1, 20}, {12, 1, 5}})
    expect_tensor(apply_one("Reshape", {iota({3, 4, 5}), ints(shape)}), iota(shape));
  expect_tensor(apply_one("Reshape", {iota({3, 4, 5}), ints({0, -1})}), iota({3, 20}));
  expect_tensor(apply_one("Reshape", {iota({0, 4}), ints({0, 2})}, attributes({{"allowzero", 1}})), iota({0, 2}));
  expect_tensor(apply_one("Reshape", {iota({1}), ints({})}), iota({}));
  expect_tensor(apply_one("Reshape", {iota({}), ints({1, 1})}), iota({1, 1}));
  expect_tensor(apply_one("Reshape", {Tensor::of_strings({2}, {"a", "b"}), ints({-1, 1})}),
                Tensor::of_strings({2, 1}, {"a", "b"}));
}

TEST(ShapeOperators, ReshapeRefusesWhatDoesNotFit) {
  EXPECT_EQ(message_of("Reshape", {iota({2, 3}), ints({4})}),
            "Reshape: 6 elements of shape [2, 3] cannot have the shape [4]");
  EXPECT_EQ(message_of("Reshape", {iota({2, 3}), ints({-1, -1})}),
            "Reshape: the shape [-1, -1] has -1 twice, allowed is once");
  EXPECT_EQ(message_of("Reshape", {iota({2, 3}), ints({-1, 4})}), "Reshape: 6 elements cannot have the shape [-1, 4]");
  EXPECT_EQ(message_of("Reshape", {iota({2, 3}), ints({2, 3, 0})}),
            "Reshape: the shape [2, 3, 0] copies axis 2, the input has 2 axes");
  EXPECT_EQ(message_of("Reshape", {iota({2}), ints({-2, -1})}), "Reshape: a tensor cannot have extent -2");
}

TEST(ShapeOperators, FlattenMakesTwoAxes) {
  expect_tensor(apply_one("Flatten", {iota({2, 3, 4})}), iota({2, 12}));
  expect_tensor(apply_one("Flatten", {iota({2, 3, 4})}, attributes({{"axis", 0}})), iota({1, 24}));
  expect_tensor(apply_one("Flatten", {iota({2, 3, 4})}, attributes({{"axis", 3}})), iota({24, 1}));
  expect_tensor(apply_one("Flatten", {iota({2, 3, 4})}, attributes({{"axis", -1}})), iota({6, 4}));
}

TEST(ShapeOperators, SqueezeAndUnsqueezeDropAndAddAxes) {
  expect_tensor(apply_one("Squeeze", {iota({1, 3, 1})}), iota({3}));
  expect_tensor(apply_one("Squeeze", {iota({1, 3, 1}), ints({-1})}), iota({1, 3}));
  EXPECT_EQ(message_of("Squeeze", {iota({2, 3}), ints({1})}),
            "Squeeze: axis 1 has extent 3, only extent 1 can be squeezed");
  expect_tensor(apply_one("Unsqueeze", {iota({3, 4}), ints({-1, 0})}), iota({1, 3, 4, 1}));
  expect_tensor(apply_one("Unsqueeze", {iota({}), ints({0})}), iota({1}));
  EXPECT_EQ(message_of("Unsqueeze", {iota({2}), ints({0, 0})}), "Unsqueeze: axis 0 stands twice in [0, 0]");
}

}  // namespace
}  // namespace hone::graph::testing
