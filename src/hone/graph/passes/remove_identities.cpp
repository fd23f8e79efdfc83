#include <algorithm>
#include <array>
#include <limits>

#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

bool is_one_of(const Node& node, std::initializer_list<std::string_view> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](std::string_view op) { return is_op(node, op); });
}

/// Whether the value is a constant whose elements are all this number.
bool is_all(const Rewriter& rewriter, ValueId id, double number) {
  const runtime::Tensor* tensor = rewriter.constant(id);
  if (!tensor || !ir_type(tensor->type())) return false;
  const std::vector<double> numbers = *tensor->to_doubles();
  return std::all_of(numbers.begin(), numbers.end(), [&](double element) { return element == number; });
}

bool is_absent_or_all(const Rewriter& rewriter, const Node& node, std::size_t i, double number) {
  return i >= node.inputs.size() || node.inputs[i] == kAbsent || is_all(rewriter, node.inputs[i], number);
}

/// Whether the first output has the shape of the first input.
bool keeps_shape(const Rewriter& rewriter, const Node& node) {
  const OutputSpec *x = rewriter.spec(node.inputs[0]), *y = rewriter.spec(node.outputs[0]);
  return x && y && x->shape == y->shape;
}

/// Ranges from the first element to beyond any end.
bool slices_everything(const Rewriter& rewriter, const Node& node) {
  if (!is_absent_or_all(rewriter, node, 4, 1)) return false;
  if (keeps_shape(rewriter, node)) return true;
  const runtime::Tensor* ends = rewriter.constant(node.inputs[2]);
  if (!ends || !is_all(rewriter, node.inputs[1], 0)) return false;
  const std::vector<std::int64_t> numbers = *ends->to_ints();
  return std::all_of(numbers.begin(), numbers.end(),
                     [](std::int64_t end) { return end == std::numeric_limits<std::int64_t>::max(); });
}

bool is_identity_permutation(const std::vector<std::int64_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<std::int64_t>(i)) return false;
  return !order.empty();
}

/// Whether a conversion gives the type that is there.
bool keeps_type(const Rewriter& rewriter, const Node& node) {
  const OutputSpec *x = rewriter.spec(node.inputs[0]), *y = rewriter.spec(node.outputs[0]);
  return x && y && x->type == y->type;
}

/// The operand that an elementwise operator gives back, the other one being neutral; kAbsent if there is none.
ValueId neutral_result(const Rewriter& rewriter, const Node& node) {
  struct Neutral {
    std::string_view op;
    double number;
    bool commutes;
  };
  static constexpr std::array kNeutral = {Neutral{"Add", 0, true},  Neutral{"Mul", 1, true},  Neutral{"Sub", 0, false},
                                          Neutral{"Div", 1, false}, Neutral{"Pow", 1, false}, Neutral{"And", 1, true},
                                          Neutral{"Or", 0, true},   Neutral{"Xor", 0, true}};
  if (node.inputs.size() != 2) return kAbsent;
  for (const Neutral& neutral : kNeutral) {
    if (!is_op(node, neutral.op)) continue;
    for (std::size_t x = 0; x < (neutral.commutes ? 2U : 1U); ++x)
      if (is_all(rewriter, node.inputs[1 - x], neutral.number) &&
          rewriter.fits_into(node.inputs[1 - x], node.inputs[x]))
        return node.inputs[x];
  }
  return kAbsent;
}

/// The value that the node's first output is a copy of; kAbsent if it computes something.
ValueId copied(const Rewriter& rewriter, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kAbsent || node.outputs.empty() || node.outputs[0] == kAbsent ||
      !node.subgraphs.empty())
    return kAbsent;
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kAbsent && rewriter.uses(node.outputs[i]) > 0) return kAbsent;
  const ValueId x = node.inputs[0];
  if (is_op(node, "Identity")) return x;
  if (is_op(node, "Dropout")) return is_absent_or_all(rewriter, node, 2, 0) ? x : kAbsent;
  if (is_one_of(node, {"Cast", "CastLike"})) return keeps_type(rewriter, node) ? x : kAbsent;
  if (is_op(node, "Transpose")) return is_identity_permutation(node.attributes.integers("perm")) ? x : kAbsent;
  if (is_one_of(node, {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Tile", "CenterCropPad"}))
    return keeps_shape(rewriter, node) ? x : kAbsent;
  if (is_op(node, "Pad")) return node.inputs.size() > 1 && is_absent_or_all(rewriter, node, 1, 0) ? x : kAbsent;
  if (is_op(node, "Slice")) return node.inputs.size() > 2 && slices_everything(rewriter, node) ? x : kAbsent;
  if (is_one_of(node, {"Concat", "Sum", "Max", "Min", "Mean"})) return node.inputs.size() == 1 ? x : kAbsent;
  if (is_op(node, "Split")) return node.outputs.size() == 1 && keeps_shape(rewriter, node) ? x : kAbsent;
  return neutral_result(rewriter, node);
}

}  // namespace

Draft remove_identities(Draft draft) {
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    const ValueId same = copied(rewriter, node);
    // An Identity that makes an output of the graph would only be made again.
    const bool is_needed = is_op(node, "Identity") && rewriter.is_output(node.outputs[0]);
    if (same != kAbsent && !is_needed) rewriter.replace(node, {same});
  });
}

}  // namespace hone::graph
