#include <algorithm>

#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

/// The extents of all axes but the last.
Shape rows_of(const Shape& shape) { return {shape.begin(), shape.end() - 1}; }

void flatten(Rewriter& rewriter, Node& node) {
  const OutputSpec *x = rewriter.spec(node.inputs[0]), *weight = rewriter.spec(node.inputs[1]);
  const OutputSpec* y = rewriter.spec(node.outputs[0]);
  if (!x || !weight || !y || weight->shape.size() != 2 || x->shape.size() < 3) return;
  const Shape rows = rows_of(x->shape), result = y->shape;
  const bool has_several = std::count_if(rows.begin(), rows.end(), [](std::int64_t extent) { return extent > 1; }) > 1;
  if (!has_several || std::find(rows.begin(), rows.end(), 0) != rows.end()) return;
  const std::int64_t columns = x->shape.back();
  std::int64_t count = 1;
  for (const std::int64_t extent : rows) count *= extent;
  const ValueId flat = rewriter.reshaped(node.inputs[0], {count, columns});
  const ValueId product = rewriter.add_like(node, {flat, node.inputs[1]});
  rewriter.become_reshape(node, product, result);
}

}  // namespace

Draft flatten_products(Draft draft) {
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (is_op(node, "MatMul")) flatten(rewriter, node);
  });
}

}  // namespace hone::graph
