#include <algorithm>
#include <cmath>
#include <numbers>

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

/// What a tree of Mul and Div nodes multiplies, all in one: a number, and values in the order they are met.
struct Factors {
  double number = 1;
  std::vector<ValueId> constants, values;
};

void collect(const Rewriter& rewriter, const Node& node, Factors& product);

void collect(const Rewriter& rewriter, ValueId id, Factors& product) {
  if (const auto number = rewriter.number(id)) {
    product.number *= *number;
    product.constants.push_back(id);
  } else if (const Node* node = rewriter.sole_maker(id, "Mul")) {
    collect(rewriter, *node, product);
  } else if (const Node* quotient = rewriter.sole_maker(id, "Div"); quotient && rewriter.number(quotient->inputs[1])) {
    collect(rewriter, *quotient, product);
  } else {
    product.values.push_back(id);
  }
}

void collect(const Rewriter& rewriter, const Node& node, Factors& product) {
  collect(rewriter, node.inputs[0], product);
  if (is_op(node, "Mul")) {
    collect(rewriter, node.inputs[1], product);
  } else {
    product.number /= *rewriter.number(node.inputs[1]);
    product.constants.push_back(node.inputs[1]);
  }
}

Factors product_of(const Rewriter& rewriter, ValueId id) {
  Factors product;
  collect(rewriter, id, product);
  return product;
}

/// Recognises functions of one value `x` that are written in several nodes.
class Matcher {
 public:
  Matcher(const Rewriter& rewriter, ValueId x) : rewriter_(rewriter), x_(x) {}

  /// Whether a product is `number` times x to this power. Constants must neither add axes nor be of another type.
  bool is_power(const Factors& product, double number, int power) const {
    int found = 0;
    for (const ValueId id : product.values) {
      if (id == x_) {
        ++found;
        continue;
      }
      const Node* node = rewriter_.sole_maker(id, "Pow");
      const auto exponent = node && node->inputs[0] == x_ ? number_of(node->inputs[1]) : std::nullopt;
      if (!exponent || *exponent != std::floor(*exponent) || *exponent < 1 || *exponent > power) return false;
      found += static_cast<int>(*exponent);
    }
    return found == power && is_number(product, number);
  }
  bool is_power(ValueId id, double number, int power) const {
    return is_power(product_of(rewriter_, id), number, power);
  }

  /// Whether the constants of a product make this number, as well as their type can say it.
  bool is_number(const Factors& product, double number) const {
    double tolerance = 1e-6;
    for (const ValueId id : product.constants) {
      if (!rewriter_.fits_into(id, x_)) return false;
      const ElementType type = rewriter_.constant(id)->type();
      if (!runtime::is_float(type)) return false;
      if (type == ElementType::F64) tolerance = 1e-14;
      if (type == ElementType::F16) tolerance = 2e-3;
      if (type == ElementType::BF16) tolerance = 2e-2;
    }
    return std::abs(product.number - number) <= tolerance * std::abs(number);
  }

  /// The other operand of a sum of this number and a value; kAbsent if it is none.
  ValueId beside(ValueId sum, double number) const {
    const Node* node = rewriter_.sole_maker(sum, "Add");
    if (!node) return kAbsent;
    for (const std::size_t i : {0, 1})
      if (const auto found = number_of(node->inputs[i]); found && *found == number) return node->inputs[1 - i];
    return kAbsent;
  }

  /// 1 + erf(x / √2).
  bool is_erf_gate(ValueId id) const {
    const Node* erf = rewriter_.sole_maker(beside(id, 1), "Erf");
    return erf && is_power(erf->inputs[0], std::numbers::sqrt2 / 2, 1);
  }

