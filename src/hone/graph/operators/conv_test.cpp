#include "hone/graph/testing.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;
using Ints = std::vector<std::int64_t>;

TEST(Conv, PadsAsTheAttributesSay) {
  const Tensor x = floats({1, 1, 4}, {1, 2, 3, 4}), w = floats({1, 1, 2}, {1, 10});
  expect_tensor(apply_one("Conv", {x, w}), floats({1, 1, 3}, {21, 32, 43}));
  expect_tensor(apply_one("Conv", {x, w}, attributes({{"pads", Ints{1, 0}}})), floats({1, 1, 4}, {10, 21, 32, 43}));
  expect_tensor(apply_one("Conv", {x, w}, attributes({{"auto_pad", std::string("SAME_UPPER")}})),
                floats({1, 1, 4}, {21, 32, 43, 4}));
  expect_tensor(apply_one("Conv", {x, w}, attributes({{"auto_pad", std::string("SAME_LOWER")}})),
                floats({1, 1, 4}, {10, 21, 32, 43}));
  expect_tensor(apply_one("Conv", {x, w}, attributes({{"strides", Ints{2}}, {"dilations", Ints{2}}})),
                floats({1, 1, 1}, {31}));
}

TEST(Conv, AddsABiasAndKeepsGroupsApart) {
  const Tensor x = floats({1, 2, 2}, {1, 2, 3, 4}), w = floats({2, 1, 1}, {2, 3}), b = floats({2}, {100, 200});
  expect_tensor(apply_one("Conv", {x, w, b}, attributes({{"group", std::int64_t{2}}})),
                floats({1, 2, 2}, {102, 104, 209, 212}));
}

TEST(Conv, TakesAnEmptyBatch) {
  expect_tensor(apply_one("Conv", {floats({0, 1, 3}, {}), floats({2, 1, 2}, {1, 2, 3, 4})}), floats({0, 2, 2}, {}));
}

TEST(Conv, RefusesWhatDoesNotFit) {
  const Tensor x = iota({1, 2, 4});
  EXPECT_EQ(message_of("Conv", {x, iota({1, 2, 3, 3})}),
            "Conv: an input of 3 axes and a weight of 4, they must be equal, 3 and more");
  EXPECT_EQ(message_of("Conv", {x, iota({1, 2, 3})}, attributes({{"pads", Ints{1}}})),
            "Conv: pads has 1 entries, allowed are 2");
  EXPECT_EQ(message_of("Conv", {x, iota({1, 2, 3})}, attributes({{"kernel_shape", Ints{2}}})),
            "Conv: kernel_shape [2] differs from [3] of the weight");
}

TEST(ConvTranspose, FitsTheOutputThatIsAskedFor) {
  const Tensor x = floats({1, 1, 2}, {1, 2}), w = floats({1, 1, 3}, {1, 1, 1});
  expect_tensor(apply_one("ConvTranspose", {x, w}, attributes({{"strides", Ints{2}}})),
                floats({1, 1, 5}, {1, 1, 3, 2, 2}));
  expect_tensor(apply_one("ConvTranspose", {x, w}, attributes({{"strides", Ints{2}}, {"output_shape", Ints{6}}})),
                floats({1, 1, 6}, {1, 1, 3, 2, 2, 0}));
  expect_tensor(
      apply_one("ConvTranspose", {x, w}, attributes({{"strides", Ints{2}}, {"auto_pad", std::string("SAME_UPPER")}})),
      floats({1, 1, 4}, {1, 1, 3, 2}));
}

TEST(ConvInteger, SubtractsZeroPointsBeforePadding) {
  const Tensor x = Tensor::of<std::uint8_t>({1, 1, 2}, {11, 12}), w = Tensor::of<std::int8_t>({1, 1, 2}, {1, -2});
  const Tensor zero = Tensor::scalar<std::uint8_t>(10);
  expect_tensor(apply_one("ConvInteger", {x, w, zero}, attributes({{"pads", Ints{1, 1}}})),
                Tensor::of<std::int32_t>({1, 1, 3}, {-2, -3, 2}));
}

