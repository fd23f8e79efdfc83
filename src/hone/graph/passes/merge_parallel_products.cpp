#include <algorithm>
#include <cstring>
#include <map>

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

/// The axis of a product's weights that its outputs lie along, and that of its result.
struct OutputAxes {
  std::size_t weight;
  std::int64_t result;
};

/// Nothing if the node is no product with constant weights that could do more at once.
std::optional<OutputAxes> output_axes(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 2 || node.outputs.size() != 1) return std::nullopt;
  const runtime::Tensor* weight = graph.constant_tensor(node.inputs[1]);
  if (!weight) return std::nullopt;
  if (is_op(node, "MatMul") && weight->rank() == 2) return OutputAxes{1, -1};
  if (is_op(node, "Gemm") && weight->rank() == 2)
    return OutputAxes{node.attributes.integer("transB", 0) != 0 ? 0U : 1U, 1};
  if (is_op(node, "Conv") && weight->rank() >= 3 && node.attributes.integer("group", 1) == 1) return OutputAxes{0, 1};
  return std::nullopt;
}

/// Whether the node has no bias, or a constant one with an entry for each output.
bool has_simple_bias(const Graph& graph, const Node& node, std::int64_t outputs) {
  if (node.inputs.size() < 3 || node.inputs[2] == kAbsent) return true;
  const runtime::Tensor* bias = graph.constant_tensor(node.inputs[2]);
  return bias && bias->shape() == Shape{outputs};
}

/// Whether two products can be one, computed from the same input.
bool can_join(const Graph& graph, const Node& a, const Node& b, const OutputAxes& axes) {
  if (a.op != b.op || a.opset != b.opset || a.inputs[0] != b.inputs[0] || has_bias(a) != has_bias(b)) return false;
  const runtime::Tensor *x = graph.constant_tensor(a.inputs[1]), *y = graph.constant_tensor(b.inputs[1]);
  if (x->type() != y->type() || x->rank() != y->rank()) return false;
  for (std::size_t axis = 0; axis < x->rank(); ++axis)
    if (axis != axes.weight && x->extent(axis) != y->extent(axis)) return false;
  return is_equal(a.attributes, b.attributes);
}

/// Tensors one after the other along an axis.
std::optional<runtime::Tensor> joined(const std::vector<const runtime::Tensor*>& parts, std::size_t axis) {
  Shape shape = parts[0]->shape();
  shape[axis] = 0;
  for (const runtime::Tensor* part : parts) shape[axis] += part->extent(axis);
  Result<runtime::Tensor> made = runtime::Tensor::allocate(parts[0]->type(), shape);
  if (!made) return std::nullopt;
  std::size_t rows = 1;
  for (std::size_t i = 0; i < axis; ++i) rows *= static_cast<std::size_t>(shape[i]);
  std::byte* to = made->data();
  for (std::size_t row = 0; row < rows; ++row)
    for (const runtime::Tensor* part : parts) {
      const std::size_t bytes = part->bytes() / rows;
      if (bytes > 0) std::memcpy(to, part->data() + row * bytes, bytes);
      to += bytes;
    }
  return *std::move(made);
}

/// Products that read one value, and what becomes of their results.
struct Family {
  OutputAxes axes;
  std::vector<Node> members;
  std::vector<ValueId> results;  ///< set when the first member is met
};

/// Computes all members of a family at once.
bool join(Rewriter& rewriter, Family& family) {
  const auto constants = [&](std::size_t input) {
    std::vector<const runtime::Tensor*> parts;
    for (const Node& member : family.members) parts.push_back(rewriter.constant(member.inputs[input]));
    return parts;
  };
  auto weight = joined(constants(1), family.axes.weight);
  if (!weight) return false;
  std::vector<std::int64_t> sizes;
  for (const runtime::Tensor* part : constants(1)) sizes.push_back(part->extent(family.axes.weight));
  std::vector<ValueId> inputs = {family.members[0].inputs[0], rewriter.add_constant(*std::move(weight))};
  if (has_bias(family.members[0])) {
    auto bias = joined(constants(2), 0);
    if (!bias) return false;
    inputs.push_back(rewriter.add_constant(*std::move(bias)));
  }
  const ValueId all = rewriter.add_like(family.members[0], std::move(inputs));
  family.results = rewriter.add_node("Split", {all, rewriter.add_ints(sizes)}, sizes.size(),
                                     attributes_of({{"axis", family.axes.result}}));
  return true;
}

}  // namespace

Draft merge_parallel_products(Draft draft) {
  const Graph& graph = draft.graph;
  std::map<ValueId, std::vector<Family>> by_input;
  for (const Node& node : graph.nodes) {
    const auto axes = output_axes(graph, node);
    if (!axes) continue;
    if (!has_simple_bias(graph, node, graph.constant_tensor(node.inputs[1])->extent(axes->weight))) continue;
    std::vector<Family>& families = by_input[node.inputs[0]];
    const auto found = std::find_if(families.begin(), families.end(),
                                    [&](const Family& f) { return can_join(graph, f.members[0], node, *axes); });
    if (found == families.end())
      families.push_back({*axes, {node}, {}});
    else
      found->members.push_back(node);
  }
  std::map<ValueId, std::pair<Family*, std::size_t>> places;  // by the result of a member
  for (auto& [input, families] : by_input)
    for (Family& family : families)
      for (std::size_t i = 0; i < family.members.size() && family.members.size() > 1; ++i)
        places[family.members[i].outputs[0]] = {&family, i};
  return rewrite(std::move(draft), [&](Rewriter& rewriter, Node& node) {
    const auto place = node.outputs.empty() ? places.end() : places.find(node.outputs[0]);
    if (place == places.end()) return;
    auto [family, i] = place->second;
    if (i == 0 && !join(rewriter, *family)) return;
    if (!family->results.empty()) rewriter.replace(node, {family->results[i]});
  });
}

}  // namespace hone::graph
