#include <cstring>

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

/// Whether the node maps each element of its first input by itself, with nothing but single numbers beside it.
bool maps_elements(const Rewriter& rewriter, const Node& node) {
  if (!is_elementwise(node) || node.inputs.empty() || node.outputs.size() != 1) return false;
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kAbsent && !rewriter.number(node.inputs[i])) return false;
  return rewriter.uses(node.outputs[0]) == 1;
}

/// A convolution whose channels do not fill blocks, and what follows it up to a pooling over whole images.
struct Found {
  const Node* convolution;
  std::vector<const Node*> maps;  ///< the last one first
  const runtime::Tensor *weight, *bias;
};

std::optional<Found> find(const Rewriter& rewriter, ValueId pooled) {
  Found found{};
  const Node* node = rewriter.maker(pooled);
  for (; node && maps_elements(rewriter, *node); node = rewriter.maker(node->inputs[0])) found.maps.push_back(node);
  if (!node || !is_op(*node, "Conv") || rewriter.uses(node->outputs[0]) != 1) return std::nullopt;
  found.convolution = node;
  found.weight = rewriter.constant(node->inputs[1]);
  found.bias = has_bias(*node) ? rewriter.constant(node->inputs[2]) : nullptr;
  if (!found.weight || found.weight->type() != ElementType::F32 || found.weight->rank() != 4) return std::nullopt;
  if (has_bias(*node) && !found.bias) return std::nullopt;
  const std::int64_t channels = found.weight->extent(0);
  if (channels < kFewestChannels || channels % kLanes == 0 || node->attributes.integer("group", 1) != 1)
    return std::nullopt;
  return found;
}

void pad(Rewriter& rewriter, Node& node) {
  const std::optional<Found> found = find(rewriter, node.inputs[0]);
  if (!found) return;
  const std::int64_t channels = found->weight->extent(0), padded = (channels + kLanes - 1) / kLanes * kLanes;
  std::optional<runtime::Tensor> weight = extended(*found->weight, padded), bias;
  if (found->bias) bias = extended(*found->bias, padded);
  if (!weight || (found->bias && !bias)) return;
  std::vector<ValueId> inputs = {found->convolution->inputs[0], rewriter.add_constant(*std::move(weight))};
  if (bias) inputs.push_back(rewriter.add_constant(*std::move(bias)));
  ValueId value = rewriter.add_like(*found->convolution, inputs);
  for (std::size_t i = found->maps.size(); i-- > 0;) {
    std::vector<ValueId> operands = found->maps[i]->inputs;
    operands[0] = value;
    value = rewriter.add_like(*found->maps[i], operands);
  }
  const ValueId all = rewriter.add_like(node, {value});
  become(node, "Slice", {all, rewriter.add_ints({0}), rewriter.add_ints({channels}), rewriter.add_ints({1})});
}

}  // namespace

Draft pad_channels(Draft draft) {
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (is_op(node, "GlobalAveragePool") || is_op(node, "GlobalMaxPool")) pad(rewriter, node);
  });
}

}  // namespace hone::graph
