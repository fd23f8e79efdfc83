#include "hone/graph/upgrade.h"

#include "hone/graph/testing.h"

namespace hone::graph::testing {
namespace {

using runtime::Tensor;

/// A graph of one node of an old opset, upgraded and evaluated.
Result<std::vector<runtime::Value>> run_old(const std::string& op, std::int64_t opset,
                                            const std::vector<runtime::Value>& inputs, const Attributes& attributes,
                                            std::size_t outputs = 1) {
  Graph graph;
  Node node;
  node.op = op;
  node.opset = opset;
  node.attributes = attributes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    graph.inputs.push_back(graph.add_value("x"));
    node.inputs.push_back(graph.inputs.back());
  }
  for (std::size_t i = 0; i < outputs; ++i) node.outputs.push_back(graph.add_value("y"));
  graph.outputs.push_back(node.outputs[0]);
  graph.nodes.push_back(std::move(node));
  HONE_TRY(const Graph newest, upgrade(std::move(graph)));
  HONE_TRY(verify(newest));
  return evaluate(newest, inputs);
}

void expect_old(const std::string& op, std::int64_t opset, const std::vector<runtime::Value>& inputs,
                const Attributes& attributes, const Tensor& expected, std::size_t outputs = 1) {
  const auto results = run_old(op, opset, inputs, attributes, outputs);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), expected);
}

std::vector<std::int64_t> list(std::initializer_list<std::int64_t> numbers) { return numbers; }

TEST(Upgrade, AttributesBecomeInputs) {
  expect_old("Squeeze", 11, {iota({1, 2})}, attributes({{"axes", list({0})}}), iota({2}));
  expect_old("Squeeze", 11, {iota({1, 2})}, {}, iota({2}));
  expect_old("Unsqueeze", 9, {iota({2})}, attributes({{"axes", list({0, 2})}}), iota({1, 2, 1}));
  expect_old("Slice", 9, {iota({4})}, attributes({{"starts", list({1})}, {"ends", list({-1})}}), floats({2}, {1, 2}));
  expect_old("Split", 11, {iota({3})}, attributes({{"split", list({1, 2})}}), iota({1}), 2);
  expect_old("Pad", 9, {iota({2})}, attributes({{"pads", list({1, 0})}, {"value", 7.0F}}), floats({3}, {7, 0, 1}));
  expect_old("Clip", 6, {iota({4})}, attributes({{"min", 1.0F}, {"max", 2.0F}}), floats({4}, {1, 1, 2, 2}));
}

TEST(Upgrade, UpsampleBecomesResize) {
  const std::vector<float> scales{2};
  expect_old("Upsample", 7, {iota({2})}, attributes({{"scales", scales}}), floats({4}, {0, 0, 1, 1}));
  expect_old("Upsample", 9, {iota({2}), floats({1}, {2})}, attributes({{"mode", "linear"}}),
             floats({4}, {0, 0.5, 1, 1}));
  expect_old("Resize", 10, {iota({4}), floats({1}, {0.75})}, {}, floats({3}, {0, 2, 3}));
}

TEST(Upgrade, NewNodesStayAsTheyAre) {
  Graph graph;
  Node node;
  node.op = "Squeeze";
  node.opset = 13;
  graph.inputs = {graph.add_value("x")};
  node.inputs = graph.inputs;
  node.outputs = {graph.add_value("y")};
  graph.outputs = node.outputs;
  graph.nodes.push_back(node);
  const std::string before = to_string(graph);
  const Result<Graph> after = upgrade(graph);
  ASSERT_TRUE(after);
  EXPECT_EQ(to_string(*after), before);
}

TEST(Upgrade, SubgraphsAreUpgradedToo) {
  Graph inner;
  inner.inputs = {inner.add_value("x")};
  Node squeeze;
  squeeze.op = "Squeeze";
  squeeze.opset = 11;
  squeeze.attributes = attributes({{"axes", list({0})}});
  squeeze.inputs = inner.inputs;
  squeeze.outputs = {inner.add_value("y")};
  inner.outputs = squeeze.outputs;
  inner.nodes.push_back(squeeze);
  Graph outer;
  Node loop;
  loop.op = "Loop";
  loop.opset = 11;
  loop.subgraphs["body"] = {std::make_shared<const Graph>(inner), {}};
  outer.nodes.push_back(loop);
  const Result<Graph> after = upgrade(outer);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->nodes[0].subgraphs.at("body").graph->nodes[0].inputs.size(), 2U);
}

TEST(Upgrade, RefusesWhatHasNoNewForm) {
  const auto refused = run_old("BatchNormalization", 8, {iota({1})}, attributes({{"spatial", 0}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "BatchNormalization '': spatial 0 is not supported");
}

}  // namespace
}  // namespace hone::graph::testing
