#include "hone/graph/testing.h"

namespace hone::graph::testing {
namespace {

using runtime::Tensor;

TEST(IndexOperators, GatherTakesSlices) {
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  expect_tensor(apply_one("Gather", {x, index_matrix({2, 2}, {0, 1, -2, 2})}),
                floats({2, 2, 2}, {1, 2, 3, 4, 3, 4, 5, 6}));
  expect_tensor(apply_one("Gather", {x, Tensor::scalar<std::int64_t>(-1)}, attributes({{"axis", 1}})),
                floats({3}, {2, 4, 6}));
  expect_tensor(apply_one("Gather", {x, ints({7, -9})}), floats({2, 2}, {5, 6, 1, 2}));  // brought inside
  expect_tensor(apply_one("Gather", {Tensor::of_strings({3}, {"a", "b", "c"}), ints({2, -3})}),
                Tensor::of_strings({2}, {"c", "a"}));
  expect_tensor(apply_one("Gather", {iota({0, 2}), ints({})}), iota({0, 2}));
  EXPECT_EQ(message_of("Gather", {iota({0, 2}), ints({0})}),
            "Gather: axis 0 of [0, 2] is empty, nothing can be taken from it");
  EXPECT_EQ(message_of("Gather", {Tensor::of_strings({1}, {"a"}), ints({1})}), "Gather: index 1 is outside [-1, 1)");
}

TEST(IndexOperators, GatherElementsTakesElements) {
  const Tensor x = floats({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor i = index_matrix({2, 3}, {1, 2, 0, 2, 0, 0});
  expect_tensor(apply_one("GatherElements", {x, i}), floats({2, 3}, {4, 8, 3, 7, 2, 3}));
  expect_tensor(apply_one("GatherElements", {Tensor::of_strings({3}, {"a", "b", "c"}), ints({2, -3})}),
                Tensor::of_strings({2}, {"c", "a"}));
}

TEST(IndexOperators, GatherNDTakesTuples) {
  const Tensor x = iota({2, 2, 2});
  expect_tensor(apply_one("GatherND", {x, index_matrix({2, 2}, {0, 1, 1, 0})}), floats({2, 2}, {2, 3, 4, 5}));
  expect_tensor(apply_one("GatherND", {x, index_matrix({2, 1}, {1, 0})}, attributes({{"batch_dims", 1}})),
                floats({2, 2}, {2, 3, 4, 5}));
  expect_tensor(apply_one("GatherND", {x, index_matrix({1, 3}, {-1, -1, -2})}), floats({1}, {6}));
  const Tensor strings = Tensor::of_strings({2, 2}, {"a", "b", "c", "d"});
  expect_tensor(apply_one("GatherND", {strings, index_matrix({2, 1}, {1, 0})}, attributes({{"batch_dims", 1}})),
                Tensor::of_strings({2}, {"b", "c"}));
  EXPECT_EQ(message_of("GatherND", {x, index_matrix({1, 4}, {0, 0, 0, 0})}),
            "GatherND: indices of 4 numbers, allowed are 1 to 3");
}

TEST(IndexOperators, TensorScatterWritesInAStraightLineOrACircle) {
  const Tensor cache = iota({2, 3, 1}), update = floats({2, 2, 1}, {10, 11, 12, 13});
  expect_tensor(apply_one("TensorScatter", {cache, update}), floats({2, 3, 1}, {10, 11, 2, 12, 13, 5}));
  expect_tensor(apply_one("TensorScatter", {cache, update, ints({1, 0})}), floats({2, 3, 1}, {0, 10, 11, 12, 13, 5}));
  expect_tensor(apply_one("TensorScatter", {cache, update, ints({2, 4})}, attributes({{"mode", "circular"}})),
                floats({2, 3, 1}, {11, 1, 10, 3, 12, 13}));
}

TEST(IndexOperators, CompressSelects) {
  const auto bools = [](const std::vector<bool>& b) {
    return Tensor::of<bool>({static_cast<std::int64_t>(b.size())}, b);
  };
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  expect_tensor(apply_one("Compress", {x, bools({false, true, true})}, attributes({{"axis", 0}})),
                floats({2, 2}, {3, 4, 5, 6}));
  expect_tensor(apply_one("Compress", {x, bools({false, true})}, attributes({{"axis", 1}})), floats({3, 1}, {2, 4, 6}));
  expect_tensor(apply_one("Compress", {x, bools({false, true, false, false, true})}), floats({2}, {2, 5}));
}

TEST(IndexOperators, Col2ImAddsOverlappingBlocks) {
  // two blocks of [1, 2] with stride 1 overlap in the middle
  expect_tensor(apply_one("Col2Im", {floats({1, 2, 2}, {1, 2, 3, 4}), ints({1, 3}), ints({1, 2})}),
                floats({1, 1, 1, 3}, {1, 5, 4}));
}

TEST(GenerateOperators, RangeCounts) {
  const auto scalar = [](std::int64_t x) { return Tensor::scalar(x); };
  expect_tensor(apply_one("Range", {scalar(10), scalar(4), scalar(-2)}), ints({10, 8, 6}));
  expect_tensor(apply_one("Range", {scalar(1), scalar(1), scalar(1)}), ints({}));
  expect_tensor(apply_one("Range", {floats({}, {1}), floats({}, {2}), floats({}, {0.5})}), floats({2}, {1, 1.5}));
  EXPECT_EQ(message_of("Range", {scalar(1), scalar(2), scalar(0)}),
            "Range: the step does not lead from start to limit");
}

TEST(GenerateOperators, ConstantsHaveTheirTypes) {
  expect_tensor(apply_one("ConstantOfShape", {ints({2})}), floats({2}, {0, 0}));
  expect_tensor(apply_one("ConstantOfShape", {ints({})}, attributes({{"value", ints({7})}})),
                Tensor::scalar<std::int64_t>(7));
  EXPECT_EQ(message_of("ConstantOfShape", {ints({-1})}), "a tensor cannot have extent -1");
  expect_tensor(apply_one("EyeLike", {iota({2, 3})}, attributes({{"k", 1}, {"dtype", 7}})),
                index_matrix({2, 3}, {0, 1, 0, 0, 0, 1}));
}

TEST(GenerateOperators, OneHotMarksPlaces) {
  const Tensor depth = Tensor::scalar<std::int64_t>(3);
  expect_tensor(apply_one("OneHot", {ints({0, -1, 5}), depth, floats({2}, {2, 8})}),
                floats({3, 3}, {8, 2, 2, 2, 2, 8, 2, 2, 2}));
  expect_tensor(apply_one("OneHot", {ints({0, 2}), depth, floats({2}, {0, 1})}, attributes({{"axis", 0}})),
                floats({3, 2}, {1, 0, 0, 0, 0, 1}));
  expect_tensor(
      apply_one("OneHot", {ints({0, 2}), depth, Tensor::of_strings({2}, {"-", "x"})}, attributes({{"axis", 0}})),
      Tensor::of_strings({3, 2}, {"x", "-", "-", "-", "-", "x"}));
}

TEST(GenerateOperators, AffineGridOfTheIdentityIsTheGrid) {
  const Tensor theta = floats({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  expect_tensor(apply_one("AffineGrid", {theta, ints({1, 1, 1, 2})}), floats({1, 1, 2, 2}, {-0.5, 0, 0.5, 0}));
  expect_tensor(apply_one("AffineGrid", {theta, ints({1, 1, 2, 2})}, attributes({{"align_corners", 1}})),
                floats({1, 2, 2, 2}, {-1, -1, 1, -1, -1, 1, 1, 1}));
}

}  // namespace
}  // namespace hone::graph::testing
