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
