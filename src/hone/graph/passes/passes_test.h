/// What tests of passes share: small graphs, random inputs, and the comparison of a graph with what a pass made of it.
#pragma once

#include <cmath>
#include <functional>
#include <gmock/gmock.h>

#include "hone/graph/passes/passes.h"
#include "hone/graph/testing.h"
#include "hone/runtime/small_float.h"
#include "hone/support/rng.h"

namespace hone::graph::testing {

using runtime::Tensor;
using runtime::Value;
using Pass = std::function<Draft(Draft)>;

inline const Evaluate kEvaluate = [](const Graph& graph, const Node& node, std::span<const Value> inputs) {
  return evaluate(graph, node, inputs);
};

/// Random numbers in (-1, 1), plus `offset`, as a tensor of a float type.
inline Tensor random_tensor(Rng& rng, ElementType type, const Shape& shape, double offset = 0) {
  std::vector<double> numbers(static_cast<std::size_t>(*runtime::element_count(shape)));
  for (double& number : numbers) number = 2 * rng.unit() - 1 + offset;
  return *rounded(type, shape, numbers);
}

inline Tensor random_floats(Rng& rng, const Shape& shape, double offset = 0) {
  return random_tensor(rng, ElementType::F32, shape, offset);
}

/// A graph with inputs like these, filled in by `make`, which is given them and returns the outputs.
inline Graph graph_of(const std::vector<Tensor>& inputs,
                      const std::function<std::vector<ValueId>(Builder&, const std::vector<ValueId>&)>& make) {
  Graph graph;
  for (std::size_t i = 0; i < inputs.size(); ++i) graph.inputs.push_back(graph.add_value("x"));
  Builder builder(graph);
  graph.outputs = make(builder, graph.inputs);
  graph.nodes = builder.nodes();
  return graph;
}

inline std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}

inline std::vector<Value> values_of(const std::vector<Tensor>& tensors) { return {tensors.begin(), tensors.end()}; }

/// The graph with the types and shapes that all its values have for these inputs.
inline Draft shaped(Graph graph, const std::vector<Tensor>& inputs) {
  Draft draft{graph};
  draft.specs.resize(graph.values.size());
  graph.outputs.clear();
  std::vector<ValueId> ids;
  for (std::size_t i = 0; i < graph.values.size(); ++i) ids.push_back(static_cast<ValueId>(i));
  for (const ValueId id : graph.inputs) graph.outputs.push_back(id);
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs)
      if (id != kAbsent) graph.outputs.push_back(id);
  const auto values = evaluate(graph, values_of(inputs));
  EXPECT_TRUE(values) << values.error().message;
  if (!values) return draft;
  for (std::size_t i = 0; i < values->size(); ++i)
    if (const Tensor* tensor = (*values)[i].tensor())
      draft.specs[static_cast<std::size_t>(graph.outputs[i])] = OutputSpec{tensor->type(), tensor->shape()};
  return draft;
}

/// Expects two graphs to compute the same from these inputs.
inline void expect_same(const Graph& before, const Graph& after, const std::vector<Tensor>& inputs,
                        double tolerance = 1e-5) {
  ASSERT_TRUE(verify(after)) << verify(after).error().message << "\n" << to_string(after);
  const auto expected = evaluate(before, values_of(inputs)), found = evaluate(after, values_of(inputs));
  ASSERT_TRUE(expected) << expected.error().message;
  ASSERT_TRUE(found) << found.error().message << "\n" << to_string(after);
  ASSERT_EQ(found->size(), expected->size());
  for (std::size_t i = 0; i < found->size(); ++i)
    expect_tensor(*(*found)[i].tensor(), *(*expected)[i].tensor(), tolerance);
}

/// What a pass makes of a graph when nothing is known but constants, after comparing the two.
inline Graph after_loading(const Pass& pass, const Graph& graph, const std::vector<Tensor>& inputs,
                           double tolerance = 1e-5) {
  Graph after = pass({graph}).graph;
  expect_same(graph, after, inputs, tolerance);
  return after;
}

/// The same when all shapes are known.
inline Graph after_specializing(const Pass& pass, const Graph& graph, const std::vector<Tensor>& inputs,
                                double tolerance = 1e-5) {
  Graph after = pass(shaped(graph, inputs)).graph;
  expect_same(graph, after, inputs, tolerance);
  return after;
}

/// What a pass leaves of what `make` puts between a Neg and an Exp.
inline std::vector<std::string> left_between(const Pass& pass, const std::vector<Tensor>& inputs, bool knows_shapes,
                                             const std::function<ValueId(Builder&, std::vector<ValueId>)>& make) {
  const Graph graph = graph_of(inputs, [&](Builder& b, std::vector<ValueId> x) {
    x[0] = b.add("Neg", {x[0]});
    return std::vector{b.add("Exp", {make(b, x)})};
  });
  const Graph after = knows_shapes ? after_specializing(pass, graph, inputs) : after_loading(pass, graph, inputs);
  std::vector<std::string> names = operators_of(after);
  EXPECT_GE(names.size(), 2U);
  return {names.begin() + 1, names.end() - 1};
}

}  // namespace hone::graph::testing
