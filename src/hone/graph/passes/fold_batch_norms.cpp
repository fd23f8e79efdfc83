#include <algorithm>
#include <cmath>

#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

using Numbers = std::vector<double>;

/// y = x · factor + shift for each channel; a list of one number holds for all channels.
struct Affine {
  ValueId x;
  Numbers factor = {1}, shift = {0};

  double factor_of(std::size_t channel) const { return factor[factor.size() == 1 ? 0 : channel]; }
  double shift_of(std::size_t channel) const { return shift[shift.size() == 1 ? 0 : channel]; }
  bool has_channels(std::size_t count) const {
    return (factor.size() == 1 || factor.size() == count) && (shift.size() == 1 || shift.size() == count);
  }
  bool is_finite() const {
    const auto is_good = [](double number) { return std::isfinite(number); };
    return std::all_of(factor.begin(), factor.end(), is_good) && std::all_of(shift.begin(), shift.end(), is_good);
  }
};

/// A batch normalisation with constant statistics.
std::optional<Affine> batch_norm_of(const Rewriter& rewriter, const Node& node) {
  if (!is_op(node, "BatchNormalization") || node.inputs.size() != 5 || node.outputs.size() != 1) return std::nullopt;
  if (node.attributes.integer("training_mode", 0) != 0 || node.attributes.integer("spatial", 1) == 0)
    return std::nullopt;
  std::vector<Numbers> numbers;  // scale, bias, mean, variance
  for (std::size_t i = 1; i <= 4; ++i) {
    const runtime::Tensor* tensor = rewriter.constant(node.inputs[i]);
    if (!tensor || tensor->rank() != 1) return std::nullopt;
    numbers.push_back(*tensor->to_doubles());
    if (numbers.back().size() != numbers[0].size()) return std::nullopt;
  }
  Affine affine{node.inputs[0]};
  affine.factor.resize(numbers[0].size());
  affine.shift.resize(numbers[0].size());
  const auto epsilon = static_cast<double>(node.attributes.real("epsilon", 1e-5F));
  for (std::size_t c = 0; c < affine.factor.size(); ++c) {
    affine.factor[c] = numbers[0][c] / std::sqrt(numbers[3][c] + epsilon);
    affine.shift[c] = numbers[1][c] - numbers[2][c] * affine.factor[c];
  }
  return affine;
}

/// Where the channels of a product are: `inner` axes stand after theirs. The rank is 0 if it is not known.
struct Channels {
  std::size_t count, rank, inner;
};

/// The entries of a constant that differ from channel to channel alone.
std::optional<Numbers> per_channel(const runtime::Tensor* tensor, const Channels& channels) {
  if (!tensor || !runtime::is_float(tensor->type())) return std::nullopt;
  const std::size_t most = channels.rank > 0 ? channels.rank : channels.inner + 1;
  if (tensor->rank() > most) return std::nullopt;
  for (std::size_t i = 0; i < tensor->rank(); ++i) {
    const bool is_channel = tensor->rank() - 1 - i == channels.inner;
    const std::int64_t extent = tensor->extent(i);
    if (extent != 1 && !(is_channel && static_cast<std::size_t>(extent) == channels.count)) return std::nullopt;
  }
  return *tensor->to_doubles();
}

/// Add, Sub, Mul or Div of a value and a constant.
std::optional<Affine> arithmetic_of(const Rewriter& rewriter, const Node& node, std::size_t x,
                                    const Channels& channels) {
  const std::optional<Numbers> numbers = per_channel(rewriter.constant(node.inputs[1 - x]), channels);
  if (!numbers) return std::nullopt;
  Affine affine{node.inputs[x]};
  const auto mapped = [&](auto f) {
    Numbers result = *numbers;
    std::transform(result.begin(), result.end(), result.begin(), f);
    return result;
  };
  if (is_op(node, "Mul")) {
    affine.factor = *numbers;
  } else if (is_op(node, "Div") && x == 0) {
    affine.factor = mapped([](double number) { return 1 / number; });
  } else if (is_op(node, "Add")) {
    affine.shift = *numbers;
  } else if (is_op(node, "Sub")) {
    affine.factor = {x == 0 ? 1.0 : -1.0};
    affine.shift = x == 0 ? mapped([](double number) { return -number; }) : *numbers;
  } else {
    return std::nullopt;
  }
  return affine;
}

