#include "hone/graph/testing.h"

namespace hone::graph::testing {
namespace {

using runtime::Tensor;

TEST(ScatterOperators, ScatterElementsWritesAlongAnAxis) {
  const Tensor zeros = floats({3, 3}, std::vector<float>(9, 0));
  expect_tensor(apply_one("ScatterElements", {zeros, index_matrix({2, 3}, {1, 0, 2, 0, 2, 1}),
                                              floats({2, 3}, {1.0, 1.1, 1.2, 2.0, 2.1, 2.2})}),
                floats({3, 3}, {2.0, 1.1, 0, 1.0, 0, 2.2, 0, 2.1, 1.2}));
  const Tensor row = floats({1, 5}, {1, 2, 3, 4, 5});
  const Tensor places = index_matrix({1, 2}, {1, 1}), updates = floats({1, 2}, {3, 2});
  const auto reduced = [&](const char* how, float expected) {
    expect_tensor(apply_one("ScatterElements", {row, places, updates}, attributes({{"axis", 1}, {"reduction", how}})),
                  floats({1, 5}, {1, expected, 3, 4, 5}));
  };
  reduced("none", 2);
  reduced("add", 7);
  reduced("mul", 12);
  reduced("max", 3);
  reduced("min", 2);
  expect_tensor(apply_one("Scatter", {Tensor::of_strings({2}, {"a", "b"}), ints({-1}), Tensor::of_strings({1}, {"c"})}),
                Tensor::of_strings({2}, {"a", "c"}));
  EXPECT_EQ(
      message_of("ScatterElements", {row, index_matrix({1, 1}, {5}), floats({1, 1}, {0})}, attributes({{"axis", 1}})),
      "ScatterElements: index 5 is outside [-5, 5)");
}

TEST(ScatterOperators, ScatterNDWritesSlices) {
  expect_tensor(apply_one("ScatterND", {iota({8}), index_matrix({4, 1}, {4, 3, 1, 7}), floats({4}, {9, 10, 11, 12})}),
                floats({8}, {0, 11, 2, 10, 9, 5, 6, 12}));
  expect_tensor(apply_one("ScatterND", {iota({2, 2}), index_matrix({2, 1}, {1, 1}), floats({2, 2}, {1, 1, 2, 2})},
                          attributes({{"reduction", "add"}})),
                floats({2, 2}, {0, 1, 5, 6}));
  expect_tensor(apply_one("ScatterND", {iota({2}), index_matrix({0, 1}, {}), floats({0}, {})}), iota({2}));
  EXPECT_EQ(message_of("ScatterND", {iota({2}), index_matrix({1, 1}, {0}), floats({2}, {1, 2})}),
            "ScatterND: updates float[2], allowed is float[1]");
}

TEST(ScatterOperators, RunningSumsGoBothWays) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor axis = Tensor::scalar<std::int64_t>(-1);
  const auto sum = [&](std::int64_t exclusive, std::int64_t reverse, const std::vector<float>& expected) {
    expect_tensor(apply_one("CumSum", {x, axis}, attributes({{"exclusive", exclusive}, {"reverse", reverse}})),
                  floats({2, 3}, expected));
  };
  sum(0, 0, {1, 3, 6, 4, 9, 15});
  sum(1, 0, {0, 1, 3, 0, 4, 9});
  sum(0, 1, {6, 5, 3, 15, 11, 6});
  sum(1, 1, {5, 3, 0, 11, 6, 0});
  expect_tensor(apply_one("CumSum", {x, Tensor::scalar<std::int64_t>(0)}), floats({2, 3}, {1, 2, 3, 5, 7, 9}));
  expect_tensor(apply_one("CumProd", {floats({3}, {1, 2, 3}), axis}, attributes({{"exclusive", 1}, {"reverse", 1}})),
                floats({3}, {6, 3, 1}));
  expect_tensor(apply_one("CumSum", {iota({0}), Tensor::scalar<std::int64_t>(0)}), iota({0}));
}

}  // namespace
}  // namespace hone::graph::testing
