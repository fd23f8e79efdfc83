#include "hone/graph/testing.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;

TEST(Reduction, SumsOverAxesGivenAsInputOrAttribute) {
  const Tensor x = iota({2, 3});
  expect_tensor(apply_one("ReduceSum", {x, ints({1})}), floats({2, 1}, {3, 12}));
  expect_tensor(apply_one("ReduceSum", {x, ints({-2})}, attributes({{"keepdims", std::int64_t{0}}})),
                floats({3}, {3, 5, 7}));
  const Attribute axes = std::vector<std::int64_t>{1};
  expect_tensor(apply_one("ReduceSum", {x}, attributes({{"axes", axes}}), 11), floats({2, 1}, {3, 12}));
}

TEST(Reduction, WithoutAxesReducesAllOrNothing) {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  expect_tensor(apply_one("ReduceSumSquare", {x}), floats({1, 1}, {30}));
  expect_tensor(apply_one("ReduceSumSquare", {x}, attributes({{"noop_with_empty_axes", std::int64_t{1}}})),
                floats({2, 2}, {1, 4, 9, 16}));
}

TEST(Reduction, OverNothingGivesTheIdentity) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor empty = floats({2, 0}, {});
  expect_tensor(apply_one("ReduceSum", {empty, ints({1})}), floats({2, 1}, {0, 0}));
  expect_tensor(apply_one("ReduceProd", {empty, ints({1})}), floats({2, 1}, {1, 1}));
  expect_tensor(apply_one("ReduceMax", {empty, ints({1})}), floats({2, 1}, {-infinity, -infinity}));
  expect_tensor(apply_one("ReduceLogSumExp", {empty, ints({1})}), floats({2, 1}, {-infinity, -infinity}));
}

TEST(Reduction, LogSumExpDoesNotOverflow) {
  expect_tensor(apply_one("ReduceLogSumExp", {floats({3}, {1000, 1000, 1000})}), floats({1}, {1001.0986F}), 1e-3);
}

TEST(Reduction, OfBoolsIsLogicAndOfIntegersExact) {
  const Tensor bools = Tensor::of<bool>({2, 2}, {true, false, true, true});
  expect_tensor(apply_one("ReduceMax", {bools, ints({1})}), Tensor::of<bool>({2, 1}, {true, true}));
  expect_tensor(apply_one("ReduceMin", {bools, ints({1})}), Tensor::of<bool>({2, 1}, {false, true}));
  const Tensor large = Tensor::of<std::int64_t>({2}, {9007199254740993, 1});
  expect_tensor(apply_one("ReduceSum", {large}), Tensor::of<std::int64_t>({1}, {9007199254740994}));
  expect_tensor(apply_one("ReduceL2", {Tensor::of<std::int32_t>({2}, {3, 4})}), Tensor::of<std::int32_t>({1}, {5}));
}

TEST(Reduction, PlacesAreTheFirstOrTheLast) {
  const Tensor x = floats({2, 3}, {2, 5, 5, 1, 1, 0});
  expect_tensor(apply_one("ArgMax", {x}, attributes({{"axis", std::int64_t{1}}})),
                Tensor::of<std::int64_t>({2, 1}, {1, 0}));
  expect_tensor(apply_one("ArgMax", {x},
                          attributes({{"axis", std::int64_t{-1}},
                                      {"select_last_index", std::int64_t{1}},
                                      {"keepdims", std::int64_t{0}}})),
                Tensor::of<std::int64_t>({2}, {2, 1}));
  expect_tensor(apply_one("ArgMin", {x}, attributes({{"axis", std::int64_t{0}}})),
                Tensor::of<std::int64_t>({1, 3}, {1, 1, 1}));
}

TEST(Reduction, RefusesAxesOutsideAndEmptyPlaces) {
  EXPECT_EQ(message_of("ReduceSum", {iota({2, 3}), ints({2})}), "ReduceSum: axis 2 is outside [-2, 2)");
  EXPECT_EQ(message_of("ArgMax", {floats({0}, {})}), "ArgMax: axis 0 has no elements, allowed is 1 and more");
}

TEST(Softmax, TakesOneAxisAndBeforeOpset13AllFromThereOn) {
  const Tensor x = floats({1, 2, 2}, {0, 0, 0, 0});
  expect_tensor(apply_one("Softmax", {x}), floats({1, 2, 2}, {0.5, 0.5, 0.5, 0.5}));
  expect_tensor(apply_one("Softmax", {x}, {}, 11), floats({1, 2, 2}, {0.25, 0.25, 0.25, 0.25}));
  expect_tensor(apply_one("LogSoftmax", {floats({2}, {1000, 1000})}), floats({2}, {-0.6931472F, -0.6931472F}), 1e-6);
  expect_tensor(apply_one("Hardmax", {floats({2, 3}, {1, 3, 3, 2, 0, 1})}), floats({2, 3}, {0, 1, 0, 1, 0, 0}));
}

}  // namespace
}  // namespace hone::graph
