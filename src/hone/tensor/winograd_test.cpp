#include <cmath>

#include "hone/tensor/definitions.h"
#include "hone/tensor/testing.h"

namespace hone::tensor {
namespace {

struct WinogradCase {
  Shape x, weight;
  ConvOptions options;
};

const std::vector<WinogradCase>& cases() {
  static const ConvOptions same{.padding_before = {1, 1}, .padding_after = {1, 1}};
  static const std::vector<WinogradCase> list = {
      {{1, 1, 3, 3}, {1, 1, 3, 3}, {}},
      {{1, 3, 7, 5}, {2, 3, 3, 3}, same},
      {{2, 5, 9, 11}, {7, 5, 3, 3}, same},
      {{2, 2, 8, 6}, {3, 2, 3, 3}, {}},
      {{1, 2, 1, 1}, {1, 2, 3, 3}, same},
      {{1, 1, 5, 4}, {2, 1, 3, 3}, {.padding_before = {2, 0}, .padding_after = {0, 3}}},
      {{0, 3, 5, 5}, {2, 3, 3, 3}, {}},
      {{1, 0, 5, 5}, {2, 0, 3, 3}, same},
      {{1, 3, 5, 5}, {0, 3, 3, 3}, same},
  };
  return list;
}

/// Runs conv in f64 and winograd_conv in f32 on the same values; gives the largest difference as a share of the
/// largest result.
double error_of(const WinogradCase& c, std::int64_t m) {
  Rng rng(/*seed=*/3);
  const Tensor x = placeholder("X", c.x), weight = placeholder("W", c.weight);
  const Tensor exact_x = placeholder("X", c.x, ir::kF64), exact_weight = placeholder("W", c.weight, ir::kF64);
  const Tensor y = winograd_conv(x, weight, c.options, m).value();
  const Tensor exact_y = conv(exact_x, exact_weight, c.options).value();
  EXPECT_EQ(y.shape(), exact_y.shape());
  std::vector<ir::Array> arrays, exact;
  for (const Shape& shape : {c.x, c.weight}) {
    arrays.push_back(random_values(rng, ir::kF32, shape));
    exact.emplace_back(ir::kF64, shape);
    for (std::int64_t i = 0; i < arrays.back().size(); ++i) exact.back().set(i, arrays.back().float_at(i));
  }
  arrays.emplace_back(ir::kF32, y.shape());
  exact.emplace_back(ir::kF64, y.shape());
  ir::interpret(lower("winograd", {x, weight}, {y}), arrays).value();
  ir::interpret(lower("direct", {exact_x, exact_weight}, {exact_y}), exact).value();
  double scale = 0, difference = 0;
  for (std::int64_t i = 0; i < exact[2].size(); ++i) {
    scale = std::max(scale, std::abs(exact[2].float_at(i)));
    difference = std::max(difference, std::abs(exact[2].float_at(i) - arrays[2].float_at(i)));
  }
  return scale == 0 ? difference : difference / scale;
}

TEST(Winograd, TilesOfTwoGiveExactlyTheConvolutionOfWholeNumbers) {
  for (const WinogradCase& c : cases()) {
    const Tensor x = placeholder("X", c.x), weight = placeholder("W", c.weight);
    const std::vector<ir::Array> direct = run_on_whole_numbers({x, weight}, {conv(x, weight, c.options).value()});
    const std::vector<ir::Array> fast =
        run_on_whole_numbers({x, weight}, {winograd_conv(x, weight, c.options, 2).value()});
    ASSERT_EQ(fast[2].shape(), direct[2].shape());
    EXPECT_EQ(max_difference(fast[2], direct[2]), 0) << x.extent(2) << " by " << x.extent(3);
  }
}

TEST(Winograd, EveryTileSizeComputesTheConvolutionOfOddShapes) {
  for (const WinogradCase& c : cases())
    for (const std::int64_t m : {2, 4, 6}) EXPECT_LT(error_of(c, m), 2e-5) << "F(" << m << ", 3)";
}

TEST(Winograd, ErrorsStayWithinTheBoundOfEachTileSize) {
  const WinogradCase c{{1, 16, 14, 14}, {4, 16, 3, 3}, {.padding_before = {1, 1}, .padding_after = {1, 1}}};
  EXPECT_LT(error_of(c, 2), 1e-6);
  EXPECT_LT(error_of(c, 4), 4e-6);
  EXPECT_LT(error_of(c, 6), 2e-5);
}

TEST(Winograd, RefusesWhatTheAlgorithmDoesNotCover) {
  const Tensor x = placeholder("X", {1, 4, 8, 8}), weight = placeholder("W", {2, 4, 3, 3});
  EXPECT_EQ(message_of(winograd_conv(x, weight, {}, 3)), "winograd conv: tiles of 3, allowed are 2, 4 and 6");
  EXPECT_EQ(message_of(winograd_conv(x, weight, {.strides = {2, 1}}, 4)),
            "winograd conv: strides [2, 1] and dilations [], allowed is 1");
  EXPECT_EQ(message_of(winograd_conv(x, weight, {.groups = 2}, 4)), "winograd conv: 2 groups, allowed is 1");
  EXPECT_EQ(message_of(winograd_conv(x, placeholder("W", {2, 4, 5, 5}), {}, 4)),
            "winograd conv: input [1, 4, 8, 8] by weight [2, 4, 5, 5], allowed are four axes and kernels of 3 by 3");
  EXPECT_EQ(message_of(winograd_conv(x, placeholder("W", {2, 3, 3, 3}), {}, 4)),
            "winograd conv: the weight has 3 input channels, the input 4, they must be equal");
  EXPECT_EQ(message_of(winograd_conv(placeholder("X", {1, 4, 8, 8}, ir::kI32), weight, {}, 2)),
            "winograd conv: 'X' has type i32, allowed are f16, bf16, f32 and f64");
}

}  // namespace
}  // namespace hone::tensor