/// A convolution or matrix product with constant weights that nothing but the current node reads.
class Product {
 public:
  static std::optional<Product> of(const Rewriter& rewriter, ValueId id) {
    const Node* node = rewriter.maker(id);
    if (!node || rewriter.uses(id) != 1 || node->inputs.size() < 2 || !node->domain.empty()) return std::nullopt;
    Product product(rewriter, *node);
    if (is_op(*node, "Add")) {  // the bias of a MatMul
      const std::size_t sum = rewriter.maker(node->inputs[0], "MatMul") ? 0 : 1;
      product.node_ = rewriter.sole_maker(node->inputs[sum], "MatMul");
      product.bias_ = node->inputs[1 - sum];
      if (!product.node_) return std::nullopt;
    } else if (!is_op(*node, "MatMul") && node->inputs.size() > 2) {
      product.bias_ = node->inputs[2];
    }
    return product.is_known() ? std::optional(product) : std::nullopt;
  }

  const Channels& channels() const { return channels_; }

  /// Computes `affine` of the product in `node`; false if the weights would not fit their type.
  bool absorb(Rewriter& rewriter, const Affine& affine, Node& node) const {
    const bool is_matmul = is_op(*node_, "MatMul");
    const bool scales =
        std::any_of(affine.factor.begin(), affine.factor.end(), [](double number) { return number != 1; });
    if (is_matmul && !scales && bias_ == kAbsent) return false;  // an Add is what a MatMul has for a bias
    const double beta = is_op(*node_, "Gemm") ? static_cast<double>(node_->attributes.real("beta", 1)) : 1.0;
    Numbers bias(channels_.count);
    for (std::size_t c = 0; c < bias.size(); ++c)
      bias[c] = beta * old_bias_[old_bias_.size() == 1 ? 0 : c] * affine.factor_of(c) + affine.shift_of(c);
    const auto count = static_cast<std::int64_t>(bias.size());
    const auto new_bias = rounded(weight_->type(), {count}, bias);
    if (!new_bias) return false;

    std::vector<ValueId> inputs = {node_->inputs[0], node_->inputs[1]};
    if (scales) {
      Numbers weights = *weight_->to_doubles();
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= affine.factor_of(channel_of(i));
      auto scaled = rounded(weight_->type(), weight_->shape(), weights);
      if (!scaled) return false;
      inputs[1] = rewriter.add_constant(*std::move(scaled));
    }
    Attributes attributes = node_->attributes;
    attributes.remove("beta");
    const bool has_bias = std::any_of(bias.begin(), bias.end(), [](double number) { return number != 0; });
    if (!has_bias) {
      const std::string op = node_->op;
      become_same(node, op, std::move(inputs), std::move(attributes));
    } else if (is_matmul) {
      const ValueId product = rewriter.add("MatMul", std::move(inputs));
      become(node, "Add", {product, rewriter.add_constant(*new_bias)});
    } else {
      inputs.push_back(rewriter.add_constant(*new_bias));
      become_same(node, node_->op, std::move(inputs), std::move(attributes));
    }
    return true;
  }

 private:
  Product(const Rewriter& rewriter, const Node& node) : rewriter_(rewriter), node_(&node) {}

  /// `node` as another product of the same version.
  void become_same(Node& node, std::string op, std::vector<ValueId> inputs, Attributes attributes) const {
    const std::int64_t opset = node_->opset;
    become(node, std::move(op), std::move(inputs), std::move(attributes));
    node.opset = opset;
  }

