#include <algorithm>

#include "hone/graph/operator.h"
#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

std::size_t bytes_of(const runtime::Value& value) {
  const runtime::Tensor* tensor = value.tensor();
  return tensor ? tensor->bytes() : 0;
}

/// Operators that repeat their input many times; others give about as much as they take.
bool may_blow_up(const Node& node) {
  return node.op == "Expand" || node.op == "Tile" || node.op == "ConstantOfShape" || node.op == "Range" ||
         node.op == "Resize" || node.op == "OneHot" || node.op == "Pad" || node.op == "EyeLike";
}

/// The node's results if it can be computed now.
std::optional<std::vector<runtime::Value>> results_of(const Graph& graph, const Node& node, const Evaluate& evaluate) {
  const Operator* entry = find_operator(node.domain, node.op);
  if (!entry || entry->is_random || !node.subgraphs.empty() || node.inputs.empty()) return std::nullopt;
  std::vector<runtime::Value> inputs;
  std::size_t input_bytes = 0;
  for (const ValueId id : node.inputs) {
    if (id == kAbsent) {
      inputs.emplace_back();
      continue;
    }
    const auto constant = graph.constants.find(id);
    if (constant == graph.constants.end()) return std::nullopt;
    inputs.push_back(constant->second);
    input_bytes += bytes_of(constant->second);
  }
  if (may_blow_up(node)) return std::nullopt;  // specialization folds those whose size is reasonable
  Result<std::vector<runtime::Value>> results = evaluate(graph, node, inputs);
  if (!results) return std::nullopt;  // whoever runs the node reports why
  std::size_t output_bytes = 0;
  for (const runtime::Value& value : *results) output_bytes += bytes_of(value);
  if (!is_small_enough_to_fold(output_bytes, input_bytes)) return std::nullopt;
  return *std::move(results);
}

}  // namespace

Graph fold_constants(Graph graph, const Evaluate& evaluate) {
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    auto results = results_of(graph, node, evaluate);
    if (!results) {
      kept.push_back(std::move(node));
      continue;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kAbsent) graph.constants[node.outputs[i]] = (*results)[i];
  }
  graph.nodes = std::move(kept);
  return graph;
}

}  // namespace hone::graph
