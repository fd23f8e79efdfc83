#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

bool is_view(const Node& node) {
  return is_op(node, "Reshape") || is_op(node, "Flatten") || is_op(node, "Squeeze") || is_op(node, "Unsqueeze");
}

}  // namespace

Draft merge_reshapes(Draft draft) {
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (!is_view(node)) return;
    const Node* before = rewriter.maker(node.inputs[0]);
    const OutputSpec* y = rewriter.spec(node.outputs[0]);
    if (!before || !is_view(*before) || !y) return;
    const ValueId x = before->inputs[0];
    const OutputSpec* original = rewriter.spec(x);
    if (original && original->shape == y->shape)
      rewriter.replace(node, {x});
    else
      become(node, "Reshape", {x, rewriter.add_ints(y->shape)}, attributes_of({{"allowzero", std::int64_t{1}}}));
  });
}

}  // namespace hone::graph
