#include <algorithm>

#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

/// Whether elementwise nodes after this one become a part of its kernel.
bool takes_in_elementwise(const Node& node) {
  return is_elementwise(node) || is_op(node, "Gemm") || is_op(node, "MatMul") || node.op == "FusedMatMul" ||
         is_op(node, "Conv") || is_op(node, "ConvTranspose");
}

/// What stands before a view that only the current node reads, if it is worth joining.
ValueId before_view(const Rewriter& rewriter, ValueId id) {
  const Node* view = id != kAbsent && rewriter.uses(id) == 1 ? rewriter.maker(id) : nullptr;
  if (!view || !is_view(*view)) return kAbsent;
  const ValueId x = view->inputs[0];
  const Node* maker = rewriter.maker(x);
  return maker && rewriter.uses(x) == 1 && takes_in_elementwise(*maker) && rewriter.spec(x) ? x : kAbsent;
}

/// The shape that an operand has beside `before` when it has its own beside `after`, which has the same elements; none
/// if it would have to be repeated in another way.
std::optional<Shape> shape_before(const Shape& operand, const Shape& before, const Shape& after) {
  const bool is_single = std::all_of(operand.begin(), operand.end(), [](std::int64_t extent) { return extent == 1; });
  if (is_single) return Shape();
  if (operand == after) return before;
  // A vector along the last axis, if that is the same in both.
  const auto extent = operand.back();
  const bool is_vector = std::all_of(operand.begin(), operand.end() - 1, [](std::int64_t e) { return e == 1; });
  const bool keeps_last = !before.empty() && before.back() == extent && after.back() == extent;
  if (is_vector && keeps_last) return Shape{extent};
  return std::nullopt;
}

void sink(Rewriter& rewriter, Node& node) {
  const OutputSpec* result = rewriter.spec(node.outputs[0]);
  if (!result) return;
  const Shape after = result->shape;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId x = before_view(rewriter, node.inputs[i]);
    if (x == kAbsent || rewriter.spec(node.inputs[i])->shape != after) continue;
    const Shape before = rewriter.spec(x)->shape;
    std::vector<std::optional<Shape>> shapes;
    for (std::size_t j = 0; j < node.inputs.size(); ++j) {
      const OutputSpec* operand = rewriter.spec(node.inputs[j]);
      const bool is_free = node.inputs[j] == kAbsent || j == i;
      shapes.push_back(is_free   ? std::optional<Shape>(Shape())
                       : operand ? shape_before(operand->shape, before, after)
                                 : std::nullopt);
    }
    if (std::any_of(shapes.begin(), shapes.end(), [](const auto& shape) { return !shape; })) continue;
    std::vector<ValueId> inputs = node.inputs;
    inputs[i] = x;
    for (std::size_t j = 0; j < inputs.size(); ++j)
      if (j != i && inputs[j] != kAbsent) inputs[j] = rewriter.reshaped(inputs[j], *shapes[j]);
    const ValueId computed = rewriter.add_like(node, std::move(inputs));
    rewriter.become_reshape(node, computed, after);
    return;
  }
}

}  // namespace

Draft sink_reshapes(Draft draft) {
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (is_elementwise(node)) sink(rewriter, node);
  });
}

}  // namespace hone::graph
