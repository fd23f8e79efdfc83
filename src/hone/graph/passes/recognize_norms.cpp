#include <algorithm>
#include <array>

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

/// x / √(mean(x²) + epsilon), the mean taken over the last axes, from `axis` on.
struct Normalized {
  ValueId x = kAbsent;
  std::int64_t axis = -1;  ///< counted from the end
  float epsilon = 0;
  ElementType type = ElementType::Undefined;
  std::size_t squared_uses = 0;  ///< how often the square reads x
};

/// The first of the axes, counted from the end, if a ReduceMean that keeps them goes over all axes from there on.
std::optional<std::int64_t> first_axis(const Rewriter& rewriter, const Node& mean) {
  if (mean.inputs.size() != 2 || mean.attributes.integer("keepdims", 1) == 0) return std::nullopt;
  const runtime::Tensor* constant = rewriter.constant(mean.inputs[1]);
  if (!constant || constant->size() == 0) return std::nullopt;
  std::vector<std::int64_t> axes = *constant->to_ints();
  const OutputSpec* x = rewriter.spec(mean.inputs[0]);
  for (std::int64_t& axis : axes) {
    if (axis < 0) continue;
    if (!x) return std::nullopt;
    axis -= static_cast<std::int64_t>(x->shape.size());
  }
  std::sort(axes.begin(), axes.end());
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[axes.size() - 1 - i] != -1 - static_cast<std::int64_t>(i)) return std::nullopt;
  return axes.front();
}

/// mean(x²) + epsilon, of which the square is read by the mean alone.
std::optional<Normalized> mean_square(const Rewriter& rewriter, ValueId id) {
  const Node* sum = rewriter.sole_maker(id, "Add");
  if (!sum) return std::nullopt;
  for (const std::size_t i : {0, 1}) {
    const Node* mean = rewriter.sole_maker(sum->inputs[i], "ReduceMean");
    const auto epsilon = rewriter.number_beside(sum->inputs[1 - i], sum->inputs[i]);
    if (!mean || !epsilon || static_cast<double>(static_cast<float>(*epsilon)) != *epsilon) continue;
    const auto axis = first_axis(rewriter, *mean);
    if (!axis) return std::nullopt;
    Normalized found{
        .axis = *axis, .epsilon = static_cast<float>(*epsilon), .type = rewriter.constant(sum->inputs[1 - i])->type()};
    if (const Node* power = rewriter.sole_maker(mean->inputs[0], "Pow")) {
      if (rewriter.number_beside(power->inputs[1], power->inputs[0]) != 2.0) return std::nullopt;
      found.x = power->inputs[0];
      found.squared_uses = 1;
      return found;
    }
    const Node* square = rewriter.sole_maker(mean->inputs[0], "Mul");
    if (!square || square->inputs[0] != square->inputs[1]) return std::nullopt;
    found.x = square->inputs[0];
    found.squared_uses = 2;
    return found;
  }
  return std::nullopt;
}

/// What is under the root, if `id` is a root of it (exponent 0.5) or one over the root (-0.5).
ValueId under_root(const Rewriter& rewriter, ValueId id, double exponent) {
  if (const Node* power = rewriter.sole_maker(id, "Pow"))
    return rewriter.number_beside(power->inputs[1], power->inputs[0]) == exponent ? power->inputs[0] : kAbsent;
  if (exponent > 0) {
    const Node* root = rewriter.sole_maker(id, "Sqrt");
    return root ? root->inputs[0] : kAbsent;
  }
  if (const Node* reciprocal = rewriter.sole_maker(id, "Reciprocal"))
    return under_root(rewriter, reciprocal->inputs[0], 0.5);
  const Node* quotient = rewriter.sole_maker(id, "Div");
  if (!quotient || rewriter.number_beside(quotient->inputs[0], quotient->inputs[1]) != 1.0) return kAbsent;
  return under_root(rewriter, quotient->inputs[1], 0.5);
}

/// A quotient by the root, or a product with one over it.
std::optional<Normalized> normalized(const Rewriter& rewriter, const Node& node) {
  for (const std::size_t i : {0, 1}) {
    const double exponent = is_op(node, "Div") ? 0.5 : -0.5;
    if (is_op(node, "Div") && i == 1) break;
    const ValueId inner = under_root(rewriter, node.inputs[1 - i], exponent);
    const auto found = inner == kAbsent ? std::nullopt : mean_square(rewriter, inner);
    if (found && found->x == node.inputs[i]) return found;
  }
  return std::nullopt;
}

