#include <cmath>

#include "hone/graph/testing.h"
#include "hone/runtime/interrupt.h"

namespace hone::graph::testing {
namespace {

using runtime::Sequence;
using runtime::Tensor;
using runtime::Value;

/// A graph under construction, whose inputs and nodes are added in order.
struct BodyBuilder {
  Graph graph;

  ValueId input() { return graph.inputs.emplace_back(graph.add_value("input")); }
  ValueId constant(Tensor tensor) { return graph.add_constant("constant", std::move(tensor)); }
  ValueId add(const std::string& op, std::vector<ValueId> inputs) {
    Node node;
    node.op = op;
    node.opset = kNewestOpset;
    node.inputs = std::move(inputs);
    node.outputs = {graph.add_value("value")};
    graph.nodes.push_back(node);
    return node.outputs[0];
  }
};

/// Evaluates a node with bodies. Captured values are the ones of `captures`.
Result<std::vector<Value>> run(const std::string& op, const std::vector<std::pair<std::string, Graph>>& bodies,
                               const std::vector<Value>& inputs, std::size_t outputs, const Attributes& given = {},
                               std::int64_t opset = kNewestOpset) {
  Graph graph;
  Node node;
  node.op = op;
  node.opset = opset;
  node.attributes = given;
  for (const Value& input : inputs) {
    node.inputs.push_back(input.is_absent() ? kAbsent : graph.add_value("input"));
    if (!input.is_absent()) graph.inputs.push_back(node.inputs.back());
  }
  for (const auto& [name, body] : bodies) node.subgraphs[name] = {std::make_shared<const Graph>(body), {}};
  for (std::size_t i = 0; i < outputs; ++i) graph.outputs.push_back(graph.add_value("output"));
  node.outputs = graph.outputs;
  graph.nodes.push_back(node);
  std::vector<Value> given_inputs;
  for (const Value& input : inputs)
    if (!input.is_absent()) given_inputs.push_back(input);
  return evaluate(graph, given_inputs);
}

/// The body of a loop with one state x: x + trip, and the state before as a scan output; goes on while x < limit.
Graph counting_body(float limit) {
  BodyBuilder b;
  const ValueId trip = b.input();
  b.input();
  const ValueId x = b.input();
  const ValueId one = b.constant(Tensor::scalar(1.0F));
  const ValueId next = b.add("Add", {x, one});
  b.graph.outputs = {b.add("Less", {next, b.constant(Tensor::scalar(limit))}), next, x, trip};
  b.graph.values[static_cast<std::size_t>(x)].type.element = ElementType::F32;
  b.graph.values[static_cast<std::size_t>(x)].type.dimensions.emplace();
  return b.graph;
}

Value count(std::int64_t number) { return Tensor::scalar(number); }

TEST(ControlOperators, IfRunsOneBranch) {
  BodyBuilder then_branch, else_branch;
  then_branch.graph.outputs = {then_branch.constant(floats({2}, {1, 2}))};
  else_branch.graph.outputs = {else_branch.constant(floats({1}, {3}))};
  const std::vector<std::pair<std::string, Graph>> branches = {{"then_branch", then_branch.graph},
                                                               {"else_branch", else_branch.graph}};
  expect_tensor(*run("If", branches, {Tensor::scalar(true)}, 1)->at(0).tensor(), floats({2}, {1, 2}));
  expect_tensor(*run("If", branches, {Tensor::of<bool>({1}, {false})}, 1)->at(0).tensor(), floats({1}, {3}));
  EXPECT_EQ(run("If", branches, {Tensor::of<bool>({2}, {true, true})}, 1).error().message,
            "If: the condition must be one bool, found bool[2]");
  EXPECT_EQ(run("If", branches, {Tensor::scalar(true)}, 2).error().message,
            "If: the body gives 1 values, 2 are needed");
  EXPECT_EQ(run("If", {branches[0]}, {Tensor::scalar(true)}, 1).error().message,
            "If: 1 graphs in the attributes, 2 needed");
}

TEST(ControlOperators, LoopEndsByCountOrCondition) {
  const std::vector<std::pair<std::string, Graph>> body = {{"body", counting_body(5)}};
  const auto states = [&](const Value& trips, const Value& condition) {
    const auto results = run("Loop", body, {trips, condition, Tensor::scalar(0.0F)}, 3);
    EXPECT_TRUE(results) << results.error().message;
    return results ? *results : std::vector<Value>(3, floats({}, {-1}));
  };
  auto results = states(count(3), Tensor::scalar(true));
  expect_tensor(*results[0].tensor(), Tensor::scalar(3.0F));
  expect_tensor(*results[1].tensor(), floats({3}, {0, 1, 2}));
  expect_tensor(*results[2].tensor(), testing::ints({0, 1, 2}));
  results = states(count(INT64_MAX), Tensor::scalar(true));
  expect_tensor(*results[0].tensor(), Tensor::scalar(5.0F));
  results = states(Value(), Value());
  expect_tensor(*results[1].tensor(), floats({5}, {0, 1, 2, 3, 4}));
  results = states(count(2), Value());
  expect_tensor(*results[1].tensor(), floats({2}, {0, 1}));
}

TEST(ControlOperators, ALoopThatNeverEndsCanBeInterrupted) {
  runtime::set_interrupt_check([] { return true; });
  const auto results = run("Loop", {{"body", counting_body(INFINITY)}}, {Value(), Value(), Tensor::scalar(0.0F)}, 1);
  runtime::set_interrupt_check(nullptr);
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().message, "Loop: the run was interrupted");
}

TEST(ControlOperators, ALoopOfNoTripsGivesItsStatesAndEmptyScans) {
  const std::vector<std::pair<std::string, Graph>> body = {{"body", counting_body(5)}};
  for (const auto& [trips, condition] : {std::pair(0, true), std::pair(-1, true), std::pair(4, false)}) {
    const auto results = run("Loop", body, {count(trips), Tensor::scalar(condition), Tensor::scalar(7.0F)}, 2);
    ASSERT_TRUE(results) << results.error().message;
    expect_tensor(*results->at(0).tensor(), Tensor::scalar(7.0F));
    expect_tensor(*results->at(1).tensor(), floats({0}, {}));
  }
  EXPECT_EQ(run("Loop", body, {count(0), Value(), Tensor::scalar(7.0F)}, 3).error().message,
            "Loop: scan output 3 of no iterations has no declared type");
}

TEST(ControlOperators, LoopRefusesBadBodiesAndCounts) {
  const std::vector<std::pair<std::string, Graph>> body = {{"body", counting_body(5)}};
  EXPECT_EQ(
      run("Loop", body, {Tensor::of<std::int64_t>({2}, {1, 2}), Value(), Tensor::scalar(0.0F)}, 1).error().message,
      "Loop: the trip count must be one number, found int64[2]");
  BodyBuilder no_bool;
  no_bool.input();
  no_bool.input();
  no_bool.graph.outputs = {no_bool.constant(Tensor::scalar(1.0F))};
  EXPECT_EQ(run("Loop", {{"body", no_bool.graph}}, {count(1), Value()}, 0).error().message,
            "Loop: the condition must be one bool, found float[]");
  EXPECT_EQ(run("Loop", body, {count(1), Value()}, 0).error().message, "Loop: a body of 3 inputs is called with 2");
  BodyBuilder growing;  // its scan output has another shape each time
  growing.input();
  growing.input();
  const ValueId sequence = growing.input();
  const ValueId longer = growing.add("SequenceInsert", {sequence, growing.constant(Tensor::scalar(1.0F))});
  growing.graph.outputs = {growing.constant(Tensor::scalar(true)), longer, longer};
  EXPECT_EQ(run("Loop", {{"body", growing.graph}}, {count(2), Value(), Sequence()}, 2).error().message,
            "Loop: a scan output must be a tensor, found sequence of 1");
  const auto results = run("Loop", {{"body", growing.graph}}, {count(2), Value(), Sequence()}, 1);
  ASSERT_FALSE(results.has_value() && results->at(0).describe() != "sequence of 2");
}

/// The body of a scan with one state and one input: their sum, twice.
Graph summing_body() {
  BodyBuilder b;
  const ValueId state = b.input(), x = b.input();
  const ValueId sum = b.add("Add", {state, x});
  b.graph.outputs = {sum, sum};
  return b.graph;
}

using Ints = std::vector<std::int64_t>;

TEST(ControlOperators, ScanWalksAlongAxesInBothDirections) {
  const std::vector<std::pair<std::string, Graph>> body = {{"body", summing_body()}};
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6}), zero = floats({2}, {0, 0});
  auto results = run("Scan", body, {zero, x}, 2, attributes({{"num_scan_inputs", 1}}));
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({2}, {9, 12}));
  expect_tensor(*results->at(1).tensor(), floats({3, 2}, {1, 2, 4, 6, 9, 12}));
  results = run("Scan", body, {floats({3}, {0, 0, 0}), x}, 2,
                attributes({{"num_scan_inputs", 1},
                            {"scan_input_axes", Ints{-1}},
                            {"scan_input_directions", Ints{1}},
                            {"scan_output_axes", Ints{1}},
                            {"scan_output_directions", Ints{1}}}));
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({3}, {3, 7, 11}));
  expect_tensor(*results->at(1).tensor(), floats({3, 2}, {3, 2, 7, 4, 11, 6}));
}

