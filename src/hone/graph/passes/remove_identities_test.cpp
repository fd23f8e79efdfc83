#include "hone/graph/optimize.h"
#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> left_of(const std::string& op, std::vector<ValueId> (*others)(Builder&),
                                 const Attributes& given, bool knows_shapes, const Shape& shape = {2, 3}) {
  return left_between(remove_identities, {iota(shape)}, knows_shapes, [&](Builder& b, const std::vector<ValueId>& x) {
    std::vector<ValueId> operands = others(b);
    operands.insert(operands.begin(), x[0]);
    return b.add(op, operands, given);
  });
}

std::vector<ValueId> none(Builder&) { return {}; }

TEST(RemoveIdentities, NeedNoShapesWhereTheOperatorSaysItAll) {
  EXPECT_THAT(left_of("Identity", none, {}, false), IsEmpty());
  EXPECT_THAT(left_of("Dropout", none, {}, false), IsEmpty());
  EXPECT_THAT(left_of("Transpose", none, attributes({{"perm", std::vector<std::int64_t>{0, 1}}}), false), IsEmpty());
  EXPECT_THAT(left_of("Concat", none, attributes({{"axis", std::int64_t{0}}}), false), IsEmpty());
  EXPECT_THAT(left_of("Max", none, {}, false), IsEmpty());
  EXPECT_THAT(left_of("Pad", [](Builder& b) { return std::vector{b.ints({0, 0, 0, 0})}; }, {}, false), IsEmpty());
  EXPECT_THAT(
      left_of("Add", [](Builder& b) { return std::vector{b.scalar(ElementType::F32, 0)}; }, {}, false), IsEmpty());
  EXPECT_THAT(
      left_of("Slice", [](Builder& b) { return std::vector{b.ints({0}), b.ints({INT64_MAX})}; }, {}, false), IsEmpty());
}

TEST(RemoveIdentities, KnowMoreWithShapes) {
  const Attributes to_float = attributes({{"to", static_cast<std::int64_t>(ElementType::F32)}});
  const auto same_shape = [](Builder& b) { return std::vector{b.ints({2, -1})}; };
  const auto slice = [](Builder& b) { return std::vector{b.ints({-9}), b.ints({3}), b.ints({1})}; };
  const auto ones = [](Builder& b) { return std::vector{b.constant(floats({1, 3}, {1, 1, 1}))}; };
  EXPECT_THAT(left_of("Cast", none, to_float, true), IsEmpty());
  EXPECT_THAT(left_of("Reshape", same_shape, {}, true), IsEmpty());
  EXPECT_THAT(left_of("Expand", [](Builder& b) { return std::vector{b.ints({1, 3})}; }, {}, true), IsEmpty());
  EXPECT_THAT(left_of("Slice", slice, {}, true), IsEmpty());
  EXPECT_THAT(left_of("Mul", ones, {}, true), IsEmpty());
  EXPECT_THAT(left_of("Div", ones, {}, true), IsEmpty());

  EXPECT_THAT(left_of("Cast", none, to_float, false), ElementsAre("Cast"));
  EXPECT_THAT(left_of("Reshape", same_shape, {}, false), ElementsAre("Reshape"));
  EXPECT_THAT(left_of("Slice", slice, {}, false), ElementsAre("Slice"));
  EXPECT_THAT(left_of("Mul", ones, {}, false), ElementsAre("Mul"));
}

TEST(RemoveIdentities, WhatComputesSomethingStays) {
  const Attributes swap = attributes({{"perm", std::vector<std::int64_t>{1, 0}}});
  EXPECT_THAT(left_of("Transpose", none, swap, true), ElementsAre("Transpose"));
  EXPECT_THAT(left_of("Transpose", none, {}, true), ElementsAre("Transpose"));  // reverses
  // one element moves from each end to the other
  EXPECT_THAT(
      left_of("Pad", [](Builder& b) { return std::vector{b.ints({1, 0, -1, 0})}; }, {}, true), ElementsAre("Pad"));
  const auto backwards = [](Builder& b) {
    return std::vector{b.ints({-1}), b.ints({INT64_MIN}), b.ints({0}), b.ints({-1})};
  };
  EXPECT_THAT(left_of("Slice", backwards, {}, true), ElementsAre("Slice"));
  EXPECT_THAT(left_of(
                  "Add", [](Builder& b) { return std::vector{b.scalar(ElementType::F32, 1)}; }, {}, true),
              ElementsAre("Add"));
  EXPECT_THAT(left_of(
                  "Pow", [](Builder& b) { return std::vector{b.scalar(ElementType::F32, 2)}; }, {}, true),
              ElementsAre("Pow"));
  // the sum has more axes than the operand, or longer ones
  const auto zeros = [](Builder& b) { return std::vector{b.constant(floats({1, 1, 1}, {0}))}; };
  EXPECT_THAT(left_of("Add", zeros, {}, true), ElementsAre("Add"));
  const auto longer = [](Builder& b) { return std::vector{b.constant(floats({3}, {0, 0, 0}))}; };
  EXPECT_THAT(left_of("Add", longer, {}, true, {2, 1}), ElementsAre("Add"));
  // 0 - x and 1 / x
  for (const auto& [op, number] : {std::pair("Sub", 0.0), std::pair("Div", 1.0)})
    EXPECT_THAT(left_between(remove_identities, {floats({2}, {1, 2})}, true,
                             [&, op = op, number = number](Builder& b, const std::vector<ValueId>& x) {
                               return b.add(op, {b.scalar(ElementType::F32, number), x[0]});
                             }),
                ElementsAre(op));
}

