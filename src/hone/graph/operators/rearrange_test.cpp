#include "hone/graph/testing.h"

namespace hone::graph::testing {
namespace {

using runtime::Tensor;
using runtime::Value;

Tensor words(const Shape& shape, const std::vector<std::string>& strings) { return Tensor::of_strings(shape, strings); }

/// Each number as a string, to compare the host kernel with the expression.
Tensor as_strings(const Tensor& x) {
  std::vector<std::string> strings;
  const std::vector<double> numbers = *x.to_doubles();
  for (const double number : numbers) strings.push_back(std::to_string(static_cast<int>(number)));
  return Tensor::of_strings(x.shape(), strings);
}

/// Applies an operator to numbers and to the same as strings, which must agree, and compares with what is expected.
void expect_moved(const std::string& op, const Tensor& x, std::vector<Value> rest, const Attributes& attributes,
                  const Tensor& expected) {
  std::vector<Value> inputs{x};
  inputs.insert(inputs.end(), rest.begin(), rest.end());
  expect_tensor(apply_one(op, inputs, attributes), expected);
  inputs[0] = as_strings(x);
  expect_tensor(apply_one(op, inputs, attributes), as_strings(expected));
}

TEST(RearrangeOperators, ExpandBroadcastsBothWays) {
  expect_moved("Expand", floats({3, 1}, {1, 2, 3}), {ints({2, 1, 2})}, {},
               floats({2, 3, 2}, {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}));
  expect_moved("Expand", floats({3}, {1, 2, 3}), {ints({1})}, {}, floats({3}, {1, 2, 3}));
  expect_moved("Expand", floats({1}, {1}), {ints({0, 2})}, {}, floats({0, 2}, {}));
  expect_moved("Expand", floats({}, {7}), {ints({2})}, {}, floats({2}, {7, 7}));
  EXPECT_EQ(message_of("Expand", {iota({3}), ints({2})}), "Expand: shapes [3] and [2] do not broadcast");
}

TEST(RearrangeOperators, TileRepeats) {
  expect_moved("Tile", floats({1, 2}, {1, 2}), {ints({2, 2})}, {}, floats({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2}));
  expect_moved("Tile", floats({2}, {1, 2}), {ints({0})}, {}, floats({0}, {}));
  EXPECT_EQ(message_of("Tile", {iota({3}), ints({2, 1})}), "Tile: 2 repeats for 1 axes");
  EXPECT_EQ(message_of("Tile", {iota({3}), ints({-1})}), "Tile: repeats -1 at axis 0 of extent 3");
}

TEST(RearrangeOperators, TransposeOrdersAxes) {
  expect_moved("Transpose", iota({2, 3}), {}, {}, floats({3, 2}, {0, 3, 1, 4, 2, 5}));
  expect_moved("Transpose", iota({2, 1, 3}), {}, attributes({{"perm", std::vector<std::int64_t>{2, 0, 1}}}),
               floats({3, 2, 1}, {0, 3, 1, 4, 2, 5}));
  expect_moved("Transpose", iota({}), {}, {}, iota({}));
  EXPECT_EQ(message_of("Transpose", {iota({2, 3})}, attributes({{"perm", std::vector<std::int64_t>{0, 0}}})),
            "Transpose: axis 0 stands twice in [0, 0]");
}

TEST(RearrangeOperators, SliceTakesAllStepsAndPlaces) {
  const Tensor x = iota({7});
  const auto slice = [&](std::int64_t start, std::int64_t end, std::int64_t step, const std::vector<float>& expected) {
    expect_moved("Slice", x, {ints({start}), ints({end}), ints({0}), ints({step})}, {},
                 floats({static_cast<std::int64_t>(expected.size())}, expected));
  };
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  slice(1, 5, 1, {1, 2, 3, 4});
  slice(1, 100, 3, {1, 4});
  slice(-3, most, 1, {4, 5, 6});
  slice(most, least, -1, {6, 5, 4, 3, 2, 1, 0});
  slice(4, 0, -2, {4, 2});
  slice(4, -100, -2, {4, 2, 0});
  slice(5, 2, 1, {});
  slice(0, most, most, {0});
  slice(most, least, least, {6});
  expect_moved("Slice", iota({2, 3}), {ints({1}), ints({2}), ints({-1})}, {}, floats({2, 1}, {1, 4}));
  expect_moved("Slice", iota({2, 3}), {ints({1, 0}), ints({2, 2})}, {}, floats({1, 2}, {3, 4}));
  EXPECT_EQ(message_of("Slice", {x, ints({0}), ints({1}), ints({0}), ints({0})}),
            "Slice: step 0 at axis 0, allowed is any other");
}

TEST(RearrangeOperators, SplitGivesParts) {
  const auto three = apply("Split", {iota({7})}, attributes({{"num_outputs", 3}}), 3);
  ASSERT_TRUE(three) << three.error().message;
  expect_tensor(*three->at(0).tensor(), floats({3}, {0, 1, 2}));
  expect_tensor(*three->at(2).tensor(), floats({1}, {6}));
  const auto two = apply("Split", {iota({2, 3}), ints({1, 2})}, attributes({{"axis", 1}}), 2);
  ASSERT_TRUE(two) << two.error().message;
  expect_tensor(*two->at(1).tensor(), floats({2, 2}, {1, 2, 4, 5}));
  const auto strings = apply("Split", {words({2}, {"a", "b"})}, {}, 2);
  ASSERT_TRUE(strings) << strings.error().message;
  expect_tensor(*strings->at(1).tensor(), words({1}, {"b"}));
  EXPECT_EQ(message_of("Split", {iota({7}), ints({3, 3})}, {}, 2),
            "Split: split [3, 3] has the sum 6, the axis has extent 7");
}

TEST(RearrangeOperators, ConcatJoinsManyParts) {
  std::vector<Value> parts{iota({0, 2})};
  std::vector<float> expected;
  for (int i = 0; i < 7; ++i) {
    parts.emplace_back(floats({1, 2}, {static_cast<float>(i), static_cast<float>(-i)}));
    expected.insert(expected.end(), {static_cast<float>(i), static_cast<float>(-i)});
  }
  expect_tensor(apply_one("Concat", parts, attributes({{"axis", 0}})), floats({7, 2}, expected));
  expect_tensor(apply_one("Concat", {iota({2, 1}), iota({2, 2})}, attributes({{"axis", -1}})),
                floats({2, 3}, {0, 0, 1, 1, 2, 3}));
  expect_tensor(apply_one("Concat", {iota({0}), iota({0})}, attributes({{"axis", 0}})), iota({0}));
  expect_tensor(apply_one("Concat", {iota({0}), iota({2, 1})}, attributes({{"axis", 1}})), iota({2, 1}));
  expect_tensor(apply_one("Concat", {words({1}, {"a"}), words({2}, {"b", "c"})}, attributes({{"axis", 0}})),
                words({3}, {"a", "b", "c"}));
  EXPECT_EQ(message_of("Concat", {iota({2, 1}), iota({3, 2})}, attributes({{"axis", 1}})),
            "Concat: shapes [2, 1] and [3, 2] differ in more than axis 1");
}

TEST(RearrangeOperators, PadKnowsAllModes) {
  const auto pad = [&](const char* mode, std::int64_t before, std::int64_t after, const std::vector<float>& expected) {
    expect_moved("Pad", floats({3}, {1, 2, 3}), {ints({before, after})}, attributes({{"mode", mode}}),
                 floats({static_cast<std::int64_t>(expected.size())}, expected));
  };
  pad("reflect", 2, 2, {3, 2, 1, 2, 3, 2, 1});
  pad("reflect", 5, 0, {2, 1, 2, 3, 2, 1, 2, 3});
  pad("edge", 2, 1, {1, 1, 1, 2, 3, 3});
  pad("wrap", 4, 2, {3, 1, 2, 3, 1, 2, 3, 1, 2});
  pad("edge", -1, 2, {2, 3, 3, 3});
  pad("constant", -1, -1, {2});
  expect_tensor(apply_one("Pad", {floats({3}, {1, 2, 3}), ints({1, -1}), floats({}, {9})}), floats({3}, {9, 1, 2}));
  expect_tensor(apply_one("Pad", {iota({2, 1}), ints({0, 1}), floats({}, {9}), ints({-1})}),
                floats({2, 2}, {0, 9, 1, 9}));
  expect_tensor(apply_one("Pad", {words({1}, {"a"}), ints({1, 0}), words({}, {"x"})}), words({2}, {"x", "a"}));
  expect_tensor(apply_one("Pad", {iota({0}), ints({1, 1})}), floats({2}, {0, 0}));
  EXPECT_EQ(message_of("Pad", {iota({0}), ints({1, 1})}, attributes({{"mode", "edge"}})),
            "Pad: axis 0 has no elements to continue it with");
  EXPECT_EQ(message_of("Pad", {iota({3}), ints({-2, -2})}),
            "Pad: pads -2 and -2 at axis 0 of extent 3 leave no possible extent");
  EXPECT_EQ(message_of("Pad", {iota({3}), ints({1, 1})}, attributes({{"mode", "odd"}})),
            "Pad: mode 'odd', allowed are constant, edge, reflect and wrap");
}

TEST(RearrangeOperators, CenterCropPadCropsAndPads) {
  expect_moved("CenterCropPad", floats({4}, {1, 2, 3, 4}), {ints({1})}, {}, floats({1}, {2}));
  expect_tensor(apply_one("CenterCropPad", {floats({4, 1}, {1, 2, 3, 4}), ints({2, 4})}),
                floats({2, 4}, {0, 2, 0, 0, 0, 3, 0, 0}));
  expect_tensor(
      apply_one("CenterCropPad", {iota({1, 2}), ints({3})}, attributes({{"axes", std::vector<std::int64_t>{-1}}})),
      floats({1, 3}, {0, 1, 0}));
}

TEST(RearrangeOperators, DepthAndSpaceAreInversesInBothModes) {
  for (const char* mode : {"DCR", "CRD"}) {
    const Attributes blocks = attributes({{"blocksize", 2}, {"mode", mode}});
    const Tensor deep = iota({2, 12, 3, 5});
    const Tensor wide = apply_one("DepthToSpace", {deep}, blocks);
    expect_tensor(apply_one("SpaceToDepth", {wide}, blocks), deep);
    expect_tensor(apply_one("DepthToSpace", {as_strings(deep)}, blocks), as_strings(wide));
    expect_tensor(apply_one("SpaceToDepth", {as_strings(wide)}, blocks), as_strings(deep));
  }
  expect_tensor(apply_one("DepthToSpace", {iota({1, 8, 1, 1})}, attributes({{"blocksize", 2}})),
                floats({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(message_of("DepthToSpace", {iota({1, 6, 1, 1})}, attributes({{"blocksize", 2}})),
            "DepthToSpace: 6 channels are no multiple of 4");
}

TEST(RearrangeOperators, ReverseSequenceTurnsTheBeginning) {
  expect_moved("ReverseSequence", iota({2, 4}), {ints({3, 1})}, attributes({{"batch_axis", 0}, {"time_axis", 1}}),
               floats({2, 4}, {2, 1, 0, 3, 4, 5, 6, 7}));
  expect_moved("ReverseSequence", iota({3, 2}), {ints({100, -5})}, {}, floats({3, 2}, {4, 1, 2, 3, 0, 5}));
}

TEST(RearrangeOperators, TriluKeepsATriangle) {
  expect_tensor(apply_one("Trilu", {iota({2, 3})}), floats({2, 3}, {0, 1, 2, 0, 4, 5}));
  expect_tensor(apply_one("Trilu", {iota({2, 3}), Tensor::scalar<std::int64_t>(1)}, attributes({{"upper", 0}})),
                floats({2, 3}, {0, 1, 0, 3, 4, 5}));
  const Tensor huge = Tensor::scalar(std::numeric_limits<std::int64_t>::max());
  expect_tensor(apply_one("Trilu", {iota({2, 3}), huge}), floats({2, 3}, {0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace hone::graph::testing
