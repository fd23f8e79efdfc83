#include "hone/graph/specialize.h"

#include "hone/graph/partition.h"
#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

Given input_of(ElementType type, Shape shape) { return {OutputSpec{type, std::move(shape)}, std::nullopt}; }

/// A graph with one input, filled in by `make`, which returns the outputs.
template <typename Make>
Graph graph_of_one(Make make) {
  Graph graph;
  graph.inputs.push_back(graph.add_value("x"));
  Builder builder(graph);
  graph.outputs = make(builder, graph.inputs[0]);
  graph.nodes = builder.nodes();
  return graph;
}

TEST(Specialize, ShapeChainsVanish) {
  // x.reshape(x.shape[0], -1), as exporters write it
  const Graph graph = graph_of_one([](Builder& b, ValueId x) {
    const ValueId shape = b.add("Shape", {x});
    const ValueId first = b.add("Gather", {shape, b.ints({0})});
    const ValueId wanted = b.add_node("", "Concat", {first, b.ints({-1})}, 1, [] {
      Attributes attributes;
      attributes.set("axis", std::int64_t{0});
      return attributes;
    }())[0];
    return std::vector<ValueId>{b.add("Reshape", {x, wanted})};
  });
  const Result<Stage> stage = specialize(graph, std::vector{input_of(ElementType::F32, {3, 4, 5})}, kEvaluate);
  ASSERT_TRUE(stage) << stage.error().message;
  EXPECT_EQ(stage->rest, nullptr);
  EXPECT_THAT(operators_of(stage->graph), ElementsAre("Reshape"));
  EXPECT_EQ(stage->specs[static_cast<std::size_t>(stage->graph.outputs[0])]->shape, (Shape{3, 20}));
}

TEST(Specialize, RulesAboutShapesAreNotAskedAboutWhatHasNone) {
  // a sequence, where the operator takes a tensor: its kernel refuses it when it runs
  for (const char* op : {"TopK", "ScatterElements", "RandomNormalLike"}) {
    const Graph graph = graph_of_one([&](Builder& b, ValueId x) {
      const ValueId sequence = b.add("SequenceConstruct", {x});
      return std::vector<ValueId>{b.add(op, {sequence, b.ints({1}), b.ints({1})})};
    });
    EXPECT_NO_THROW((void)specialize(graph, std::vector{input_of(ElementType::F32, {3})}, kEvaluate)) << op;
    Given absent;
    const Graph direct = graph_of_one(
        [&](Builder& b, ValueId x) { return std::vector<ValueId>{b.add(op, {x, b.ints({1}), b.ints({1})})}; });
    EXPECT_NO_THROW((void)specialize(direct, std::vector{absent}, kEvaluate)) << op;
  }
}

TEST(Specialize, WhatDependsOnContentIsPutOff) {
  const Graph graph = graph_of_one([](Builder& b, ValueId x) {
    const ValueId places = b.add("NonZero", {b.add("Relu", {x})});
    return std::vector<ValueId>{b.add("Neg", {places})};
  });
  const Result<Stage> stage = specialize(graph, std::vector{input_of(ElementType::F32, {4})}, kEvaluate);
  ASSERT_TRUE(stage) << stage.error().message;
  EXPECT_THAT(operators_of(stage->graph), ElementsAre("Relu", "NonZero"));
  ASSERT_TRUE(stage->rest);
  EXPECT_THAT(operators_of(*stage->rest), ElementsAre("Neg"));
  EXPECT_EQ(stage->rest->inputs, stage->graph.outputs);
  EXPECT_THAT(stage->wants_content, ElementsAre(false));
}

TEST(Specialize, AConditionThatIsKnownTakesItsBranch) {
  Graph graph = graph_of_one([](Builder& b, ValueId x) { return std::vector<ValueId>{b.add("Neg", {x})}; });
  const auto branch = [](const char* op) {
    Graph inner;
    inner.captured.push_back(inner.add_value("x"));
    Builder builder(inner);
    inner.outputs = {builder.add(op, {inner.captured[0]})};
    inner.nodes = builder.nodes();
    return std::make_shared<const Graph>(std::move(inner));
  };
  Node choice;
  choice.op = "If";
  choice.opset = kNewestOpset;
  choice.inputs = {graph.add_constant("condition", Tensor::scalar(true))};
  choice.outputs = {graph.add_value("y")};
  choice.subgraphs["then_branch"] = {branch("Exp"), {graph.outputs[0]}};
  choice.subgraphs["else_branch"] = {branch("Log"), {graph.outputs[0]}};
  graph.outputs = choice.outputs;
  graph.nodes.push_back(choice);
  const Result<Stage> stage = specialize(graph, std::vector{input_of(ElementType::F32, {4})}, kEvaluate);
  ASSERT_TRUE(stage) << stage.error().message;
  EXPECT_THAT(operators_of(stage->graph), ElementsAre("Neg", "Exp"));
  EXPECT_EQ(stage->rest, nullptr);
}

