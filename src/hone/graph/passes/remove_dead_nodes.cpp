#include <algorithm>

#include "hone/graph/passes/passes.h"

namespace hone::graph {

Graph remove_dead_nodes(Graph graph) {
  std::vector<bool> is_live(graph.values.size());
  for (const ValueId id : graph.outputs) is_live[static_cast<std::size_t>(id)] = true;
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const auto is_read = [&](ValueId id) { return id != kAbsent && is_live[static_cast<std::size_t>(id)]; };
    if (std::none_of(node->outputs.begin(), node->outputs.end(), is_read)) continue;
    for (auto& [name, subgraph] : node->subgraphs)
      subgraph.graph = std::make_shared<const Graph>(remove_dead_nodes(*subgraph.graph));
    for (const ValueId id : reads_of(*node)) is_live[static_cast<std::size_t>(id)] = true;
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  std::erase_if(graph.constants,
                [&](const auto& constant) { return !is_live[static_cast<std::size_t>(constant.first)]; });
  return graph;
}

}  // namespace hone::graph
