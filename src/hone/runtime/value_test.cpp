#include "hone/runtime/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::runtime {
namespace {

using ::testing::ElementsAre;

TEST(Value, ShapesWhoseElementsCannotBeCountedAreRefused) {
  EXPECT_EQ(*element_count({}), 1);
  EXPECT_EQ(*element_count({3, 0, 5}), 0);
  EXPECT_FALSE(element_count({2, -1}));
  EXPECT_FALSE(element_count({std::int64_t{1} << 32, std::int64_t{1} << 32}));
  EXPECT_FALSE(Tensor::allocate(ElementType::F32, {std::int64_t{1} << 61}));
}

TEST(Value, TensorsOfNumbersHoldWhatTheyWereMadeOf) {
  const Tensor x = Tensor::of<std::int16_t>({2, 1}, {-1, 300});
  EXPECT_EQ(describe(x.type(), x.shape()), "int16[2, 1]");
  EXPECT_EQ(x.bytes(), 4u);
  EXPECT_THAT(x.as<std::int16_t>(), ElementsAre(-1, 300));
  EXPECT_THAT(*x.to_ints(), ElementsAre(-1, 300));
  EXPECT_THAT(*x.to_doubles(), ElementsAre(-1, 300));
  EXPECT_THAT(*Tensor::of<bool>({2}, {true, false}).to_ints(), ElementsAre(1, 0));
  EXPECT_EQ(Tensor::scalar(2.5).rank(), 0u);
}

TEST(Value, NarrowTypesAreReadAsNumbers) {
  const Tensor half = Tensor::of<std::uint16_t>({1}, {0x3e00}).reinterpreted(ElementType::F16);
  EXPECT_THAT(*half.to_doubles(), ElementsAre(1.5));
  const Tensor eight = Tensor::of<std::uint8_t>({2}, {0x38, 0xb8}).reinterpreted(ElementType::F8E4M3FN);
  EXPECT_THAT(*eight.to_doubles(), ElementsAre(1, -1));
  const Tensor four = Tensor::of<std::int8_t>({1}, {-8}).reinterpreted(ElementType::I4);
  EXPECT_THAT(*four.to_doubles(), ElementsAre(-8));
}

TEST(Value, StringsAreNoNumbers) {
  const Tensor words = Tensor::of_strings({2}, {"a", "b"});
  EXPECT_THAT(words.strings(), ElementsAre("a", "b"));
  EXPECT_FALSE(words.to_ints());
  EXPECT_FALSE(words.to_doubles());
  EXPECT_EQ(words.bytes(), 0u);
}

TEST(Value, ReshapedTensorsShareTheirElements) {
  const Tensor x = Tensor::of<float>({4}, {1, 2, 3, 4});
  const Tensor y = x.reshaped({2, 2});
  EXPECT_EQ(x.data(), y.data());
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
}

TEST(Value, ContentIsOfOneKind) {
  EXPECT_TRUE(Value().is_absent());
  EXPECT_EQ(Value().describe(), "nothing");
  const Value sequence(Sequence{Tensor::scalar(1.0f), Value()});
  EXPECT_EQ(sequence.describe(), "sequence of 2");
  EXPECT_EQ(sequence.tensor(), nullptr);
  EXPECT_EQ(sequence.map(), nullptr);
  EXPECT_EQ(sequence.sequence()->size(), 2u);
  const Value map(Map{std::vector<std::int64_t>{1}, {Tensor::scalar(1.0f)}});
  EXPECT_EQ(map.describe(), "map of 1");
}

}  // namespace
}  // namespace hone::runtime