  /// Looks at weights and bias; false if this is no product that can take in factors.
  bool is_known() {
    weight_ = rewriter_.constant(node_->inputs[1]);
    if (!weight_ || !runtime::is_float(weight_->type())) return false;
    const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(weight_->extent(axis)); };
    const std::size_t rank = weight_->rank();
    if (is_op(*node_, "Conv") && rank >= 3) {
      channels_ = {extent(0), rank, rank - 2};
    } else if (is_op(*node_, "ConvTranspose") && rank >= 3) {
      groups_ = static_cast<std::size_t>(std::max<std::int64_t>(node_->attributes.integer("group", 1), 1));
      if (extent(0) % groups_ != 0) return false;
      channels_ = {extent(1) * groups_, rank, rank - 2};
    } else if (is_op(*node_, "Gemm") && rank == 2) {
      channels_ = {extent(node_->attributes.integer("transB", 0) != 0 ? 0 : 1), 2, 0};
    } else if (is_op(*node_, "MatMul") && rank == 2) {
      const OutputSpec* left = rewriter_.spec(node_->inputs[0]);
      channels_ = {extent(1), left ? left->shape.size() : 0, 0};
    } else {
      return false;
    }
    if (bias_ == kAbsent) return true;
    const Channels vector{channels_.count, std::min<std::size_t>(channels_.rank, 2), 0};  // how all of them store it
    const auto numbers = per_channel(rewriter_.constant(bias_), vector);
    if (numbers) old_bias_ = *numbers;
    return numbers.has_value();
  }

  /// The channel that element `i` of the weights belongs to.
  std::size_t channel_of(std::size_t i) const {
    const auto size = static_cast<std::size_t>(weight_->size());
    if (is_op(*node_, "Conv")) return i / (size / channels_.count);
    if (is_op(*node_, "ConvTranspose")) {
      const auto inputs = static_cast<std::size_t>(weight_->extent(0)), each = channels_.count / groups_;
      const std::size_t place = i / (size / inputs / each);  // input channel and output channel within the group
      return place / each / (inputs / groups_) * each + place % each;
    }
    const bool is_row = is_op(*node_, "Gemm") && node_->attributes.integer("transB", 0) != 0;
    return is_row ? i / (size / channels_.count) : i % channels_.count;
  }

  const Rewriter& rewriter_;
  const Node* node_;
  ValueId bias_ = kAbsent;
  const runtime::Tensor* weight_ = nullptr;
  Channels channels_ = {};
  std::size_t groups_ = 1;
  Numbers old_bias_ = {0};
};

bool fold_batch_norm(Rewriter& rewriter, Node& node, const Affine& affine) {
  const auto product = Product::of(rewriter, affine.x);
  if (!product || affine.factor.size() != product->channels().count) return false;
  const Channels& channels = product->channels();
  if (channels.rank < 2 || channels.inner + 2 != channels.rank) return false;  // channels are axis 1
  return product->absorb(rewriter, affine, node);
}

/// With nothing to fold it into: a product and a sum, whose factors need no roots when the model runs.
void split_batch_norm(Rewriter& rewriter, Node& node, const Affine& affine) {
  const OutputSpec* x = rewriter.spec(affine.x);
  if (!x || x->shape.size() < 2 || !runtime::is_float(x->type)) return;
  if (x->type != ElementType::F32 && x->type != ElementType::F64) return;  // narrow types would be rounded in between
  Shape shape = {x->shape[1]};
  shape.resize(x->shape.size() - 1, 1);
  if (static_cast<std::size_t>(shape[0]) != affine.factor.size()) return;
  auto factor = rounded(x->type, shape, affine.factor), shift = rounded(x->type, shape, affine.shift);
  if (!factor || !shift) return;
  const ValueId scaled = rewriter.add("Mul", {affine.x, rewriter.add_constant(*std::move(factor))});
  become(node, "Add", {scaled, rewriter.add_constant(*std::move(shift))});
}

void fold_arithmetic(Rewriter& rewriter, Node& node) {
  if (node.inputs.size() != 2 || node.outputs.size() != 1) return;
  for (const std::size_t x : {0, 1}) {
    if (!rewriter.constant(node.inputs[1 - x])) continue;
    const auto product = Product::of(rewriter, node.inputs[x]);
    if (!product) continue;
    const auto affine = arithmetic_of(rewriter, node, x, product->channels());
    if (affine && affine->is_finite() && affine->has_channels(product->channels().count) &&
        product->absorb(rewriter, *affine, node))
      return;
  }
}

}  // namespace

Draft fold_batch_norms(Draft draft) {
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (const auto norm = batch_norm_of(rewriter, node); norm && norm->is_finite()) {
      if (!fold_batch_norm(rewriter, node, *norm)) split_batch_norm(rewriter, node, *norm);
    } else if (is_op(node, "Mul") || is_op(node, "Div") || is_op(node, "Add") || is_op(node, "Sub")) {
      fold_arithmetic(rewriter, node);
    }
  });
}

}  // namespace hone::graph