TEST(Partition, ElementwiseNodesJoinTheProducerThatOnlyTheyRead) {
  const Graph graph = graph_of_one([](Builder& b, ValueId x) {
    const ValueId product = b.add("MatMul", {x, x});
    const ValueId activated = b.add("Relu", {b.add("Add", {product, b.scalar(ElementType::F32, 1)})});
    const ValueId both = b.add("Exp", {activated});
    return std::vector<ValueId>{both, activated};
  });
  const Result<Stage> stage = specialize(graph, std::vector{input_of(ElementType::F32, {4, 4})}, kEvaluate);
  ASSERT_TRUE(stage) << stage.error().message;
  const Result<std::vector<Group>> groups = partition(*stage);
  ASSERT_TRUE(groups) << groups.error().message;
  std::vector<std::string> names;
  for (const Group& group : *groups) names.push_back(describe(*stage, group));
  EXPECT_THAT(names, ElementsAre("MatMul+Add+Relu", "Exp"));  // the result of Relu is an output itself
}

TEST(Partition, AxesOfExtentOneDoNotKeepNodesApart) {
  const Graph graph = graph_of_one([](Builder& b, ValueId x) {
    const ValueId weight = b.constant(Tensor::of<float>({4, 4}, std::vector<float>(16, 2)));
    const ValueId bias = b.constant(Tensor::of<float>({4}, std::vector<float>(4, 3)));
    const ValueId gelu = b.add("Gelu", {b.add("Add", {b.add("MatMul", {x, weight}), bias})});
    const ValueId row = b.add("ReduceMax", {gelu, b.ints({1})});
    return std::vector<ValueId>{b.add("Add", {row, x})};  // a row is read once for each of three: not in place
  });
  const Result<Stage> stage = specialize(graph, std::vector{input_of(ElementType::F32, {1, 3, 4})}, kEvaluate);
  ASSERT_TRUE(stage) << stage.error().message;
  const Result<std::vector<Group>> groups = partition(*stage);
  ASSERT_TRUE(groups) << groups.error().message;
  std::vector<std::string> names;
  for (const Group& group : *groups) names.push_back(describe(*stage, group));
  EXPECT_THAT(names, ElementsAre("MatMul+Add+Gelu", "ReduceMax", "Add"));
}

TEST(Partition, ElementsThatMoveAreReadWhereTheyWere) {
  const auto names_of = [](const auto& make) {
    const Graph graph = graph_of_one(make);
    const Result<Stage> stage = specialize(graph, std::vector{input_of(ElementType::F32, {2, 6, 5})}, kEvaluate);
    EXPECT_TRUE(stage) << stage.error().message;
    const Result<std::vector<Group>> groups = partition(*stage);
    EXPECT_TRUE(groups) << groups.error().message;
    std::vector<std::string> names;
    for (const Group& group : *groups) names.push_back(describe(*stage, group));
    return names;
  };
  const auto slice = [](Builder& b, ValueId x, std::int64_t begin, std::int64_t end) {
    return b.add("Slice", {x, b.ints({begin}), b.ints({end}), b.ints({1})});
  };
  const auto concat = [](Builder& b, std::vector<ValueId> parts) {
    Attributes attributes;
    attributes.set("axis", std::int64_t{1});
    return b.add("Concat", std::move(parts), attributes);
  };
  EXPECT_THAT(names_of([&](Builder& b, ValueId x) {  // a roll
                return std::vector<ValueId>{concat(b, {slice(b, x, 2, 6), slice(b, x, 0, 2)})};
              }),
              ElementsAre("Slice+Slice+Concat"));
  EXPECT_THAT(names_of([&](Builder& b, ValueId x) {  // half of the Exp need not be computed
                return std::vector<ValueId>{b.add("Transpose", {slice(b, b.add("Exp", {x}), 2, 4)})};
              }),
              ElementsAre("Exp+Slice+Transpose"));
  EXPECT_THAT(names_of([&](Builder& b, ValueId x) {  // here it would be computed for more elements than there are
                return std::vector<ValueId>{b.add("Expand", {b.add("Exp", {x}), b.ints({3, 2, 6, 5})})};
              }),
              ElementsAre("Exp", "Expand"));
  EXPECT_THAT(names_of([&](Builder& b, ValueId x) {  // a reduction is computed once
                return std::vector<ValueId>{b.add("Transpose", {b.add("Softmax", {x})})};
              }),
              ElementsAre("Softmax", "Transpose"));
}

}  // namespace
}  // namespace hone::graph
