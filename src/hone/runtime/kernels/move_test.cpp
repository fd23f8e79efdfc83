#include "hone/runtime/kernels/move.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

Tensor counting(const Shape& shape) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(*element_count(shape)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
  return Tensor::of<std::int32_t>(shape, numbers);
}

TEST(Move, BoxesAreCopiedAlongAnyStrides) {
  const Tensor from = counting({2, 3});
  Tensor to = *Tensor::allocate(ElementType::I32, {3, 2});
  copy_box(from, {0, {1, 3}}, to, {0, strides_of({3, 2})}, {3, 2});
  EXPECT_THAT(to.as<std::int32_t>(), ElementsAre(0, 3, 1, 4, 2, 5));
  copy_box(from, {5, {-3, -1}}, to, {0, {3, 1}}, {2, 3});
  EXPECT_THAT(to.as<std::int32_t>(), ElementsAre(5, 4, 3, 2, 1, 0));
  copy_box(from, {0, {0, 1}}, to, {0, {1, 1}}, {0, 3});  // nothing
  EXPECT_THAT(to.as<std::int32_t>(), ElementsAre(5, 4, 3, 2, 1, 0));
}

TEST(Move, ElementsOfEverySizeMove) {
  for (const ElementType type : {ElementType::U8, ElementType::F16, ElementType::F32, ElementType::F64,
                                 ElementType::C64, ElementType::C128, ElementType::I4}) {
    Tensor from = *Tensor::allocate(type, {4});
    for (std::size_t i = 0; i < from.bytes(); ++i) from.data()[i] = static_cast<std::byte>(i);
    Tensor to = *Tensor::allocate(type, {4});
    take(from, {{3, 2, 1, 0}}, nullptr, to);
    const std::size_t size = bytes_of(type);
    for (std::size_t i = 0; i < 4 * size; ++i)
      EXPECT_EQ(to.data()[i], static_cast<std::byte>((3 - i / size) * size + i % size)) << name_of(type);
  }
}

TEST(Move, TakeFollowsItsMaps) {
  const Tensor from = counting({2, 5}), other = Tensor::scalar<std::int32_t>(9);
  Tensor to = *Tensor::allocate(ElementType::I32, {3, 7});
  take(from, {{1, -1, 0}, {-1, 1, 2, 3, 0, 0, 4}}, &other, to);
  EXPECT_THAT(to.as<std::int32_t>(), ElementsAreArray({9, 6, 7, 8, 5, 5, 9,  //
                                                       9, 9, 9, 9, 9, 9, 9,  //
                                                       9, 1, 2, 3, 0, 0, 4}));
}

TEST(Move, SlicesAndPartsGoTogether) {
  const Tensor whole = Tensor::of_strings({2, 3}, {"a", "b", "c", "d", "e", "f"});
  const Tensor left = *slice_axis(whole, 1, 0, 1), none = *slice_axis(whole, 1, 1, 0),
               right = *slice_axis(whole, 1, 1, 2);
  EXPECT_THAT(right.strings(), ElementsAre("b", "c", "e", "f"));
  const Tensor parts[] = {left, none, right};
  EXPECT_THAT(concat_axis(parts, -1)->strings(), ElementsAre("a", "b", "c", "d", "e", "f"));
  const Tensor wrong[] = {left, counting({2, 1})};
  EXPECT_EQ(concat_axis(wrong, 1).error().message,
            "string[2, 1] and int32[2, 1] cannot be concatenated, they may differ in axis 1 alone");
  EXPECT_EQ(concat_axis({}, 0).error().message, "0 tensors to concatenate, allowed is 1 and more");
}

}  // namespace
}  // namespace hone::runtime
