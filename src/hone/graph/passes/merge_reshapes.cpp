#include "hone/graph/passes/passes.h"

namespace hone::graph {
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
      rewriter.become_reshape(node, x, y->shape);
  });
}

}  // namespace hone::graph
