#include "hone/frontend/node_order.h"

#include <functional>
#include <onnx/onnx-ml.pb.h>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace hone::frontend {
namespace {

using Names = std::unordered_set<std::string_view>;

/// Adds the names that a node takes from the graph it stands in.
void add_reads(const onnx::NodeProto& node, Names& reads);

void add_free_names(const onnx::GraphProto& graph, Names& reads) {
  Names inner;
  for (const onnx::NodeProto& node : graph.node()) add_reads(node, inner);
  for (const onnx::ValueInfoProto& output : graph.output()) inner.insert(output.name());
  for (const onnx::ValueInfoProto& input : graph.input()) inner.erase(input.name());
  for (const onnx::TensorProto& initializer : graph.initializer()) inner.erase(initializer.name());
  for (const onnx::SparseTensorProto& initializer : graph.sparse_initializer())
    inner.erase(initializer.values().name());
  for (const onnx::NodeProto& node : graph.node())
    for (const std::string& name : node.output()) inner.erase(name);
  reads.insert(inner.begin(), inner.end());
}

void add_reads(const onnx::NodeProto& node, Names& reads) {
  for (const std::string& name : node.input()) reads.insert(name);
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) add_free_names(attribute.g(), reads);
    for (const onnx::GraphProto& graph : attribute.graphs()) add_free_names(graph, reads);
  }
}

}  // namespace

std::string describe(const onnx::NodeProto& node) {
  if (!node.name().empty()) return fmt::format("{} '{}'", node.op_type(), node.name());
  for (const std::string& output : node.output())
    if (!output.empty()) return fmt::format("{} (makes '{}')", node.op_type(), output);
  return node.op_type();
}

Result<std::vector<const onnx::NodeProto*>> sort_nodes(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  std::unordered_map<std::string_view, int> maker;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& output : nodes[i].output())
      if (!output.empty()) maker.emplace(output, i);

  std::vector<std::vector<int>> readers(static_cast<std::size_t>(nodes.size()));
  std::vector<int> missing(static_cast<std::size_t>(nodes.size()));
  for (int i = 0; i < nodes.size(); ++i) {
    Names reads;
    add_reads(nodes[i], reads);
    for (const std::string_view name : reads)
      if (const auto found = maker.find(name); found != maker.end()) {
        readers[static_cast<std::size_t>(found->second)].push_back(i);
        ++missing[static_cast<std::size_t>(i)];
      }
  }

  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (missing[static_cast<std::size_t>(i)] == 0) ready.push(i);
  std::vector<const onnx::NodeProto*> sorted;
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    sorted.push_back(&nodes[next]);
    for (const int reader : readers[static_cast<std::size_t>(next)])
      if (--missing[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
  }
  if (sorted.size() == static_cast<std::size_t>(nodes.size())) return sorted;

  std::string waiting;
  int named = 0;
  constexpr int kMaxNamed = 5;
  for (int i = 0; i < nodes.size(); ++i)
    if (missing[static_cast<std::size_t>(i)] > 0 && named++ < kMaxNamed)
      waiting += (named > 1 ? ", " : "") + describe(nodes[i]);
  if (named > kMaxNamed) waiting += fmt::format(" and {} more", named - kMaxNamed);
  return error(ErrorCode::InvalidArgument, "the graph has a cycle: these nodes wait for each other: {}", waiting);
}

}  // namespace hone::frontend
