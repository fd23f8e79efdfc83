#include "hone/graph/testing.h"

namespace hone::graph::testing {
namespace {

using runtime::Sequence;
using runtime::Tensor;
using runtime::Value;

Value sequence_of(const std::vector<float>& numbers) {
  Sequence sequence;
  for (const float number : numbers) sequence.emplace_back(Tensor::scalar(number));
  return sequence;
}

/// The numbers of a sequence of scalars, or the message of the error.
std::string shown(const Result<std::vector<Value>>& results) {
  if (!results) return results.error().message;
  if (!results->at(0).sequence()) return results->at(0).describe();
  std::string text;
  for (const Value& value : *results->at(0).sequence())
    text += fmt::format("{} ", value.tensor() ? value.tensor()->to_doubles()->at(0) : -1.0);
  return text;
}

Value at(std::int64_t position) { return Tensor::scalar(position); }

TEST(SequenceOperators, AreBuiltChangedAndRead) {
  const Value s = sequence_of({1, 2, 3});
  EXPECT_EQ(shown(apply("SequenceConstruct", {Tensor::scalar(4.0F), Tensor::scalar(5.0F)})), "4 5 ");
  EXPECT_EQ(shown(apply("SequenceEmpty", {}, attributes({{"dtype", 1}}))), "");
  EXPECT_EQ(shown(apply("SequenceInsert", {s, Tensor::scalar(9.0F)})), "1 2 3 9 ");
  EXPECT_EQ(shown(apply("SequenceInsert", {s, Tensor::scalar(9.0F), at(0)})), "9 1 2 3 ");
  EXPECT_EQ(shown(apply("SequenceInsert", {s, Tensor::scalar(9.0F), at(3)})), "1 2 3 9 ");
  EXPECT_EQ(shown(apply("SequenceInsert", {s, Tensor::scalar(9.0F), at(-1)})), "1 2 9 3 ");
  EXPECT_EQ(shown(apply("SequenceErase", {s})), "1 2 ");
  EXPECT_EQ(shown(apply("SequenceErase", {s, at(0)})), "2 3 ");
  EXPECT_EQ(shown(apply("SequenceErase", {s, at(-3)})), "2 3 ");
  expect_tensor(apply_one("SequenceAt", {s, at(-1)}), Tensor::scalar(3.0F));
  expect_tensor(apply_one("SequenceLength", {s}), Tensor::scalar<std::int64_t>(3));
}

TEST(SequenceOperators, RefusePositionsOutside) {
  const Value s = sequence_of({1, 2, 3}), empty = Sequence();
  EXPECT_EQ(shown(apply("SequenceAt", {s, at(3)})), "SequenceAt: position 3 is outside [-3, 2] of a sequence of 3");
  EXPECT_EQ(shown(apply("SequenceAt", {empty, at(0)})), "SequenceAt: position 0 is outside [0, -1] of a sequence of 0");
  EXPECT_EQ(shown(apply("SequenceErase", {s, at(-4)})),
            "SequenceErase: position -4 is outside [-3, 2] of a sequence of 3");
  EXPECT_EQ(shown(apply("SequenceErase", {empty})), "SequenceErase: nothing to erase in an empty sequence");
  EXPECT_EQ(shown(apply("SequenceInsert", {s, Tensor::scalar(9.0F), at(INT64_MAX)})),
            "SequenceInsert: position 9223372036854775807 is outside [-3, 3] of a sequence of 3");
  EXPECT_EQ(shown(apply("SequenceAt", {s, at(INT64_MIN)})),
            "SequenceAt: position -9223372036854775808 is outside [-3, 2] of a sequence of 3");
  EXPECT_EQ(shown(apply("SequenceLength", {Tensor::scalar(1.0F)})),
            "SequenceLength: input 0 must be a sequence, found float[]");
}

TEST(SequenceOperators, TensorsAreSplitAndJoined) {
  const Tensor x = iota({3, 4});
  const auto shapes = [&](const std::vector<Value>& inputs, const Attributes& given) {
    const auto results = apply("SplitToSequence", inputs, given);
    if (!results) return results.error().message;
    std::string text;
    for (const Value& piece : *results->at(0).sequence()) text += piece.describe() + " ";
    return text;
  };
  EXPECT_EQ(shapes({x}, {}), "float[1, 4] float[1, 4] float[1, 4] ");
  EXPECT_EQ(shapes({x}, attributes({{"keepdims", 0}, {"axis", 1}})), "float[3] float[3] float[3] float[3] ");
  EXPECT_EQ(shapes({x, at(3)}, attributes({{"axis", -1}})), "float[3, 3] float[3, 1] ");
  EXPECT_EQ(shapes({x, testing::ints({1, 0, 2})}, {}), "float[1, 4] float[0, 4] float[2, 4] ");
  EXPECT_EQ(shapes({x, at(0)}, {}), "SplitToSequence: split is 0, at least 1 is allowed");
  EXPECT_EQ(shapes({x, at(INT64_MAX)}, {}), "float[3, 4] ");
  EXPECT_EQ(shapes({x, testing::ints({1, 1})}, {}), "SplitToSequence: the pieces of split sum up to 2, the axis has 3");
  EXPECT_EQ(shapes({x, testing::ints({-1, 4})}, {}),
            "SplitToSequence: a piece of -1 at 0 does not fit into an axis of 3");
  EXPECT_EQ(shapes({x, testing::ints({INT64_MAX, INT64_MAX})}, {}),
            "SplitToSequence: a piece of 9223372036854775807 at 0 does not fit into an axis of 3");
  EXPECT_EQ(shapes({iota({0, 4})}, {}), "");

  const auto pieces = apply("SplitToSequence", {x, at(3)}, attributes({{"axis", 1}}));
  ASSERT_TRUE(pieces);
  expect_tensor(apply_one("ConcatFromSequence", {pieces->at(0)}, attributes({{"axis", 1}})), x);
  const Value numbers = sequence_of({1, 2});
  expect_tensor(apply_one("ConcatFromSequence", {numbers}, attributes({{"axis", -1}, {"new_axis", 1}})),
                floats({2}, {1, 2}));
  EXPECT_EQ(message_of("ConcatFromSequence", {Sequence()}, attributes({{"axis", 0}})),
            "ConcatFromSequence: 0 tensors to concatenate, allowed is 1 and more");
  EXPECT_EQ(message_of("ConcatFromSequence", {Sequence{iota({2, 3}), iota({2, 4})}}, attributes({{"axis", 0}})),
            "ConcatFromSequence: float[2, 3] and float[2, 4] cannot be concatenated, they may differ in axis 0 alone");
  EXPECT_EQ(message_of("ConcatFromSequence", {numbers}, attributes({{"axis", 0}})),
            "ConcatFromSequence: axis 0 is outside [0, 0)");
}

TEST(SequenceOperators, OptionalsAreTheirValue) {
  expect_tensor(apply_one("OptionalHasElement", {Tensor::scalar(1.0F)}), Tensor::scalar(true));
  expect_tensor(apply_one("OptionalHasElement", {Value()}), Tensor::scalar(false));
  expect_tensor(apply_one("OptionalHasElement", {}), Tensor::scalar(false));
  expect_tensor(apply_one("OptionalGetElement", {Tensor::scalar(1.0F)}), Tensor::scalar(1.0F));
  expect_tensor(apply_one("Optional", {Tensor::scalar(1.0F)}), Tensor::scalar(1.0F));
  const auto nothing = apply("Optional", {});
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->at(0).is_absent());
}

}  // namespace
}  // namespace hone::graph::testing
