#include <algorithm>
#include <cmath>

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

/// softmax(q · kᵀ · scale + mask) · v, found in several nodes.
struct Attention {
  ValueId q = kAbsent, keys = kAbsent;  ///< keys: kᵀ, as the product reads it
  ValueId v = kAbsent;
  ValueId mask = kAbsent;                    ///< numbers that are added
  ValueId seen = kAbsent, hidden = kAbsent;  ///< or bools that say which scores count, and what stands for the others
  double scale = 1;
};

/// What a number multiplies or divides; the number joins `scale`.
ValueId without_scale(const Rewriter& rewriter, ValueId id, double& scale) {
  for (const std::string_view op : {"Mul", "Div"}) {
    const Node* node = rewriter.sole_maker(id, op);
    if (!node) continue;
    for (std::size_t x = 0; x < (op == "Mul" ? 2U : 1U); ++x)
      if (const auto number = rewriter.number_beside(node->inputs[1 - x], node->inputs[x])) {
        scale *= op == "Mul" ? *number : 1 / *number;
        return without_scale(rewriter, node->inputs[x], scale);
      }
  }
  return id;
}

/// Takes off an additive mask, or a choice between a score and the lowest number.
ValueId without_mask(const Rewriter& rewriter, ValueId scores, Attention& found) {
  if (const Node* sum = rewriter.sole_maker(scores, "Add"))
    for (const std::size_t x : {0, 1}) {
      double ignored = 1;
      const ValueId product = without_scale(rewriter, sum->inputs[x], ignored);
      if (!rewriter.sole_maker(product, "MatMul") || !rewriter.fits_into(sum->inputs[1 - x], sum->inputs[x])) continue;
      found.mask = sum->inputs[1 - x];
      return sum->inputs[x];
    }
  if (const Node* choice = rewriter.sole_maker(scores, "Where")) {
    const auto hidden = rewriter.number_beside(choice->inputs[2], choice->inputs[1]);
    constexpr double kLowest = -1e36;  // so low that adding a score does not change it
    if (hidden && std::isfinite(*hidden) && *hidden < kLowest &&
        rewriter.fits_into(choice->inputs[0], choice->inputs[1])) {
      found.seen = choice->inputs[0];
      found.hidden = choice->inputs[2];
      return choice->inputs[1];
    }
  }
  return scores;
}

/// Whether the node is a softmax over the last axis.
bool is_over_last_axis(const Rewriter& rewriter, const Node& softmax) {
  const OutputSpec* x = rewriter.spec(softmax.inputs[0]);
  if (!x) return false;
  const auto rank = static_cast<std::int64_t>(x->shape.size());
  const std::int64_t axis = softmax.attributes.integer("axis", softmax.opset < 13 ? 1 : -1);
  return axis == -1 || axis == rank - 1;
}

std::optional<Attention> attention_of(const Rewriter& rewriter, const Node& node) {
  Attention found{.v = node.inputs[1]};
  const Node* softmax = rewriter.sole_maker(node.inputs[0], "Softmax");
  if (!softmax || !is_over_last_axis(rewriter, *softmax)) return std::nullopt;
  const ValueId scores = without_mask(rewriter, softmax->inputs[0], found);
  const Node* product = rewriter.sole_maker(without_scale(rewriter, scores, found.scale), "MatMul");
  if (!product) return std::nullopt;
  found.q = without_scale(rewriter, product->inputs[0], found.scale);
  found.keys = without_scale(rewriter, product->inputs[1], found.scale);
  const auto scale = static_cast<float>(found.scale);
  const OutputSpec* y = rewriter.spec(node.outputs[0]);
  if (!y || !std::isfinite(scale) || scale <= 0) return std::nullopt;
  // Narrow types are rounded after each node, which a fused operator does not do.
  if (y->type != ElementType::F32 || y->shape.size() < 2) return std::nullopt;
  if (y->shape[y->shape.size() - 2] < kFewestFusedQueries) return std::nullopt;
  return found;
}

/// The keys with one row each, if a Transpose made columns of them.
ValueId rows_of(Rewriter& rewriter, ValueId keys) {
  const Node* transpose = rewriter.maker(keys, "Transpose");
  if (!transpose || !transpose->attributes.has("perm")) return kAbsent;
  std::vector<std::int64_t> order = transpose->attributes.integers("perm");
  if (order.size() < 2) return kAbsent;
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  if (std::is_sorted(order.begin(), order.end())) return transpose->inputs[0];
  return rewriter.add("Transpose", {transpose->inputs[0]}, attributes_of({{"perm", std::move(order)}}));
}

