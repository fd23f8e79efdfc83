/// Improving a model's graph: once when it is read, and once for each combination of shapes that it meets.
#pragma once

#include "hone/graph/graph.h"
#include "hone/graph/specialize.h"

namespace hone::graph {

/// Improves a graph whose shapes are not known, subgraphs included; it computes the same. See the pipeline in
/// optimize.cpp.
Result<Graph> optimize(Graph graph, const Evaluate& evaluate);

/// Improves what `specialize` made for these inputs, all shapes being known.
Result<Stage> optimize(Stage stage, std::span<const Given> given, const Evaluate& evaluate);

}  // namespace hone::graph
