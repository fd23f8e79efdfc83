#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

/// Constants up to this size are compared: scalars, axes and shapes, which exporters write again and again.
constexpr std::size_t kComparedBytes = 1024;

/// Whether the outputs of `first` serve where those of `second` are read.
bool serves(const Node& first, const Node& second) {
  // How many outputs a Split has may say how long they are: more of them would not serve.
  if (first.outputs.size() != second.outputs.size()) return false;
  for (std::size_t i = 0; i < second.outputs.size(); ++i)
    if (second.outputs[i] != kAbsent && first.outputs[i] == kAbsent) return false;
  return is_equal(first.attributes, second.attributes);
}

/// For each small constant, the first one that equals it.
std::unordered_map<ValueId, ValueId> equal_constants(const Graph& graph) {
  std::unordered_map<ValueId, ValueId> same;
  std::map<std::pair<ElementType, std::string>, std::vector<ValueId>> known;
  for (const auto& [id, value] : graph.constants) {
    const runtime::Tensor* tensor = value.tensor();
    if (!tensor || tensor->type() == ElementType::String || tensor->bytes() > kComparedBytes) continue;
    std::string bytes(reinterpret_cast<const char*>(tensor->data()), tensor->bytes());
    std::vector<ValueId>& candidates = known[{tensor->type(), std::move(bytes)}];
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](ValueId other) {
      return graph.constant_tensor(other)->shape() == tensor->shape();
    });
    if (found != candidates.end())
      same[id] = *found;
    else
      candidates.push_back(id);
  }
  return same;
}

}  // namespace

Draft merge_common_nodes(Draft draft) {
  const std::unordered_map<ValueId, ValueId> same = equal_constants(draft.graph);
  for (Node& node : draft.graph.nodes)
    for (ValueId& id : node.inputs)
      if (const auto found = same.find(id); found != same.end()) id = found->second;

  using Key = std::tuple<std::string, std::string, std::int64_t, std::vector<ValueId>>;
  std::map<Key, std::vector<Node>> seen;
  return rewrite(std::move(draft), [&](Rewriter& rewriter, Node& node) {
    const Operator* entry = find_operator(node.domain, node.op);
    if (!entry || entry->is_random || !node.subgraphs.empty() || node.inputs.empty()) return;
    std::vector<Node>& candidates = seen[{node.domain, node.op, node.opset, node.inputs}];
    const auto found =
        std::find_if(candidates.begin(), candidates.end(), [&](const Node& first) { return serves(first, node); });
    if (found == candidates.end())
      candidates.push_back(node);
    else
      rewriter.replace(node, found->outputs);
  });
}

}  // namespace hone::graph
