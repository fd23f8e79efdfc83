#include <algorithm>
#include <cstring>
#include <set>

#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

/// Lanes of the widest vectors of floats; blocks of channels are as wide.
constexpr std::int64_t kLanes = 16;
/// Below so many channels, those that are added would be too large a part.
constexpr std::int64_t kFewestChannels = 64;

/// The tensor with zeros behind it, up to `extent` of its first axis.
std::optional<runtime::Tensor> extended(const runtime::Tensor& tensor, std::int64_t extent) {
  Shape shape = tensor.shape();
  shape[0] = extent;
  Result<runtime::Tensor> made = runtime::Tensor::allocate(tensor.type(), shape);
  if (!made) return std::nullopt;
  std::memset(made->data(), 0, made->bytes());
  std::memcpy(made->data(), tensor.data(), tensor.bytes());
  return *std::move(made);
}

/// The weight of a convolution that reads zeros behind its input's channels, up to `extent` of them.
std::optional<runtime::Tensor> extended_inside(const runtime::Tensor& weight, std::int64_t extent) {
  Shape shape = weight.shape();
  shape[1] = extent;
  Result<runtime::Tensor> made = runtime::Tensor::allocate(weight.type(), shape);
  if (!made) return std::nullopt;
  std::memset(made->data(), 0, made->bytes());
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(1, weight.extent(0)));
  const std::size_t from = weight.bytes() / count, to = made->bytes() / count;
  for (std::size_t i = 0; i < count; ++i) std::memcpy(made->data() + i * to, weight.data() + i * from, from);
  return *std::move(made);
}

/// Whether the node maps each element of its first input by itself, with nothing but single numbers beside it.
bool maps_elements(const Rewriter& rewriter, const Node& node) {
  if (!is_elementwise(node) || node.inputs.empty() || node.outputs.size() != 1) return false;
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kAbsent && !rewriter.number(node.inputs[i])) return false;
  return rewriter.uses(node.outputs[0]) == 1;
}

/// Whether 0 becomes a finite number: what is multiplied by a weight of 0 then stays 0.
bool is_finite_at_0(const Node& node) {
  static const std::set<std::string_view> names = {"Clip", "Elu",  "Gelu",    "HardSigmoid", "HardSwish", "LeakyRelu",
                                                   "Relu", "Selu", "Sigmoid", "Softplus",    "Swish",     "Tanh"};
  return node.domain.empty() && names.contains(node.op);
}

/// A convolution whose channels do not fill blocks, and the maps that follow it.
struct Found {
  const Node* convolution;
  std::vector<const Node*> maps;  ///< the last one first
  const runtime::Tensor *weight, *bias;
};

std::optional<Found> find(const Rewriter& rewriter, ValueId result) {
  Found found{};
  const Node* node = rewriter.maker(result);
  for (; node && maps_elements(rewriter, *node); node = rewriter.maker(node->inputs[0])) found.maps.push_back(node);
  if (!node || !is_op(*node, "Conv") || rewriter.uses(node->outputs[0]) != 1) return std::nullopt;
  found.convolution = node;
  found.weight = rewriter.constant(node->inputs[1]);
  found.bias = has_bias(*node) ? rewriter.constant(node->inputs[2]) : nullptr;
  if (!found.weight || found.weight->type() != ElementType::F32 || found.weight->rank() != 4) return std::nullopt;
  if (has_bias(*node) && !found.bias) return std::nullopt;
  if (found.weight->extent(0) % kLanes == 0 || node->attributes.integer("group", 1) != 1) return std::nullopt;
  return found;
}

std::int64_t padded(std::int64_t channels) { return (channels + kLanes - 1) / kLanes * kLanes; }

/// The convolution with more channels, and what follows it.
std::optional<ValueId> with_full_blocks(Rewriter& rewriter, const Found& found) {
  const std::int64_t channels = padded(found.weight->extent(0));
  std::optional<runtime::Tensor> weight = extended(*found.weight, channels), bias;
  if (found.bias) bias = extended(*found.bias, channels);
  if (!weight || (found.bias && !bias)) return std::nullopt;
  std::vector<ValueId> inputs = {found.convolution->inputs[0], rewriter.add_constant(*std::move(weight))};
  if (bias) inputs.push_back(rewriter.add_constant(*std::move(bias)));
  ValueId value = rewriter.add_like(*found.convolution, inputs);
  for (std::size_t i = found.maps.size(); i-- > 0;) {
    std::vector<ValueId> operands = found.maps[i]->inputs;
    operands[0] = value;
    value = rewriter.add_like(*found.maps[i], operands);
  }
  return value;
}

void pad_before_pooling(Rewriter& rewriter, Node& node) {
  const std::optional<Found> found = find(rewriter, node.inputs[0]);
  if (!found || found->weight->extent(0) < kFewestChannels) return;
  const std::int64_t channels = found->weight->extent(0);
  const std::optional<ValueId> value = with_full_blocks(rewriter, *found);
  if (!value) return;
  const ValueId all = rewriter.add_like(node, {*value});
  become(node, "Slice", {all, rewriter.add_ints({0}), rewriter.add_ints({channels}), rewriter.add_ints({1})});
}

/// Images of one position take as long as their weights take to read: those that are added hardly matter.
void pad_between(Rewriter& rewriter, Node& node) {
  const OutputSpec* image = rewriter.spec(node.inputs[0]);
  const runtime::Tensor* weight = rewriter.constant(node.inputs[1]);
  if (!image || image->shape.size() != 4 || image->shape[2] * image->shape[3] != 1) return;
  if (!weight || weight->type() != ElementType::F32 || node.attributes.integer("group", 1) != 1) return;
  if (rewriter.uses(node.inputs[0]) != 1) return;
  const std::optional<Found> found = find(rewriter, node.inputs[0]);
  if (!found || !std::all_of(found->maps.begin(), found->maps.end(), [](const Node* n) { return is_finite_at_0(*n); }))
    return;
  std::optional<runtime::Tensor> extended = extended_inside(*weight, padded(weight->extent(1)));
  if (!extended) return;
  const std::optional<ValueId> value = with_full_blocks(rewriter, *found);
  if (!value) return;
  node.inputs[0] = *value;
  node.inputs[1] = rewriter.add_constant(*std::move(extended));
}

}  // namespace

Draft pad_channels(Draft draft) {
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (is_op(node, "GlobalAveragePool") || is_op(node, "GlobalMaxPool")) pad_before_pooling(rewriter, node);
    if (is_op(node, "Conv")) pad_between(rewriter, node);
  });
}

}  // namespace hone::graph
