#include "hone/graph/optimize.h"

#include <algorithm>

#include "hone/graph/passes/passes.h"
#include "hone/support/log.h"

namespace hone::graph {
namespace {

/// The pipeline. It runs when a model was read, so that weights that change are shared by all shapes it is run at, and
/// again for each specialization, when what depends on types and shapes can be seen.
///
/// merge_parallel_products waits for what would make it pay: results of Split that are views; as copies they cost more
/// than the larger product saves.
Draft improve(Draft draft) {
  draft = remove_identities(std::move(draft));
  draft = merge_common_nodes(std::move(draft));
  draft = cancel_transposes(std::move(draft));
  draft = recognize_attention(std::move(draft));
  draft = absorb_head_transposes(std::move(draft));
  draft = merge_reshapes(std::move(draft));  // after transposes, some of which become a Reshape
  draft = fold_batch_norms(std::move(draft));
  draft = recognize_norms(std::move(draft));
  draft = recognize_activations(std::move(draft));
  draft = interleave_transposed_convs(std::move(draft));  // after norms, which become part of their weights
  draft = pad_channels(std::move(draft));
  draft = flatten_products(std::move(draft));  // after everything that looks for a product next to something else
  draft = sink_reshapes(std::move(draft));     // after activations: a value that their parts read twice would not move
  draft = merge_reshapes(std::move(draft));    // those that met by sinking
  return draft;
}

bool is_same(const std::vector<Node>& a, const std::vector<Node>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Node& x, const Node& y) {
    return x.op == y.op && x.inputs == y.inputs && x.outputs == y.outputs;
  });
}

}  // namespace

Result<Graph> optimize(Graph graph, const Evaluate& evaluate) {
  graph = fold_constants(std::move(graph), evaluate);
  graph = improve({std::move(graph)}).graph;
  graph = fold_constants(std::move(graph), evaluate);
  graph = pass_constants_down(std::move(graph));
  for (Node& node : graph.nodes)
    for (auto& [name, subgraph] : node.subgraphs) {
      HONE_TRY(Graph inner, optimize(*subgraph.graph, evaluate));
      subgraph.graph = std::make_shared<const Graph>(std::move(inner));
    }
  return remove_dead_nodes(std::move(graph));
}

Result<Stage> optimize(Stage stage, std::span<const Given> given, const Evaluate& evaluate) {
  Draft draft = improve({stage.graph, stage.specs});
  if (is_same(draft.graph.nodes, stage.graph.nodes)) return stage;
  // What passes wrote is specialized like any graph: composites expanded, constants folded, shapes set.
  Result<Stage> improved = specialize(draft.graph, given, evaluate);
  if (!improved || improved->rest) {
    log::warning("graph", "graph '{}' stays as it was read: {}", stage.graph.name,
                 improved ? "a pass lost a shape" : improved.error().message);
    return stage;
  }
  improved->rest = std::move(stage.rest);
  improved->wants_content = std::move(stage.wants_content);
  return improved;
}

}  // namespace hone::graph
