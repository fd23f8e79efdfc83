#include "hone/graph/graph.h"

#include <fmt/format.h>
#include <set>

namespace hone::graph {
namespace {

std::string dimension_text(const Dimension& dimension) {
  if (dimension.extent) return fmt::format("{}", *dimension.extent);
  return dimension.symbol.empty() ? "?" : dimension.symbol;
}

void print(const Graph& graph, const std::string& indent, std::string& text) {
  const auto name = [&](ValueId id) { return id == kAbsent ? std::string("_") : graph.name_of(id); };
  const auto names = [&](const std::vector<ValueId>& ids) {
    std::vector<std::string> all;
    for (const ValueId id : ids) all.push_back(name(id));
    return fmt::format("{}", fmt::join(all, ", "));
  };
  for (const ValueId id : graph.inputs)
    text +=
        fmt::format("{}input {}: {}\n", indent, name(id), to_string(graph.values[static_cast<std::size_t>(id)].type));
  for (const auto& [id, value] : graph.constants)
    text += fmt::format("{}constant {}: {}\n", indent, name(id), value.describe());
  for (const Node& node : graph.nodes) {
    text += fmt::format("{}{} = {}{}({})\n", indent, names(node.outputs), node.domain.empty() ? "" : node.domain + ".",
                        node.op, names(node.inputs));
    for (const auto& [attribute, subgraph] : node.subgraphs) {
      text += fmt::format("{}  {} captures ({}):\n", indent, attribute, names(subgraph.captures));
      print(*subgraph.graph, indent + "    ", text);
    }
  }
  text += fmt::format("{}output {}\n", indent, names(graph.outputs));
}

}  // namespace

std::string to_string(const Type& type) {
  switch (type.kind) {
    case TypeKind::Tensor: {
      std::string text = fmt::format("tensor({})", runtime::name_of(type.element));
      if (!type.dimensions) return text;
      std::vector<std::string> extents;
      for (const Dimension& dimension : *type.dimensions) extents.push_back(dimension_text(dimension));
      return fmt::format("{}[{}]", text, fmt::join(extents, ", "));
    }
    case TypeKind::Sequence:
      return fmt::format("sequence({})", type.content ? to_string(*type.content) : "?");
    case TypeKind::Optional:
      return fmt::format("optional({})", type.content ? to_string(*type.content) : "?");
    case TypeKind::Map:
      return fmt::format("map({}, {})", runtime::name_of(type.element), type.content ? to_string(*type.content) : "?");
  }
  return "?";
}

std::string describe(const Graph& graph, const Node& node) {
  if (!node.name.empty()) return fmt::format("{} '{}'", node.op, node.name);
  for (const ValueId id : node.outputs)
    if (id != kAbsent) return fmt::format("{} (makes '{}')", node.op, graph.name_of(id));
  return node.op;
}

ValueId Graph::add_value(std::string wanted_name, Type type) {
  // Names that are given twice are rare, so that looking for them would cost more than it is worth: new values get a
  // number that no importer writes.
  std::string unique = fmt::format("{}~{}", wanted_name, next_name_++);
  values.push_back({std::move(unique), std::move(type)});
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_constant(std::string wanted_name, runtime::Value value) {
  const ValueId id = add_value(std::move(wanted_name));
  constants.emplace(id, std::move(value));
  return id;
}

void Graph::take_names(const Graph& other) {
  values = other.values;
  next_name_ = other.next_name_;
}

const runtime::Tensor* Graph::constant_tensor(ValueId id) const {
  const auto found = constants.find(id);
  return found == constants.end() ? nullptr : found->second.tensor();
}

runtime::Body::Declared declared_output(const Graph& graph, std::size_t output) {
  if (output >= graph.outputs.size()) return {};
  const Type& type = graph.values[static_cast<std::size_t>(graph.outputs[output])].type;
  runtime::Body::Declared declared;
  if (type.kind != TypeKind::Tensor) return declared;
  declared.type = type.element;
  if (type.dimensions)
    for (const Dimension& dimension : *type.dimensions) declared.shape.push_back(dimension.extent.value_or(0));
  return declared;
}

std::vector<ValueId> reads_of(const Node& node) {
  std::vector<ValueId> reads;
  for (const ValueId id : node.inputs)
    if (id != kAbsent) reads.push_back(id);
  for (const auto& [name, subgraph] : node.subgraphs)
    reads.insert(reads.end(), subgraph.captures.begin(), subgraph.captures.end());
  return reads;
}

Result<void> verify(const Graph& graph) {
  const auto count = static_cast<ValueId>(graph.values.size());
  std::vector<bool> is_made(graph.values.size());
  const auto make = [&](ValueId id, std::string_view as) -> Result<void> {
    if (id < 0 || id >= count) return error(ErrorCode::VerifyError, "{} has the id {} of {} values", as, id, count);
    if (is_made[static_cast<std::size_t>(id)])
      return error(ErrorCode::VerifyError, "value '{}' has two sources", graph.name_of(id));
    is_made[static_cast<std::size_t>(id)] = true;
    return {};
  };
  const auto read = [&](ValueId id, const std::string& by) -> Result<void> {
    if (id < 0 || id >= count) return error(ErrorCode::VerifyError, "{} reads the id {} of {} values", by, id, count);
    if (!is_made[static_cast<std::size_t>(id)])
      return error(ErrorCode::VerifyError, "{} reads '{}' before it is computed", by, graph.name_of(id));
    return {};
  };
  for (const ValueId id : graph.inputs) HONE_TRY(make(id, "an input"));
  for (const ValueId id : graph.captured) HONE_TRY(make(id, "a captured value"));
  for (const auto& [id, value] : graph.constants) HONE_TRY(make(id, "a constant"));
  for (const Node& node : graph.nodes) {
    for (const ValueId id : reads_of(node)) HONE_TRY(read(id, describe(graph, node)));
    for (const auto& [name, subgraph] : node.subgraphs) {
      if (subgraph.captures.size() != subgraph.graph->captured.size())
        return error(ErrorCode::VerifyError, "{}: '{}' captures {} values for {}", describe(graph, node), name,
                     subgraph.captures.size(), subgraph.graph->captured.size());
      HONE_TRY(verify(*subgraph.graph));
    }
    for (const ValueId id : node.outputs)
      if (id != kAbsent) HONE_TRY(make(id, "an output"));
  }
  for (const ValueId id : graph.outputs) HONE_TRY(read(id, "the graph's output"));
  std::set<std::string_view> names;
  for (const ValueInfo& value : graph.values)
    if (!names.insert(value.name).second) return error(ErrorCode::VerifyError, "two values are named '{}'", value.name);
  return {};
}

std::string to_string(const Graph& graph) {
  std::string text = fmt::format("graph {}\n", graph.name);
  print(graph, "  ", text);
  return text;
}

}  // namespace hone::graph
