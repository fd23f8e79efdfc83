/// The passes over a model's graph that do not need to know shapes: what is done once, when a model is loaded.
#pragma once

#include "hone/graph/graph.h"
#include "hone/graph/specialize.h"

namespace hone::graph {

/// Improves the graph; it computes the same. See the pipeline in optimize.cpp.
Result<Graph> optimize(Graph graph, const Evaluate& evaluate);

}  // namespace hone::graph