TEST(ControlOperators, ScanOfOpset8TakesBatchesOfSequences) {
  const std::vector<std::pair<std::string, Graph>> body = {{"body", summing_body()}};
  const Tensor x = floats({2, 3, 1}, {1, 2, 3, 10, 20, 30}), zero = floats({2, 1}, {0, 0});
  const auto results = run("Scan", body, {testing::ints({3, 2}), zero, x}, 2, attributes({{"num_scan_inputs", 1}}), 8);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({2, 1}, {6, 30}));
  expect_tensor(*results->at(1).tensor(), floats({2, 3, 1}, {1, 3, 6, 10, 30, 0}));
  EXPECT_EQ(
      run("Scan", body, {testing::ints({3, 4}), zero, x}, 2, attributes({{"num_scan_inputs", 1}}), 8).error().message,
      "Scan: sequence length 4 is outside 0..3");
}

TEST(ControlOperators, ScanRefusesInputsThatDoNotFit) {
  const std::vector<std::pair<std::string, Graph>> body = {{"body", summing_body()}};
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6}), zero = floats({2}, {0, 0});
  EXPECT_EQ(run("Scan", body, {zero, x}, 2, attributes({{"num_scan_inputs", 3}})).error().message,
            "Scan: num_scan_inputs is 3, allowed are 1 to 2");
  EXPECT_EQ(run("Scan", body, {zero, x}, 2).error().message, "Scan: num_scan_inputs is 0, allowed are 1 to 2");
  EXPECT_EQ(run("Scan", body, {zero, x}, 2, attributes({{"num_scan_inputs", 1}, {"scan_input_axes", Ints{2}}}))
                .error()
                .message,
            "Scan: axis 2 is outside [-2, 2)");
  EXPECT_EQ(run("Scan", body, {zero, x}, 2, attributes({{"num_scan_inputs", 2}})).error().message,
            "Scan: scan input 1 has length 3, the first 2");
}

TEST(ControlOperators, SequenceMapRunsItsBodyOnEachElement) {
  BodyBuilder b;
  const ValueId x = b.input(), y = b.input();
  b.graph.outputs = {b.add("Add", {x, y})};
  const std::vector<std::pair<std::string, Graph>> body = {{"body", b.graph}};
  const Value s = Sequence{Tensor::scalar(1.0F), Tensor::scalar(2.0F)};
  auto results = run("SequenceMap", body, {s, Tensor::scalar(10.0F)}, 1);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).sequence()->at(1).tensor(), Tensor::scalar(12.0F));
  results = run("SequenceMap", body, {s, s}, 1);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).sequence()->at(1).tensor(), Tensor::scalar(4.0F));
  EXPECT_EQ(run("SequenceMap", body, {s, Sequence{Tensor::scalar(1.0F)}}, 1).error().message,
            "SequenceMap: input 1 is a sequence of 1, input 0 of 2");
}

}  // namespace
}  // namespace hone::graph::testing