/// x in x - mean(x), if the mean goes over the same axes and the difference is read by the norm alone.
ValueId centred(const Rewriter& rewriter, const Normalized& norm) {
  const Node* difference = rewriter.maker(norm.x, "Sub");
  if (!difference || rewriter.uses(norm.x) != norm.squared_uses + 1) return kAbsent;
  const Node* mean = rewriter.sole_maker(difference->inputs[1], "ReduceMean");
  if (!mean || mean->inputs[0] != difference->inputs[0]) return kAbsent;
  return first_axis(rewriter, *mean) == norm.axis ? mean->inputs[0] : kAbsent;
}

/// A norm with the factor 1 and no bias: factor and bias are taken in when their nodes are met.
void recognize_norm(Rewriter& rewriter, Node& node) {
  const auto norm = normalized(rewriter, node);
  if (!norm || !runtime::is_float(norm->type)) return;
  const ValueId x = centred(rewriter, *norm);
  const ValueId one = rewriter.add_constant(*rounded(norm->type, {}, {1}));
  Attributes attributes = attributes_of({{"axis", norm->axis}, {"epsilon", norm->epsilon}});
  if (x != kAbsent) {
    become(node, "LayerNormalization", {x, one}, std::move(attributes));
  } else {
    become(node, "RMSNormalization", {norm->x, one}, std::move(attributes));
  }
}

/// x · m + (bias - mean(x) · m) with m = factor / √(variance + epsilon): how TensorFlow writes a layer norm.
void recognize_regrouped(Rewriter& rewriter, Node& node) {
  for (const std::size_t i : {0, 1}) {
    const Node* scaled = rewriter.sole_maker(node.inputs[i], "Mul");
    const Node* shift = rewriter.sole_maker(node.inputs[1 - i], "Sub");
    const Node* scaled_mean = shift ? rewriter.sole_maker(shift->inputs[1], "Mul") : nullptr;
    if (!scaled || !scaled_mean || !rewriter.constant(shift->inputs[0])) continue;
    for (const std::size_t j : {0, 1})
      for (const std::size_t k : {0, 1}) {
        const ValueId x = scaled->inputs[j], m = scaled->inputs[1 - j], mean = scaled_mean->inputs[k];
        if (m != scaled_mean->inputs[1 - k] || rewriter.uses(m) != 2) continue;
        const Node* product = rewriter.maker(m, "Mul");
        if (!product) continue;
        const std::size_t f = rewriter.constant(product->inputs[0]) ? 0 : 1;
        const ValueId factor = product->inputs[f], inner = under_root(rewriter, product->inputs[1 - f], -0.5);
        const auto norm = inner == kAbsent ? std::nullopt : mean_square(rewriter, inner);
        if (!norm || !rewriter.constant(factor)) continue;
        const Node *difference = rewriter.maker(norm->x, "Sub"), *average = rewriter.maker(mean, "ReduceMean");
        if (!difference || !average || difference->inputs != std::vector{x, mean} || average->inputs[0] != x) continue;
        if (rewriter.uses(norm->x) != norm->squared_uses || first_axis(rewriter, *average) != norm->axis) continue;
        if (!rewriter.fits_into(factor, x) || !rewriter.fits_into(shift->inputs[0], x)) continue;
        become(node, "LayerNormalization", {x, factor, shift->inputs[0]},
               attributes_of({{"axis", norm->axis}, {"epsilon", norm->epsilon}}));
        return;
      }
  }
}

/// The norm that makes a value which the current node alone reads.
const Node* norm_before(const Rewriter& rewriter, ValueId id) {
  const Node* norm = rewriter.sole_maker(id, "LayerNormalization");
  return norm ? norm : rewriter.sole_maker(id, "RMSNormalization");
}

/// Takes a constant factor or bias into the norm before it.
void absorb(Rewriter& rewriter, Node& node) {
  for (const std::size_t i : {0, 1}) {
    const Node* norm = norm_before(rewriter, node.inputs[i]);
    const ValueId operand = node.inputs[1 - i];
    if (!norm || has_bias(*norm) || !rewriter.constant(operand) || !rewriter.fits_into(operand, norm->inputs[0]))
      continue;
    std::vector<ValueId> inputs = norm->inputs;
    inputs.resize(2);
    if (is_op(node, "Mul") && rewriter.number(inputs[1]) == 1.0) {
      inputs[1] = operand;
    } else if (is_op(node, "Add") && is_op(*norm, "LayerNormalization")) {
      inputs.push_back(operand);
    } else {
      continue;
    }
    const std::string op = norm->op;
    become(node, op, std::move(inputs), norm->attributes);
    return;
  }
}

}  // namespace

Draft recognize_norms(Draft draft) {
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (node.inputs.size() != 2 || node.outputs.size() != 1) return;
    if (is_op(node, "Mul") || is_op(node, "Div")) recognize_norm(rewriter, node);
    if (is_op(node, "Add")) recognize_regrouped(rewriter, node);
    if (is_op(node, "Mul") || is_op(node, "Add")) absorb(rewriter, node);
  });
}

}  // namespace hone::graph