  /// 1 + tanh(√(2/π) · (x + 0.044715 · x³)), where x may stand before the bracket.
  bool is_tanh_gate(ValueId id) const {
    const Node* tanh = rewriter_.sole_maker(beside(id, 1), "Tanh");
    if (!tanh) return false;
    Factors inner = product_of(rewriter_, tanh->inputs[0]);
    const bool is_factored = std::erase(inner.values, x_) == 1;
    if (inner.values.size() != 1 || !is_number(inner, std::numbers::sqrt2 * std::numbers::inv_sqrtpi)) return false;
    if (is_factored) {
      const ValueId square = beside(inner.values[0], 1);
      return square != kAbsent && is_power(square, 0.044715, 2);
    }
    const Node* sum = rewriter_.sole_maker(inner.values[0], "Add");
    if (!sum) return false;
    for (const std::size_t i : {0, 1})
      if (sum->inputs[i] == x_ && is_power(sum->inputs[1 - i], 0.044715, 3)) return true;
    return false;
  }

  /// clip(x + 3, 0, 6).
  bool is_hard_gate(ValueId id) const {
    const Node* clip = rewriter_.sole_maker(id, "Clip");
    return clip && clip->inputs.size() == 3 && rewriter_.number(clip->inputs[1]) == 0.0 &&
           rewriter_.number(clip->inputs[2]) == 6.0 && beside(clip->inputs[0], 3) == x_;
  }

  /// max(0, min(1, x / 6 + 1/2)).
  bool is_hard_sigmoid(ValueId id) const {
    const Node* node = rewriter_.sole_maker(id, "HardSigmoid");
    return node && node->inputs[0] == x_ && std::abs(node->attributes.real("alpha", 0.2F) * 6 - 1) < 1e-6F &&
           node->attributes.real("beta", 0.5F) == 0.5F;
  }

  /// tanh(softplus(x)).
  bool is_mish_gate(ValueId id) const {
    const Node* tanh = rewriter_.sole_maker(id, "Tanh");
    const Node* softplus = tanh ? rewriter_.sole_maker(tanh->inputs[0], "Softplus") : nullptr;
    return softplus && softplus->inputs[0] == x_;
  }

  /// The factor in sigmoid(factor · x).
  std::optional<float> sigmoid_factor(ValueId id) const {
    const Node* sigmoid = rewriter_.sole_maker(id, "Sigmoid");
    if (!sigmoid) return std::nullopt;
    const Factors inner = product_of(rewriter_, sigmoid->inputs[0]);
    const auto factor = static_cast<float>(inner.number);
    if (inner.constants.size() > 1 || static_cast<double>(factor) != inner.number) return std::nullopt;
    return is_power(inner, inner.number, 1) ? std::optional(factor) : std::nullopt;
  }

 private:
  std::optional<double> number_of(ValueId id) const { return rewriter_.number_beside(id, x_); }

  const Rewriter& rewriter_;
  ValueId x_;
};

/// Makes `node`, which computes x · gate · number, one of the activations; false if it is none.
bool recognize(const Rewriter& rewriter, Node& node, const Factors& product, ValueId x, ValueId gate) {
  const Matcher matcher(rewriter, x);
  if (matcher.is_number(product, 0.5)) {
    if (matcher.is_erf_gate(gate)) return become(node, "Gelu", {x}), true;
    if (matcher.is_tanh_gate(gate))
      return become(node, "Gelu", {x}, attributes_of({{"approximate", std::string("tanh")}})), true;
  }
  if (matcher.is_number(product, 1.0 / 6) && matcher.is_hard_gate(gate)) return become(node, "HardSwish", {x}), true;
  if (!product.constants.empty()) return false;
  if (matcher.is_hard_sigmoid(gate)) return become(node, "HardSwish", {x}), true;
  if (matcher.is_mish_gate(gate)) return become(node, "Mish", {x}), true;
  if (const auto factor = matcher.sigmoid_factor(gate))
    return become(node, "Swish", {x}, attributes_of({{"alpha", *factor}})), true;
  return false;
}

}  // namespace

Draft recognize_activations(Draft draft) {
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (node.inputs.size() != 2 || !(is_op(node, "Mul") || is_op(node, "Div"))) return;
    if (is_op(node, "Div") && !rewriter.number(node.inputs[1])) return;
    Factors product;
    collect(rewriter, node, product);
    if (product.values.size() != 2) return;
    const ValueId a = product.values[0], b = product.values[1];
    if (!recognize(rewriter, node, product, a, b)) recognize(rewriter, node, product, b, a);
  });
}

}  // namespace hone::graph
