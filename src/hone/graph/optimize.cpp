#include "hone/graph/optimize.h"

#include "hone/graph/passes/passes.h"

namespace hone::graph {

Result<Graph> optimize(Graph graph, const Evaluate& evaluate) {
  HONE_TRY(graph, fold_constants(std::move(graph), evaluate));
  graph = remove_dead_nodes(std::move(graph));
  return graph;
}

}  // namespace hone::graph