/// x[batch, groups, …] of which each entry of axis 1 was repeated for several heads; x itself if nothing was.
ValueId ungrouped(const Rewriter& rewriter, ValueId x) {
  const Node* joined = rewriter.maker(x, "Reshape");
  const Node* repeated = joined ? rewriter.maker(joined->inputs[0], "Expand") : nullptr;
  const Node* spread = repeated ? rewriter.maker(repeated->inputs[0]) : nullptr;
  if (!spread || !(is_op(*spread, "Unsqueeze") || is_op(*spread, "Reshape"))) return x;
  const OutputSpec *heads = rewriter.spec(x), *many = rewriter.spec(joined->inputs[0]);
  const OutputSpec *one = rewriter.spec(repeated->inputs[0]), *groups = rewriter.spec(spread->inputs[0]);
  if (!heads || !many || !one || !groups || groups->shape.size() != 4 || many->shape.size() != 5) return x;
  const Shape& g = groups->shape;
  const std::int64_t times = many->shape[2];
  const bool is_repeated = one->shape == Shape{g[0], g[1], 1, g[2], g[3]} &&
                           many->shape == Shape{g[0], g[1], times, g[2], g[3]} &&
                           heads->shape == Shape{g[0], g[1] * times, g[2], g[3]};
  return is_repeated ? spread->inputs[0] : x;
}

/// The extents of batch, heads, rows and columns; none if there are other axes.
std::optional<Shape> extents_of(const Rewriter& rewriter, ValueId id) {
  const OutputSpec* spec = rewriter.spec(id);
  if (!spec || (spec->shape.size() != 4 && spec->shape.size() != 3)) return std::nullopt;
  Shape shape = spec->shape;
  if (shape.size() == 3) shape.insert(shape.begin(), 1);  // what was the batch takes the place of the heads
  return shape;
}

/// Whether all have the same number of axes, and none is spread over the batch or the heads of another.
bool is_aligned(const Rewriter& rewriter, std::initializer_list<ValueId> operands) {
  const auto first = extents_of(rewriter, *operands.begin());
  return std::all_of(operands.begin(), operands.end(), [&](ValueId id) {
    const auto extents = extents_of(rewriter, id);
    return first && extents && (*extents)[0] == (*first)[0] && (*extents)[1] == (*first)[1] && (*first)[1] > 0 &&
           rewriter.spec(id)->shape.size() == rewriter.spec(*operands.begin())->shape.size();
  });
}

void recognize_attention_node(Rewriter& rewriter, Node& node) {
  auto found = attention_of(rewriter, node);
  if (!found) return;
  if (!is_aligned(rewriter, {found->q, found->keys, found->v})) return;
  ValueId k = rows_of(rewriter, found->keys);
  if (k == kAbsent) return;

  const ValueId few_k = ungrouped(rewriter, k), few_v = ungrouped(rewriter, found->v);
  if (few_k != k && few_v != found->v && rewriter.spec(few_k)->shape[1] == rewriter.spec(few_v)->shape[1]) {
    k = few_k;
    found->v = few_v;
  }
  const auto with_heads = [&](ValueId id) {
    if (rewriter.spec(id)->shape.size() == 4) return id;
    return rewriter.reshaped(id, *extents_of(rewriter, id));
  };
  const bool is_flat = rewriter.spec(found->q)->shape.size() == 3;
  std::vector<ValueId> inputs = {with_heads(found->q), with_heads(k), with_heads(found->v)};
  if (found->seen != kAbsent) {
    const ValueId zero = rewriter.add_constant(*rounded(rewriter.spec(found->hidden)->type, {}, {0}));
    found->mask = rewriter.add("Where", {found->seen, zero, found->hidden});
  }
  if (found->mask != kAbsent) inputs.push_back(found->mask);
  Attributes attributes =
      attributes_of({{"scale", static_cast<float>(found->scale)}, {"plain_softmax", std::int64_t{1}}});
  if (!is_flat) return become(node, "FusedAttention", std::move(inputs), std::move(attributes), "hone");
  const ValueId attended = rewriter.add("FusedAttention", std::move(inputs), std::move(attributes), "hone");
  rewriter.become_reshape(node, attended, rewriter.spec(node.outputs[0])->shape);
}

}  // namespace

Draft recognize_attention(Draft draft) {
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (is_op(node, "MatMul")) recognize_attention_node(rewriter, node);
  });
}

}  // namespace hone::graph
