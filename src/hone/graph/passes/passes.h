/// The single passes: functions from graph to graph.
#pragma once

#include "hone/graph/graph.h"
#include "hone/graph/specialize.h"

namespace hone::graph {

/// Computes nodes whose inputs are constants, unless that would make the model much bigger. Subgraphs included.
Result<Graph> fold_constants(Graph graph, const Evaluate& evaluate);

/// Removes nodes whose results nobody reads, and constants likewise. Subgraphs included.
Graph remove_dead_nodes(Graph graph);

}  // namespace hone::graph
