#include <cmath>
#include <map>

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/operators/families.h"

namespace hone::graph {
namespace {

/// Copies the nodes of a graph with one input and one output into the builder; the copy of the output.
Result<Shaped> inlined(const Application& op, Builder& builder, const Subgraph& subgraph, const Shaped& input) {
  const Graph& inner = *subgraph.graph;
  if (inner.inputs.size() != 1 || inner.outputs.size() != 1)
    return op.fail("a modifier of {} inputs and {} outputs, allowed are 1 and 1", inner.inputs.size(),
                   inner.outputs.size());
  std::map<ValueId, ValueId> copies = {{inner.inputs[0], input.id}};
  for (std::size_t i = 0; i < inner.captured.size(); ++i) copies[inner.captured[i]] = subgraph.captures[i];
  for (const auto& [id, value] : inner.constants) copies[id] = builder.graph().add_constant("constant", value);
  const auto copy_of = [&](ValueId id) { return id == kAbsent ? kAbsent : copies.at(id); };
  for (const Node& node : inner.nodes) {
    Node copy = node;
    for (ValueId& id : copy.inputs) id = copy_of(id);
    for (auto& [name, nested] : copy.subgraphs)
      for (ValueId& id : nested.captures) id = copy_of(id);
    for (ValueId& id : copy.outputs) {
      if (id == kAbsent) continue;
      const ValueId fresh = builder.graph().add_value(inner.name_of(id));
      copies[id] = fresh;
      id = fresh;
    }
    builder.nodes().push_back(std::move(copy));
  }
  return Shaped{copies.at(inner.outputs[0]), input.shape};
}

/// Scores, their modifier, softmax, the modifier of its result, and the values weighed by that.
Result<std::vector<ValueId>> expand_flex_attention(const Application& op, Builder& builder) {
  Parts parts(op, builder);
  for (std::size_t i = 0; i < 3; ++i)
    if (op.rank(i) != 4) return op.fail("input {} has {} axes, allowed are 4", i, op.rank(i));
  const Shape &q = op.shape(0), &k = op.shape(1), &v = op.shape(2);
  if (k[1] < 1 || q[1] % k[1] != 0 || k[1] != v[1] || q[3] != k[3] || k[2] != v[2] || q[0] != k[0] || q[0] != v[0])
    return op.fail("query, key and value do not fit: {} by {} heads of {} and {}", q[1], k[1], q[3], k[3]);
  const std::int64_t rows = q[1] / k[1] * q[2];
  const ElementType outer = op.type(0);
  const auto type = static_cast<ElementType>(op.integer(
      "softmax_precision", static_cast<std::int64_t>(outer == ElementType::F64 ? ElementType::F64 : ElementType::F32)));
  if (!runtime::is_float(type))
    return op.fail("softmax_precision {}, allowed are float types", op.integer("softmax_precision", 0));
  const auto convert = [&](const Shaped& x, ElementType from, ElementType to) {
    return from == to ? x : parts.cast(x, to);
  };
  const double scale = op.real("scale", 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(q[3], 1))));
  const Shaped query = parts.reshape(convert(parts.input(0), outer, type), {q[0], k[1], rows, q[3]});
  const Shaped key = convert(parts.input(1), outer, type);
  const ValueId product =
      builder.add_node("com.microsoft", "FusedMatMul", {query.id, key.id}, 1,
                       attributes_of({{"transB", std::int64_t{1}}, {"alpha", static_cast<float>(scale)}}))[0];
  Shaped scores = parts.reshape({product, {q[0], k[1], rows, k[2]}}, {q[0], q[1], q[2], k[2]});
  const auto modify = [&](const char* name) -> Result<void> {
    const auto found = op.node().subgraphs.find(name);
    if (found == op.node().subgraphs.end()) return {};
    HONE_TRY(scores, inlined(op, builder, found->second, scores));
    return {};
  };
  HONE_TRY(modify("score_mod"));
  scores = {builder.add("Softmax", {scores.id}, attributes_of({{"axis", std::int64_t{-1}}})), scores.shape};
  HONE_TRY(modify("prob_mod"));
  const Shaped weights = parts.reshape(convert(scores, type, outer), {q[0], k[1], rows, k[2]});
  const Shaped y{builder.add("MatMul", {weights.id, op.id(2)}), {q[0], k[1], rows, v[3]}};
  return std::vector{parts.reshape(y, {q[0], q[1], q[2], v[3]}).id};
}

}  // namespace

std::span<const Operator> flex_attention_operators() {
  static const Operator entries[] = {
      {.name = "FlexAttention",
       .domain = "ai.onnx.preview",
       .schema = "Q: T, K: T, V: T -> Y: T; prob_mod, scale, score_mod, softmax_precision; T: float",
       .expand = expand_flex_attention},
  };
  return entries;
}

}  // namespace hone::graph
