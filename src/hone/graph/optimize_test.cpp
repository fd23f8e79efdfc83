#include "hone/graph/optimize.h"

#include "hone/graph/partition.h"
#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

std::vector<Given> given_for(const std::vector<Tensor>& inputs) {
  std::vector<Given> given;
  for (const Tensor& input : inputs) given.push_back({OutputSpec{input.type(), input.shape()}, std::nullopt});
  return given;
}

/// The stage that a graph becomes for inputs like these, after comparing what it computes with the graph as it was.
Stage optimized(const Graph& graph, const std::vector<Tensor>& inputs) {
  const Result<Graph> loaded = optimize(graph, kEvaluate);
  EXPECT_TRUE(loaded) << loaded.error().message;
  Result<Stage> stage = specialize(*loaded, given_for(inputs), kEvaluate);
  EXPECT_TRUE(stage) << stage.error().message;
  stage = optimize(*std::move(stage), given_for(inputs), kEvaluate);
  EXPECT_TRUE(stage) << stage.error().message;
  expect_same(graph, stage->graph, inputs);
  return *std::move(stage);
}

std::vector<std::string> groups_of(const Stage& stage) {
  const Result<std::vector<Group>> groups = partition(stage);
  EXPECT_TRUE(groups) << groups.error().message;
  std::vector<std::string> names;
  for (const Group& group : *groups)
    if (group.kind == Group::Kind::Kernel) names.push_back(describe(stage, group));
  return names;
}

TEST(Optimize, ALayerOfATransformerIsAKernelForEachProductAndNorm) {
  Rng rng(1);
  const std::vector<Tensor> inputs = {random_floats(rng, {1, 3, 4})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const auto scalar = [&](double number) { return b.scalar(ElementType::F32, number); };
    const auto linear = [&](ValueId y, std::int64_t from, std::int64_t to) {  // a Gemm between two changes of shape
      const ValueId rows = b.add("Reshape", {y, b.ints({-1, from})});
      const ValueId weight = b.constant(random_floats(rng, {from, to})), bias = b.constant(random_floats(rng, {to}));
      return b.add("Reshape", {b.add("Gemm", {rows, weight, bias}), b.ints({1, -1, to})});
    };
    // the norm's axis is counted from the front, so that it can be recognised when the rank is known
    const ValueId centred = b.add("Sub", {x[0], b.add("ReduceMean", {x[0], b.ints({2})})});
    const ValueId mean = b.add("ReduceMean", {b.add("Pow", {centred, scalar(2)}), b.ints({2})});
    const ValueId normal = b.add("Div", {centred, b.add("Sqrt", {b.add("Add", {mean, scalar(0.125)})})});
    ValueId y = b.add("Mul", {normal, b.constant(random_floats(rng, {4}))});
    y = linear(b.add("Add", {y, b.constant(random_floats(rng, {4}))}), 4, 8);
    const ValueId gate = b.add("Add", {b.add("Erf", {b.add("Div", {y, scalar(std::sqrt(2.0))})}), scalar(1)});
    y = linear(b.add("Mul", {b.add("Mul", {y, gate}), scalar(0.5)}), 8, 4);
    return std::vector{b.add("Add", {x[0], b.add("Dropout", {y})})};
  });
  EXPECT_THAT(groups_of(optimized(graph, inputs)), ElementsAre("LayerNormalization", "Gemm+Gelu", "Gemm+Add"));
}

TEST(Optimize, AConvolutionTakesInItsNormAndActivation) {
  Rng rng(2);
  const std::vector<Tensor> inputs = {random_floats(rng, {1, 3, 4, 4})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const auto vector = [&](double offset) { return b.constant(random_floats(rng, {5}, offset)); };
    const ValueId conv = b.add("Conv", {x[0], b.constant(random_floats(rng, {5, 3, 3, 3}))});
    const ValueId norm = b.add("BatchNormalization", {conv, vector(1), vector(0), vector(0), vector(2)});
    return std::vector{b.add("Mul", {norm, b.add("Sigmoid", {norm})})};
  });
  EXPECT_THAT(groups_of(optimized(graph, inputs)), ElementsAre("Conv+Swish"));
}

TEST(Optimize, WhatComesAfterAStageStays) {
  const std::vector<Tensor> inputs = {floats({1, 4}, {0, 1, 0, 2})};
  const Graph graph = graph_of(inputs, [](Builder& b, const std::vector<ValueId>& x) {
    const ValueId same = b.add("Reshape", {x[0], b.ints({1, 4})});
    const ValueId places = b.add("NonZero", {b.add("Transpose", {same})});
    return std::vector{b.add("Neg", {places})};
  });
  Result<Stage> stage = specialize(graph, given_for(inputs), kEvaluate);
  ASSERT_TRUE(stage) << stage.error().message;
  const std::shared_ptr<const Graph> rest = stage->rest;
  ASSERT_TRUE(rest);
  stage = optimize(*std::move(stage), given_for(inputs), kEvaluate);
  ASSERT_TRUE(stage) << stage.error().message;
  EXPECT_THAT(operators_of(stage->graph), ElementsAre("Reshape", "NonZero"));
  EXPECT_EQ(stage->rest, rest);
  EXPECT_THAT(stage->wants_content, ElementsAre(false));
  EXPECT_EQ(stage->graph.outputs, rest->inputs);
}

TEST(Optimize, ConstantsMadeByAPassAreFoldedWithTheModel) {
  Rng rng(3);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const Attributes swap = attributes({{"perm", std::vector<std::int64_t>{1, 0}}});
    const ValueId sum = b.add("Add", {b.add("Transpose", {x[0]}, swap), b.constant(random_floats(rng, {3, 2}))});
    return std::vector{b.add("Transpose", {sum}, swap)};
  });
  const Result<Graph> loaded = optimize(graph, kEvaluate);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(operators_of(*loaded), ElementsAre("Add", "Identity"));  // which makes the output
  expect_same(graph, *loaded, inputs);
}

}  // namespace
}  // namespace hone::graph