TEST(RemoveIdentities, DropoutStaysIfItsMaskIsReadOrItTrains) {
  const std::vector<Tensor> inputs = {iota({3})};
  const auto dropout = [&](bool trains, bool shows_mask) {
    return graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
      std::vector<ValueId> operands = {x[0], b.scalar(ElementType::F32, 0.5), b.constant(Tensor::scalar<bool>(trains))};
      const std::vector<ValueId> made = b.add_node("", "Dropout", operands, 2);
      std::vector<ValueId> outputs = {b.add("Neg", {made[0]})};
      if (shows_mask) outputs.push_back(made[1]);
      return outputs;
    });
  };
  EXPECT_THAT(operators_of(remove_identities({dropout(false, false)}).graph), ElementsAre("Neg"));
  EXPECT_THAT(operators_of(remove_identities({dropout(false, true)}).graph), ElementsAre("Dropout", "Neg"));
  EXPECT_THAT(operators_of(remove_identities({dropout(true, false)}).graph), ElementsAre("Dropout", "Neg"));
}

TEST(RemoveIdentities, OutputsKeepTheirNamesAndTypes) {
  const std::vector<Tensor> inputs = {iota({3})};
  const Graph graph = graph_of(inputs, [](Builder& b, const std::vector<ValueId>& x) {
    const ValueId y = b.add("Neg", {b.add("Dropout", {x[0]})});
    const ValueId z = b.add("Dropout", {y});
    return std::vector{z, b.add("Exp", {z})};
  });
  const Graph after = after_loading(remove_identities, graph, inputs);
  EXPECT_EQ(after.outputs, graph.outputs);
  EXPECT_THAT(operators_of(after), ElementsAre("Neg", "Identity", "Exp"));
  EXPECT_EQ(after.nodes[2].inputs, after.nodes[0].outputs);  // others need not wait for the copy
}

TEST(RemoveIdentities, SubgraphsCaptureWhatIsCopied) {
  Graph graph;
  graph.inputs = {graph.add_value("x"), graph.add_value("condition")};
  Builder b(graph);
  const ValueId copy = b.add("Identity", {graph.inputs[0]});
  graph.nodes = b.nodes();
  Graph inner;
  inner.captured = {inner.add_value("x")};
  Builder inside(inner);
  inner.outputs = {inside.add("Neg", {inner.captured[0]})};
  inner.nodes = inside.nodes();
  Node choice;
  choice.op = "If";
  choice.opset = kNewestOpset;
  choice.inputs = {graph.inputs[1]};
  choice.outputs = graph.outputs = {graph.add_value("y")};
  choice.subgraphs["then_branch"] = choice.subgraphs["else_branch"] = {std::make_shared<const Graph>(inner), {copy}};
  graph.nodes.push_back(choice);
  const Graph after = remove_identities({graph}).graph;
  EXPECT_THAT(operators_of(after), ElementsAre("If"));
  EXPECT_THAT(after.nodes[0].subgraphs.at("then_branch").captures, ElementsAre(graph.inputs[0]));
  ASSERT_TRUE(verify(after)) << verify(after).error().message;
}

TEST(PassConstantsDown, SubgraphsGetTheirOwn) {
  Graph graph;
  graph.inputs = {graph.add_value("x"), graph.add_value("condition")};
  const ValueId two = graph.add_constant("two", Tensor::scalar(2.F));
  Graph inner;
  inner.captured = {inner.add_value("x"), inner.add_value("two")};
  Builder inside(inner);
  inner.outputs = {inside.add("Mul", inner.captured)};
  inner.nodes = inside.nodes();
  Node choice;
  choice.op = "If";
  choice.opset = kNewestOpset;
  choice.inputs = {graph.inputs[1]};
  choice.outputs = graph.outputs = {graph.add_value("y")};
  choice.subgraphs["then_branch"] =
      choice.subgraphs["else_branch"] = {std::make_shared<const Graph>(inner), {graph.inputs[0], two}};
  graph.nodes.push_back(choice);
  const Graph after = pass_constants_down(graph);
  ASSERT_TRUE(verify(after)) << verify(after).error().message;
  const Subgraph& branch = after.nodes[0].subgraphs.at("then_branch");
  EXPECT_THAT(branch.captures, ElementsAre(graph.inputs[0]));
  EXPECT_EQ(branch.graph->constants.size(), 1U);
  // only what the branches still capture stays alive outside
  const Evaluate evaluator = [](const Graph& g, const Node& n, std::span<const Value> i) { return evaluate(g, n, i); };
  const Result<Graph> optimized = optimize(graph, evaluator);
  ASSERT_TRUE(optimized) << optimized.error().message;
  EXPECT_TRUE(optimized->constants.empty());
}

}  // namespace
}  // namespace hone::graph
