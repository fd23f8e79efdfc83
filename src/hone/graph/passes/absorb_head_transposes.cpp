#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

using Order = std::vector<std::int64_t>;

bool is_attention(const Node& node) { return node.op == "FusedAttention" && node.domain == "hone"; }

/// Which operand has positions before heads: bits for query, key, value and result.
std::int64_t positions_first(const Node& node) { return node.attributes.integer("positions_first", 0); }
constexpr std::int64_t kResult = 8;

Order order_of(const Node& transpose) { return transpose.attributes.integers("perm"); }

/// The value that a Transpose swapped heads and positions of, as [batch, position, head, size]; kAbsent if none did.
ValueId before_swap(Rewriter& rewriter, ValueId id) {
  const OutputSpec* spec = rewriter.spec(id);
  if (!spec || spec->shape.size() != 4) return kAbsent;
  const Shape shape = spec->shape;
  if (const Node* transpose = rewriter.maker(id, "Transpose"))
    return order_of(*transpose) == Order{0, 2, 1, 3} ? transpose->inputs[0] : kAbsent;
  // Without a batch, the axis may have been added later.
  const Node* view = rewriter.maker(id);
  const Node* transpose = view && is_view(*view) ? rewriter.maker(view->inputs[0], "Transpose") : nullptr;
  if (!transpose || shape[0] != 1 || order_of(*transpose) != Order{1, 0, 2}) return kAbsent;
  const OutputSpec* swapped = rewriter.spec(view->inputs[0]);
  if (!swapped || swapped->shape != Shape{shape[1], shape[2], shape[3]}) return kAbsent;
  return rewriter.reshaped(transpose->inputs[0], {1, shape[2], shape[1], shape[3]});
}

void absorb_inputs(Rewriter& rewriter, Node& node) {
  std::int64_t first = positions_first(node);
  for (const std::size_t i : {0, 1, 2}) {
    const std::int64_t bit = std::int64_t{1} << i;
    if ((first & bit) != 0) continue;
    const ValueId x = before_swap(rewriter, node.inputs[i]);
    if (x == kAbsent) continue;
    node.inputs[i] = x;
    first |= bit;
  }
  if (first != positions_first(node)) node.attributes.set("positions_first", first);
}

/// Makes a Transpose of an attention's result that attention, if nobody else reads it.
void absorb_result(Rewriter& rewriter, Node& node) {
  const Node* attention = rewriter.maker(node.inputs[0]);
  const OutputSpec *x = rewriter.spec(node.inputs[0]), *y = rewriter.spec(node.outputs[0]);
  if (!attention || !is_attention(*attention) || rewriter.uses(node.inputs[0]) != 1 || !x || !y) return;
  if ((positions_first(*attention) & kResult) != 0) return;
  const Order order = order_of(node);
  const bool is_single = x->shape[0] == 1 && order == Order{2, 0, 1, 3};  // with the batch in another place
  if (order != Order{0, 2, 1, 3} && !is_single) return;
  const Shape result = y->shape;
  Attributes attributes = attention->attributes;
  attributes.set("positions_first", positions_first(*attention) | kResult);
  if (!is_single) return become(node, "FusedAttention", attention->inputs, std::move(attributes), "hone");
  const ValueId swapped = rewriter.add("FusedAttention", attention->inputs, std::move(attributes), "hone");
  rewriter.become_reshape(node, swapped, result);
}

}  // namespace

Draft absorb_head_transposes(Draft draft) {
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (is_attention(node)) absorb_inputs(rewriter, node);
    if (is_op(node, "Transpose")) absorb_result(rewriter, node);
  });
}

}  // namespace hone::graph
