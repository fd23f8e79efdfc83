#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

struct Case {
  Shape image, weight;
  std::vector<std::int64_t> strides, pads = {}, output_padding = {};
  bool has_bias = false;
  std::int64_t group = 1, dilation = 1;
};

/// A transposed convolution with a Relu behind it.
Graph graph_of_case(const Case& c, const std::vector<Tensor>& inputs) {
  Rng rng(5);
  return graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    std::vector<ValueId> operands = {x[0], b.constant(random_floats(rng, c.weight))};
    if (c.has_bias) operands.push_back(b.constant(random_floats(rng, {c.weight[1] * c.group})));
    Attributes attributes;
    attributes.set("strides", c.strides);
    if (!c.pads.empty()) attributes.set("pads", c.pads);
    if (!c.output_padding.empty()) attributes.set("output_padding", c.output_padding);
    attributes.set("group", c.group);
    attributes.set("dilations", std::vector<std::int64_t>(c.strides.size(), c.dilation));
    return std::vector{b.add("Relu", {b.add("ConvTranspose", operands, attributes)})};
  });
}

std::vector<std::string> interleaved(const Case& c) {
  Rng rng(1);
  const std::vector<Tensor> inputs = {random_floats(rng, c.image)};
  // The result is compared with that of the graph before the pass.
  return operators_of(after_specializing(interleave_transposed_convs, graph_of_case(c, inputs), inputs));
}

TEST(InterleaveTransposedConvs, StepsBecomeChannels) {
  const Case cases[] = {
      {.image = {1, 3, 4, 5}, .weight = {3, 2, 4, 4}, .strides = {2, 2}, .pads = {1, 1, 1, 1}},
      {.image = {2, 3, 4, 1}, .weight = {3, 5, 3, 3}, .strides = {2, 2}, .has_bias = true},
      {.image = {1, 2, 3, 4}, .weight = {2, 3, 3, 2}, .strides = {1, 3}, .pads = {0, 1, 2, 0}},
      {.image = {1, 2, 5, 3},
       .weight = {2, 4, 3, 3},
       .strides = {2, 2},
       .pads = {1, 1, 1, 1},
       .output_padding = {1, 1},
       .has_bias = true},
      {.image = {1, 2, 3, 3}, .weight = {2, 3, 1, 1}, .strides = {2, 3}},
      {.image = {1, 4, 7}, .weight = {4, 3, 16}, .strides = {8}, .pads = {4, 4}, .has_bias = true},
      {.image = {1, 2, 2, 3, 2}, .weight = {2, 3, 2, 3, 4}, .strides = {2, 1, 3}, .pads = {0, 1, 0, 0, 1, 1}},
  };
  for (const Case& c : cases) {
    const std::vector<std::string> operators = interleaved(c);
    EXPECT_THAT(operators, Contains("Conv")) << ::testing::PrintToString(c.image);
    EXPECT_THAT(operators, Not(Contains("ConvTranspose"))) << ::testing::PrintToString(c.image);
  }
}

TEST(InterleaveTransposedConvs, NothingIsCutOffWhereKernelsAreAsLargeAsSteps) {
  EXPECT_THAT(interleaved({.image = {1, 3, 4, 5}, .weight = {3, 2, 2, 2}, .strides = {2, 2}}),
              ElementsAre("Conv", "Reshape", "Transpose", "Reshape", "Relu"));
}

TEST(InterleaveTransposedConvs, WhatHasNoStepsOrGroupsStays) {
  const Case cases[] = {
      {.image = {1, 3, 4, 5}, .weight = {3, 2, 3, 3}, .strides = {1, 1}},
      {.image = {1, 4, 4, 5}, .weight = {4, 2, 3, 3}, .strides = {2, 2}, .group = 2},
      {.image = {1, 3, 4, 5}, .weight = {3, 2, 2, 2}, .strides = {2, 2}, .dilation = 2},
      {.image = {1, 3, 4, 4}, .weight = {3, 2, 2, 2}, .strides = {2, 2}, .pads = {0, 0, 3, 3}},
  };
  for (const Case& c : cases) EXPECT_THAT(interleaved(c), ElementsAre("ConvTranspose", "Relu")) << c.group;
}

}  // namespace
}  // namespace hone::graph
