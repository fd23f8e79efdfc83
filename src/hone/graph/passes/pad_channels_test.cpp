#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

/// What the pass leaves of a convolution to so many channels, a Relu and a pooling over whole images.
std::vector<std::string> pooled(std::int64_t channels, bool has_bias, const char* pooling = "GlobalAveragePool") {
  Rng rng(1);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 4, 5})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    std::vector<ValueId> operands = {x[0], b.constant(random_floats(rng, {channels, 3, 1, 2}))};
    if (has_bias) operands.push_back(b.constant(random_floats(rng, {channels})));
    return std::vector{b.add(pooling, {b.add("Relu", {b.add("Conv", operands)})})};
  });
  return operators_of(after_specializing(pad_channels, graph, inputs));
}

TEST(PadChannels, FillsTheLastBlock) {
  for (const bool has_bias : {false, true})
    for (const std::int64_t channels : {65, 100, 127})
      EXPECT_THAT(pooled(channels, has_bias), ElementsAre("Conv", "Relu", "GlobalAveragePool", "Slice")) << channels;
  EXPECT_THAT(pooled(1000, true, "GlobalMaxPool"), ElementsAre("Conv", "Relu", "GlobalMaxPool", "Slice"));
}

TEST(PadChannels, FullBlocksAndFewChannelsStay) {
  for (const std::int64_t channels : {1, 10, 60, 64, 112})
    EXPECT_THAT(pooled(channels, true), ElementsAre("Conv", "Relu", "GlobalAveragePool")) << channels;
}

/// How many channels the pass leaves between two convolutions of an image of `size` by `size`.
std::int64_t between(std::int64_t channels, std::int64_t size, const char* map, bool has_bias) {
  Rng rng(3);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 5, size, size})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    std::vector<ValueId> operands = {x[0], b.constant(random_floats(rng, {channels, 5, 1, 1}))};
    if (has_bias) operands.push_back(b.constant(random_floats(rng, {channels})));
    const ValueId mapped = b.add(map, {b.add("Conv", operands)});
    return std::vector{b.add("Conv", {mapped, b.constant(random_floats(rng, {7, channels, 1, 1}))})};
  });
  const Graph padded = after_specializing(pad_channels, graph, inputs);
  EXPECT_THAT(operators_of(padded), ElementsAre("Conv", map, "Conv"));
  const std::int64_t written = padded.constant_tensor(padded.nodes[0].inputs[1])->extent(0);
  EXPECT_EQ(padded.constant_tensor(padded.nodes[2].inputs[1])->extent(1), written);
  return written;
}

TEST(PadChannels, FillsTheLastBlockBetweenConvolutionsOfOnePosition) {
  for (const bool has_bias : {false, true}) {
    EXPECT_EQ(between(1, 1, "Relu", has_bias), 16);
    EXPECT_EQ(between(28, 1, "HardSwish", has_bias), 32);
    EXPECT_EQ(between(32, 1, "Sigmoid", has_bias), 32);
  }
  EXPECT_EQ(between(28, 2, "Relu", true), 28);
  EXPECT_EQ(between(28, 1, "Reciprocal", true), 28);  // 1 / 0 times a weight of 0 is no number
}

TEST(PadChannels, WhatSomebodyElseReadsStays) {
  Rng rng(2);
  const std::vector<Tensor> inputs = {random_floats(rng, {1, 3, 4, 4})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const ValueId conv = b.add("Conv", {x[0], b.constant(random_floats(rng, {70, 3, 1, 1}))});
    return std::vector{b.add("GlobalAveragePool", {conv}), conv};
  });
  EXPECT_THAT(operators_of(after_specializing(pad_channels, graph, inputs)), ElementsAre("Conv", "GlobalAveragePool"));
}

}  // namespace
}  // namespace hone::graph
