#include "hone/frontend/supported.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "hone/graph/operator.h"
#include "hone/graph/schema.h"

namespace hone::frontend {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Node;

/// What was found so far.
struct Findings {
  std::map<std::string, std::vector<std::string>> unsupported;  ///< the thing, and the nodes that have it
  std::optional<Error> wrong;                                   ///< the first node that no version would accept
};

std::string short_name(const Graph& graph, const Node& node) {
  if (!node.name.empty()) return fmt::format("'{}'", node.name);
  for (const graph::ValueId id : node.outputs)
    if (id != graph::kAbsent) return fmt::format("the node that makes '{}'", graph.name_of(id));
  return "a node without a name";
}

/// The types of inputs that are certain: those of constants.
std::vector<ElementType> known_types(const Graph& graph, const Node& node) {
  std::vector<ElementType> types;
  for (const graph::ValueId id : node.inputs) {
    const runtime::Tensor* constant = id == graph::kAbsent ? nullptr : graph.constant_tensor(id);
    types.push_back(constant ? constant->type() : ElementType::Undefined);
  }
  return types;
}

void check(const Graph& graph, Findings& findings) {
  for (const Node& node : graph.nodes) {
    for (const auto& [name, subgraph] : node.subgraphs) check(*subgraph.graph, findings);
    const graph::Operator* entry = graph::find_operator(node.domain, node.op);
    if (!entry) {
      findings.unsupported[fmt::format("operator {}{}", node.domain.empty() ? "" : node.domain + ".", node.op)]
          .push_back(short_name(graph, node));
      continue;
    }
    const std::vector<std::string>& known = graph::schema_of(*entry).attributes;
    bool is_known = true;
    const auto check_attribute = [&](const std::string& name) {
      if (std::find(known.begin(), known.end(), name) != known.end()) return;
      is_known = false;
      findings.unsupported[fmt::format("attribute '{}' of {}", name, node.op)].push_back(short_name(graph, node));
    };
    for (const auto& [name, value] : node.attributes.entries()) check_attribute(name);
    for (const auto& [name, subgraph] : node.subgraphs) check_attribute(name);
    if (!is_known || findings.wrong) continue;
    if (auto checked = graph::check_node(graph, node, *entry, known_types(graph, node)); !checked)
      findings.wrong = std::move(checked).error();
  }
}

}  // namespace

Result<void> check_supported(const Graph& graph) {
  Findings findings;
  check(graph, findings);
  if (!findings.unsupported.empty()) {
    constexpr std::size_t kMaxNames = 10;
    std::vector<std::string> lines;
    for (auto& [thing, nodes] : findings.unsupported) {
      const std::size_t rest = nodes.size() > kMaxNames ? nodes.size() - kMaxNames : 0;
      nodes.resize(nodes.size() - rest);
      lines.push_back(
          fmt::format("{} in {}{}", thing, fmt::join(nodes, ", "), rest > 0 ? fmt::format(" and {} more", rest) : ""));
    }
    return error(ErrorCode::Unsupported, "the model needs what is not supported: {}", fmt::join(lines, "; "));
  }
  if (findings.wrong) return *findings.wrong;
  return {};
}

}  // namespace hone::frontend
