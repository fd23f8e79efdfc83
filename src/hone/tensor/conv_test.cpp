#include "hone/tensor/definitions.h"
#include "hone/tensor/testing.h"

namespace hone::tensor {
namespace {

using Arrays = std::vector<ir::Array>;

/// One element of a grouped convolution, straight from its formula: a sum over channels and kernel positions, with
/// zeros outside the input.
double conv_element(const Arrays& arrays, const ConvOptions& options, const Index& i) {
  const ir::Array &x = arrays[0], &weight = arrays[1];
  const std::int64_t group_in = weight.shape()[1], group_out = weight.shape()[0] / options.groups;
  double sum = 0;
  for_each_index(Shape(weight.shape().begin() + 1, weight.shape().end()), [&](const Index& r) {
    Index from = {i[0], i[1] / group_out * group_in + r[0]}, at_weight = {i[1]};
    for (std::size_t axis = 0; axis + 2 < i.size(); ++axis)
      from.push_back(i[2 + axis] * entry(options.strides, axis, 1) + r[1 + axis] * entry(options.dilations, axis, 1) -
                     entry(options.padding_before, axis, 0));
    at_weight.insert(at_weight.end(), r.begin(), r.end());
    sum += at_or_zero(x, from) * at(weight, at_weight);
  });
  return sum;
}

struct ConvCase {
  Shape x, weight;
  ConvOptions options;
  Shape result;
};

const std::vector<ConvCase>& conv_cases() {
  static const std::vector<ConvCase> cases = {
      {{2, 3, 7}, {5, 3, 3}, {}, {2, 5, 5}},
      {{1, 1, 1}, {1, 1, 1}, {}, {1, 1, 1}},
      {{1, 3, 7, 5}, {2, 3, 3, 3}, {.padding_before = {1, 1}, .padding_after = {1, 1}}, {1, 2, 7, 5}},
      {{2, 4, 7, 9}, {6, 2, 3, 1}, {.strides = {2, 3}, .padding_before = {0, 2}, .groups = 2}, {2, 6, 3, 4}},
      {{1, 2, 11, 7}, {3, 2, 3, 2}, {.padding_after = {1, 0}, .dilations = {2, 3}}, {1, 3, 8, 4}},
      {{1, 2, 7, 7}, {2, 2, 1, 1}, {.strides = {3, 5}}, {1, 2, 3, 2}},
      {{1, 2, 3, 4, 5}, {3, 2, 2, 3, 2}, {.strides = {1, 2, 1}, .padding_before = {1, 1, 0}}, {1, 3, 3, 2, 4}},
      {{0, 3, 5, 5}, {2, 3, 3, 3}, {}, {0, 2, 3, 3}},
      {{1, 0, 5, 5}, {2, 0, 3, 3}, {.padding_before = {1, 1}}, {1, 2, 4, 4}},
      {{1, 3, 5}, {0, 3, 2}, {}, {1, 0, 4}},
  };
  return cases;
}

TEST(Conv, EqualsItsFormulaInOneTwoAndThreeDimensions) {
  for (const ConvCase& c : conv_cases()) {
    const Tensor x = placeholder("X", c.x), weight = placeholder("W", c.weight);
    const Result<Tensor> y = conv(x, weight, c.options);
    ASSERT_TRUE(y) << message_of(y);
    EXPECT_EQ(y->shape(), c.result);
    expect_values({x, weight}, y, [&](const Arrays& a, const Index& i) { return conv_element(a, c.options, i); });
  }
}

TEST(Conv, IntegersMayAccumulateWider) {
  const Tensor x = placeholder("X", {1, 3, 5}, ir::kI8), weight = placeholder("W", {2, 3, 3}, ir::kI8);
  const ConvOptions options{.padding_before = {1}, .result = ir::kI32};
  expect_values({x, weight}, conv(x, weight, options),
                [&](const Arrays& a, const Index& i) { return conv_element(a, options, i); });
}

TEST(Conv, PaddingIsAStageOfItsOwn) {
  const Tensor x = placeholder("X", {1, 1, 4}), weight = placeholder("W", {1, 1, 3});
  EXPECT_EQ(conv(x, weight)->operation()->reads[0].name(), "X");
  EXPECT_EQ(conv(x, weight, {.padding_before = {1}})->operation()->reads[0].name(), "pad");
}

TEST(Conv, DepthwiseIsAConvolutionOfOneGroupPerChannel) {
  for (const std::int64_t multiplier : {1, 3}) {
    const Tensor x = placeholder("X", {2, 5, 7, 4}), weight = placeholder("W", {5 * multiplier, 1, 3, 2});
    ConvOptions options{.strides = {2, 1}, .padding_before = {1, 0}, .padding_after = {1, 1}};
    const Result<Tensor> y = depthwise_conv(x, weight, options);
    options.groups = 5;
    expect_values({x, weight}, y, [&](const Arrays& a, const Index& i) { return conv_element(a, options, i); });
  }
}

TEST(Conv, TransposedScattersEachInputElement) {
  const std::vector<ConvCase> cases = {
      {{2, 3, 5}, {3, 2, 3}, {}, {2, 2, 7}},
      {{1, 2, 4, 3},
       {2, 3, 3, 2},
       {.strides = {2, 3}, .padding_before = {1, 0}, .padding_after = {1, 1}},
       {1, 3, 7, 7}},
      {{1, 4, 3, 3}, {4, 3, 2, 2}, {.strides = {3, 3}, .groups = 2, .output_padding = {1, 2}}, {1, 6, 9, 10}},
      {{1, 2, 4},
       {2, 1, 3},
       {.strides = {2}, .padding_before = {3}, .padding_after = {2}, .dilations = {2}},
       {1, 1, 6}},
      {{1, 1, 2, 2, 2}, {1, 2, 2, 1, 3}, {.strides = {1, 2, 2}}, {1, 2, 3, 3, 5}},
      {{1, 0, 3}, {0, 2, 2}, {}, {1, 2, 4}},
  };
  for (const ConvCase& c : cases) {
    const Tensor x = placeholder("X", c.x), weight = placeholder("W", c.weight);
    const Result<Tensor> y = conv_transpose(x, weight, c.options);
    ASSERT_TRUE(y) << message_of(y);
    EXPECT_EQ(y->shape(), c.result);
    expect_values({x, weight}, y, [&](const Arrays& a, const Index& i) {
      const std::int64_t group_in = c.x[1] / c.options.groups, group_out = c.weight[1];
      double sum = 0;
      for_each_index(c.x, [&](const Index& from) {  // every input element that reaches this output
        if (from[0] != i[0] || from[1] / std::max<std::int64_t>(group_in, 1) != i[1] / group_out) return;
        for_each_index(Shape(c.weight.begin() + 2, c.weight.end()), [&](const Index& k) {
          Index at_weight = {from[1], i[1] % group_out};
          for (std::size_t axis = 0; axis < k.size(); ++axis) {
            const std::int64_t reached = from[2 + axis] * entry(c.options.strides, axis, 1) +
                                         k[axis] * entry(c.options.dilations, axis, 1) -
                                         entry(c.options.padding_before, axis, 0);
            if (reached != i[2 + axis]) return;
            at_weight.push_back(k[axis]);
          }
          sum += at(a[0], from) * at(a[1], at_weight);
        });
      });
      return sum;
    });
  }
}

TEST(Conv, FusedChainAddsBiasAndResidualAndKeepsThePositive) {
  const Tensor x = placeholder("X", {1, 3, 5, 5}), weight = placeholder("W", {4, 3, 3, 3});
  const Tensor bias = placeholder("bias", {4}), residual = placeholder("residual", {1, 4, 5, 5});
  const ConvOptions options{.padding_before = {1, 1}, .padding_after = {1, 1}};
  expect_values({x, weight, bias, residual}, conv_bias_residual_relu(x, weight, bias, residual, options),
                [&](const Arrays& a, const Index& i) {
                  return std::max(conv_element(a, options, i) + at(a[2], {i[1]}) + at(a[3], i), 0.0);
                });
  EXPECT_EQ(message_of(conv_bias_residual_relu(x, weight, placeholder("bias", {3}), residual, options)),
            "conv chain: the bias has shape [3], allowed is [4]");
}

TEST(Conv, OptionsThatDoNotFitAreRefused) {
  const Tensor x = placeholder("X", {1, 4, 5, 5}), weight = placeholder("W", {6, 4, 3, 3});
  EXPECT_EQ(message_of(conv(x, weight, {.strides = {1}})),
            "conv: 1 strides for 2 spatial axes, allowed is one for each or none");
  EXPECT_EQ(message_of(conv(x, weight, {.strides = {1, 0}})), "conv: strides [1, 0] contain 0, allowed is 1 and more");
  EXPECT_EQ(message_of(conv(x, weight, {.dilations = {1, 3}})),
            "conv: the kernel spans 7 elements of axis 3, which has 5 with its padding, allowed are 1..5");
  EXPECT_EQ(message_of(conv(x, weight, {.groups = 3})),
            "conv: 3 groups, allowed are divisors of the 4 input and 6 output channels");
  EXPECT_EQ(message_of(conv(x, weight, {.groups = 2})),
            "conv: the weight has 4 input channels, the input 2 in each of 2 groups, they must be equal");
  EXPECT_EQ(message_of(conv(x, placeholder("W", {6, 4, 3}))),
            "conv: 4 axes by 3 of the weight, they must be equal, 3 and more");
  EXPECT_EQ(message_of(depthwise_conv(x, placeholder("W", {6, 1, 3, 3}))),
            "depthwise conv: 6 output channels, allowed are multiples of the 4 inputs");
  EXPECT_EQ(message_of(conv_transpose(x, weight)),
            "transposed conv: the weight has 6 input channels, the input 4, they must be equal");
}

}  // namespace
}  // namespace hone::tensor
