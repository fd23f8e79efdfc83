/// The reference evaluator: computes one node from the content of its inputs, slowly and plainly.
#pragma once

#include <span>
#include <vector>

#include "hone/graph/graph.h"
#include "hone/graph/operator.h"

namespace hone::graph {

/// Applies a node to concrete inputs (one per node input, absent ones included): host kernels are called, expressions
/// are lowered and interpreted, composites expanded and their parts evaluated. Subgraphs are evaluated the same way.
/// Constant folding and tests use it; for anything large it is far too slow.
Result<std::vector<runtime::Value>> evaluate(const Graph& graph, const Node& node,
                                             std::span<const runtime::Value> inputs);

/// Evaluates a whole graph on one value per input and per captured value.
Result<std::vector<runtime::Value>> evaluate(const Graph& graph, std::span<const runtime::Value> inputs,
                                             std::span<const runtime::Value> captured = {});

}  // namespace hone::graph
