#include <algorithm>
#include <cstdlib>

#include "hone/tensor/definitions.h"
#include "hone/tensor/testing.h"

namespace hone::tensor {
namespace {

using Arrays = std::vector<ir::Array>;

TEST(IndexOps, GatherTakesIndicesFromEitherEnd) {
  for (const ir::DType type : {ir::kI32, ir::kI64})
    for (const int axis : {0, 1, -1})
      for (const Shape& count : {Shape{3}, Shape{2, 3}, Shape{}, Shape{0}}) {
        const Tensor x = placeholder("X", {5, 7, 6});  // random whole numbers lie in -4..4, inside each axis
        const Tensor indices = placeholder("indices", count, type);
        const auto along = static_cast<std::size_t>((axis + 3) % 3);
        expect_values({x, indices}, gather(x, indices, axis), [&](const Arrays& a, const Index& i) {
          const auto split = i.begin() + static_cast<std::ptrdiff_t>(along);
          const auto after = split + static_cast<std::ptrdiff_t>(count.size());
          const auto index = static_cast<std::int64_t>(at(a[1], Index(split, after)));
          Index from(i.begin(), split);
          from.push_back(index < 0 ? index + a[0].shape()[along] : index);
          from.insert(from.end(), after, i.end());
          return at(a[0], from);
        });
      }
  EXPECT_EQ(message_of(gather(placeholder("X", {5}), placeholder("I", {2}), 0)),
            "gather: indices of type f32, allowed are i32 and i64");
}

TEST(IndexOps, PadFillsMirrorsOrRepeats) {
  const std::vector<std::int64_t> before = {1, 0, 3}, after = {2, 0, 0};
  for (const PadMode mode : {PadMode::Constant, PadMode::Edge, PadMode::Reflect}) {
    const Tensor x = placeholder("X", {3, 2, 5});
    expect_values({x}, pad(x, before, after, mode, -1.5), [&](const Arrays& a, const Index& i) {
      Index from = i;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        from[axis] -= before[axis];
        const std::int64_t last = a[0].shape()[axis] - 1;
        if (mode == PadMode::Constant && (from[axis] < 0 || from[axis] > last)) return -1.5;
        if (mode == PadMode::Edge) from[axis] = std::clamp<std::int64_t>(from[axis], 0, last);
        if (mode == PadMode::Reflect) from[axis] = last - std::abs(last - std::abs(from[axis]));
      }
      return at(a[0], from);
    });
  }
}

TEST(IndexOps, PadOfEmptyAxesAndIntegers) {
  const Tensor x = placeholder("X", {0, 2}, ir::kI8);
  expect_values({x}, pad(x, {2, 0}, {1, 0}, PadMode::Constant, 7), [](const Arrays&, const Index&) { return 7.0; });
  const Tensor y = placeholder("Y", {3});
  expect_values({y}, pad(y, {0}, {0}), [](const Arrays& a, const Index& i) { return at(a[0], i); });
}

TEST(IndexOps, PaddingThatDoesNotFitIsRefused) {
  const Tensor x = placeholder("X", {3, 0});
  EXPECT_EQ(message_of(pad(x, {1}, {0, 0})), "pad: 1 extents before and 2 after for 2 axes, they must be as many");
  EXPECT_EQ(message_of(pad(x, {-1, 0}, {0, 0})), "pad: -1 elements at axis 0, allowed is 0 and more");
  EXPECT_EQ(message_of(pad(x, {3, 0}, {0, 0}, PadMode::Reflect)),
            "pad: 3 elements reflected at axis 0 of extent 3, allowed are 0..2");
  EXPECT_EQ(message_of(pad(x, {0, 1}, {0, 0}, PadMode::Edge)),
            "pad: axis 1 has no edge to repeat, allowed is extent 1 and more");
}

TEST(IndexOps, ConcatJoinsAlongAnyAxis) {
  for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
    std::vector<Tensor> parts;
    for (const std::int64_t extent : {3, 0, 1, 5})
      parts.push_back(placeholder("P", axis == 0 ? Shape{extent, 4} : Shape{4, extent}));
    expect_values(parts, concat(parts, static_cast<int>(axis)), [&](const Arrays& a, const Index& i) {
      Index from = i;
      std::size_t part = 0;
      while (from[axis] >= a[part].shape()[axis]) from[axis] -= a[part++].shape()[axis];
      return at(a[part], from);
    });
  }
  const Tensor one = placeholder("P", {2});
  expect_values({one}, concat({one}, -1), [](const Arrays& a, const Index& i) { return at(a[0], i); });
}

TEST(IndexOps, PartsThatDoNotFitAreRefused) {
  EXPECT_EQ(message_of(concat({}, 0)), "concat: 0 tensors, allowed is 1 and more");
  EXPECT_EQ(message_of(concat({placeholder("A", {2, 3}), placeholder("B", {2, 4})}, 0)),
            "concat: shapes [2, 3] and [2, 4] differ, they may differ in axis 0 alone");
  EXPECT_EQ(message_of(concat({placeholder("A", {2, 3}), placeholder("B", {2})}, 0)),
            "concat: shapes [2, 3] and [2] differ, they may differ in axis 0 alone");
}

}  // namespace
}  // namespace hone::tensor