TEST(QLinearConv, RoundsHalvesToEvenAndSaturates) {
  const Tensor x = Tensor::of<std::uint8_t>({1, 1, 3}, {1, 3, 255}), w = Tensor::of<std::uint8_t>({1, 1, 1}, {1});
  const Tensor one = Tensor::scalar<float>(1), zero = Tensor::scalar<std::uint8_t>(0);
  const Tensor two = Tensor::scalar<float>(2), half = Tensor::scalar<float>(0.5);
  expect_tensor(apply_one("QLinearConv", {x, one, zero, w, one, zero, two, zero}),
                Tensor::of<std::uint8_t>({1, 1, 3}, {0, 2, 128}));
  expect_tensor(apply_one("QLinearConv", {x, one, zero, w, one, zero, half, zero}),
                Tensor::of<std::uint8_t>({1, 1, 3}, {2, 6, 255}));
}

TEST(DeformConv, SamplesBetweenElements) {
  const Tensor x = floats({1, 1, 1, 3}, {1, 2, 4}), w = floats({1, 1, 1, 1}, {1});
  const Tensor offset = floats({1, 2, 1, 3}, {0, 0, 0, 0.5, 0.5, 0.5});  // half a column to the right
  expect_tensor(apply_one("DeformConv", {x, w, offset}), floats({1, 1, 1, 3}, {1.5, 3, 2}));
}

TEST(Pool, CountsPaddingWhereItIsAskedTo) {
  const Tensor x = floats({1, 1, 3}, {2, 4, 6});
  const Attribute kernel = Ints{2}, pads = Ints{1, 0}, strides = Ints{2};
  expect_tensor(
      apply_one("AveragePool", {x}, attributes({{"kernel_shape", kernel}, {"pads", pads}, {"strides", strides}})),
      floats({1, 1, 2}, {2, 5}));
  expect_tensor(apply_one("AveragePool", {x},
                          attributes({{"kernel_shape", kernel},
                                      {"pads", pads},
                                      {"strides", strides},
                                      {"count_include_pad", std::int64_t{1}}})),
                floats({1, 1, 2}, {1, 5}));
}

TEST(Pool, RoundsPositionsUpWithoutCountingWhatIsBeyond) {
  const Tensor x = floats({1, 1, 3}, {2, 4, 6});
  const Attributes up = attributes({{"kernel_shape", Ints{2}},
                                    {"strides", Ints{2}},
                                    {"ceil_mode", std::int64_t{1}},
                                    {"count_include_pad", std::int64_t{1}}});
  expect_tensor(apply_one("AveragePool", {x}, up), floats({1, 1, 2}, {3, 6}));
}

TEST(Pool, MaximaComeWithTheirPlaces) {
  const Tensor x = floats({1, 2, 2, 2}, {1, 4, 3, 2, 5, 5, 7, 6});
  for (const std::int64_t order : {0, 1}) {
    const auto results = apply("MaxPool", {x}, attributes({{"kernel_shape", Ints{2, 2}}, {"storage_order", order}}), 2);
    ASSERT_TRUE(results) << results.error().message;
    expect_tensor(*results->at(0).tensor(), floats({1, 2, 1, 1}, {4, 7}));
    const std::vector<std::int64_t> places = order == 0 ? Ints{1, 6} : Ints{2, 5};
    expect_tensor(*results->at(1).tensor(), Tensor::of<std::int64_t>({1, 2, 1, 1}, places));
  }
}

TEST(Pool, NormsAreRootsOfSums) {
  const Tensor x = floats({1, 1, 2}, {3, -4});
  expect_tensor(apply_one("LpPool", {x}, attributes({{"kernel_shape", Ints{2}}})), floats({1, 1, 1}, {5}));
  expect_tensor(apply_one("GlobalLpPool", {x}, attributes({{"p", std::int64_t{1}}})), floats({1, 1, 1}, {7}));
  expect_tensor(apply_one("GlobalAveragePool", {x}), floats({1, 1, 1}, {-0.5}));
  expect_tensor(apply_one("GlobalMaxPool", {x}), floats({1, 1, 1}, {3}));
}

}  // namespace
}  // namespace hone::graph
