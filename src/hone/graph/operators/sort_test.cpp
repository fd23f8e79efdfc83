#include <cmath>

#include "hone/graph/testing.h"

namespace hone::graph::testing {
namespace {

using runtime::Tensor;
using runtime::Value;

Tensor ints(const Shape& shape, const std::vector<std::int64_t>& numbers) {
  return Tensor::of<std::int64_t>(shape, numbers);
}

TEST(SortOperators, NonZeroGivesOneColumnPerElement) {
  const Tensor x = Tensor::of<std::int32_t>({2, 3}, {1, 0, 2, 0, 0, 3});
  expect_tensor(apply_one("NonZero", {x}), ints({2, 3}, {0, 0, 1, 0, 2, 2}));
  expect_tensor(apply_one("NonZero", {floats({0, 5}, {})}), ints({2, 0}, {}));
  expect_tensor(apply_one("NonZero", {Tensor::scalar(3.0F)}), ints({0, 1}, {}));
  expect_tensor(apply_one("NonZero", {Tensor::of<bool>({3}, {false, true, true})}), ints({1, 2}, {1, 2}));
  expect_tensor(apply_one("NonZero", {floats({3}, {-0.0F, NAN, 1})}), ints({1, 2}, {1, 2}));
}

TEST(SortOperators, UniqueSortsOrKeepsTheOrder) {
  const Tensor x = floats({6}, {2, 1, 1, 3, 4, 3});
  auto results = apply("Unique", {x}, {}, 4);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({4}, {1, 2, 3, 4}));
  expect_tensor(*results->at(1).tensor(), ints({4}, {1, 0, 3, 4}));
  expect_tensor(*results->at(2).tensor(), ints({6}, {1, 0, 0, 2, 3, 2}));
  expect_tensor(*results->at(3).tensor(), ints({4}, {2, 1, 2, 1}));
  results = apply("Unique", {x}, attributes({{"sorted", 0}}), 4);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({4}, {2, 1, 3, 4}));
  expect_tensor(*results->at(1).tensor(), ints({4}, {0, 1, 3, 4}));
  expect_tensor(*results->at(2).tensor(), ints({6}, {0, 1, 1, 2, 3, 2}));
  expect_tensor(*results->at(3).tensor(), ints({4}, {1, 2, 2, 1}));
}

TEST(SortOperators, UniqueComparesSlices) {
  const Tensor x = floats({2, 4, 2}, {1, 1, 0, 1, 2, 1, 0, 1, 1, 1, 0, 1, 2, 1, 0, 1});
  const auto results = apply("Unique", {x}, attributes({{"axis", 1}}), 4);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({2, 3, 2}, {0, 1, 1, 1, 2, 1, 0, 1, 1, 1, 2, 1}));
  expect_tensor(*results->at(1).tensor(), ints({3}, {1, 0, 2}));
  expect_tensor(*results->at(2).tensor(), ints({4}, {1, 0, 2, 0}));
  expect_tensor(*results->at(3).tensor(), ints({3}, {2, 1, 1}));
}

TEST(SortOperators, UniqueTakesStringsEmptyTensorsAndNan) {
  expect_tensor(apply_one("Unique", {Tensor::of_strings({2, 2}, {"b", "a", "b", ""})}),
                Tensor::of_strings({3}, {"", "a", "b"}));
  expect_tensor(apply_one("Unique", {floats({0}, {})}), floats({0}, {}));
  expect_tensor(apply_one("Unique", {floats({0, 3}, {})}, attributes({{"axis", 1}})), floats({0, 1}, {}));
  expect_tensor(apply_one("Unique", {floats({4}, {NAN, 1, NAN, -INFINITY})}), floats({3}, {-INFINITY, 1, NAN}));
  EXPECT_EQ(message_of("Unique", {floats({2}, {1, 2})}, attributes({{"axis", 1}})),
            "Unique: axis 1 is outside [-1, 1)");
}

TEST(SortOperators, TopKTakesTheBestInOrderAndTheFirstOfEqualOnes) {
  const Tensor x = floats({3, 4}, {0, 1, 2, 3, 7, 6, 7, 4, 8, 8, 8, 8});
  auto results = apply("TopK", {x, testing::ints({3})}, {}, 2);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({3, 3}, {3, 2, 1, 7, 7, 6, 8, 8, 8}));
  expect_tensor(*results->at(1).tensor(), ints({3, 3}, {3, 2, 1, 0, 2, 1, 0, 1, 2}));
  results = apply("TopK", {x, testing::ints({1})}, attributes({{"axis", 0}, {"largest", 0}}), 2);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({1, 4}, {0, 1, 2, 3}));
  expect_tensor(*results->at(1).tensor(), ints({1, 4}, {0, 0, 0, 0}));
}

