#include "hone/graph/passes/passes.h"

namespace hone::graph {

Graph pass_constants_down(Graph graph) {
  for (Node& node : graph.nodes)
    for (auto& [name, subgraph] : node.subgraphs) {
      Graph inner = *subgraph.graph;
      std::vector<ValueId> captured, captures;
      for (std::size_t i = 0; i < inner.captured.size(); ++i) {
        const auto constant = graph.constants.find(subgraph.captures[i]);
        if (constant != graph.constants.end()) {
          inner.constants.emplace(inner.captured[i], constant->second);
        } else {
          captured.push_back(inner.captured[i]);
          captures.push_back(subgraph.captures[i]);
        }
      }
      if (captured.size() == inner.captured.size()) continue;
      inner.captured = std::move(captured);
      subgraph.captures = std::move(captures);
      subgraph.graph = std::make_shared<const Graph>(std::move(inner));
    }
  return graph;
}

}  // namespace hone::graph