TEST(SortOperators, TopKTakesAllTypesAndSizes) {
  expect_tensor(apply_one("TopK", {Tensor::of<std::uint64_t>({3}, {1, UINT64_MAX, 2}), testing::ints({2})}),
                Tensor::of<std::uint64_t>({2}, {UINT64_MAX, 2}));
  const Tensor half = Tensor::of<std::uint16_t>({3}, {0x3C00, 0xBC00, 0x4000}).reinterpreted(ElementType::F16);
  expect_tensor(apply_one("TopK", {half, testing::ints({2})}),
                Tensor::of<std::uint16_t>({2}, {0x4000, 0x3C00}).reinterpreted(ElementType::F16));
  expect_tensor(apply_one("TopK", {floats({3}, {1, NAN, 2}), testing::ints({3})}), floats({3}, {NAN, 2, 1}));
  expect_tensor(apply_one("TopK", {floats({2, 3}, {1, 2, 3, 4, 5, 6}), testing::ints({0})}), floats({2, 0}, {}));
  expect_tensor(apply_one("TopK", {floats({2, 0}, {}), testing::ints({0})}), floats({2, 0}, {}));
}

TEST(SortOperators, TopKRefusesAKBeyondTheExtent) {
  for (const std::int64_t k : {std::int64_t{4}, std::int64_t{-1}, INT64_MAX, INT64_MIN})
    EXPECT_EQ(message_of("TopK", {floats({3}, {1, 2, 3}), testing::ints({k})}),
              fmt::format("TopK: k is {}, allowed are 0 to 3", k));
  EXPECT_EQ(message_of("TopK", {floats({3}, {1, 2, 3}), testing::ints({1, 2})}),
            "TopK: k must be one number, found int64[2]");
  EXPECT_EQ(message_of("TopK", {Tensor::scalar(1.0F), testing::ints({1})}), "TopK: axis -1 is outside [0, 0)");
}

TEST(SortOperators, NonMaxSuppressionKeepsTheBestOfEachCluster) {
  const Tensor boxes = floats(
      {1, 6, 4}, {0, 0, 1, 1, 0, 0.1F, 1, 1.1F, 0, -0.1F, 1, 0.9F, 0, 10, 1, 11, 0, 10.1F, 1, 11.1F, 0, 100, 1, 101});
  const Tensor scores = floats({1, 1, 6}, {0.9F, 0.75F, 0.6F, 0.95F, 0.5F, 0.3F});
  const auto select = [&](std::int64_t most, float iou, float score) {
    return apply_one("NonMaxSuppression",
                     {boxes, scores, testing::ints({most}), floats({1}, {iou}), floats({1}, {score})});
  };
  expect_tensor(select(3, 0.5F, 0), ints({3, 3}, {0, 0, 3, 0, 0, 0, 0, 0, 5}));
  expect_tensor(select(2, 0.5F, 0), ints({2, 3}, {0, 0, 3, 0, 0, 0}));
  expect_tensor(select(INT64_MAX, 0.5F, 0.4F), ints({2, 3}, {0, 0, 3, 0, 0, 0}));
  expect_tensor(select(-1, 0.5F, 0.4F), ints({0, 3}, {}));
  expect_tensor(apply_one("NonMaxSuppression", {boxes, scores}), ints({0, 3}, {}));
  const Tensor centers = floats({1, 2, 4}, {0.5F, 0.5F, 1, 1, 0.5F, 0.6F, 1, 1});
  expect_tensor(apply_one("NonMaxSuppression",
                          {centers, floats({1, 1, 2}, {0.2F, 0.8F}), testing::ints({9}), floats({1}, {0.5F})},
                          attributes({{"center_point_box", 1}})),
                ints({1, 3}, {0, 0, 1}));
  expect_tensor(apply_one("NonMaxSuppression", {floats({0, 6, 4}, {}), floats({0, 1, 6}, {}), testing::ints({9})}),
                ints({0, 3}, {}));
}

TEST(SortOperators, NonMaxSuppressionRefusesShapesThatDoNotBelongTogether) {
  EXPECT_EQ(message_of("NonMaxSuppression", {floats({1, 1, 4}, {0, 0, 1, 1}), floats({1, 1, 2}, {1, 2})}),
            "NonMaxSuppression: boxes must be float[batches, boxes, 4] and scores float[batches, classes, boxes], "
            "found float[1, 1, 4] and float[1, 1, 2]");
}

}  // namespace
}  // namespace hone::graph::testing
