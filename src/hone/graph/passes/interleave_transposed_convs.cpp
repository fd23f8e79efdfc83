#include <algorithm>

#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

/// One axis of positions. With a step of s, result s q + r reads taps r, r + s, r + 2 s … alone: for each phase r it is
/// a convolution with a step of 1, at position q.
struct Axis {
  std::int64_t step, kernel, before;  ///< `before`: how many results are cut off at the beginning
  std::int64_t extent, result;        ///< of the input and of the output
  std::int64_t taps() const { return (kernel + step - 1) / step; }
  /// Positions of each phase, from the first on, so that all of the result is there.
  std::int64_t positions() const { return (result - 1 + before) / step + 1; }
};

/// An attribute with an entry for each axis, or the same number for all where there is none.
std::vector<std::int64_t> entries(const Node& node, std::string_view name, std::size_t count, std::int64_t otherwise) {
  std::vector<std::int64_t> numbers = node.attributes.integers(name);
  if (numbers.empty()) numbers.assign(count, otherwise);
  return numbers;
}

/// A transposed convolution that can be written so.
struct Phased {
  const runtime::Tensor *weight, *bias;
  std::vector<Axis> axes;
  std::int64_t images;

  std::int64_t in_channels() const { return weight->extent(0); }
  std::int64_t out_channels() const { return weight->extent(1); }
  std::int64_t phases() const {
    std::int64_t count = 1;
    for (const Axis& axis : axes) count *= axis.step;
    return count;
  }
};

std::optional<Phased> find_phased(const Rewriter& rewriter, const Node& node) {
  const OutputSpec *image = rewriter.spec(node.inputs[0]), *result = rewriter.spec(node.outputs[0]);
  Phased found{.weight = rewriter.constant(node.inputs[1]),
               .bias = has_bias(node) ? rewriter.constant(node.inputs[2]) : nullptr,
               .axes = {},
               .images = 0};
  if (!image || !result || !found.weight || (has_bias(node) && !found.bias)) return std::nullopt;
  if (found.weight->type() != ElementType::F32 || node.attributes.integer("group", 1) != 1) return std::nullopt;
  if (node.attributes.text("auto_pad", "NOTSET") != "NOTSET" || !node.attributes.integers("output_shape").empty())
    return std::nullopt;
  found.images = image->shape[0];
  const std::size_t rank = found.weight->rank() - 2;
  const std::vector<std::int64_t> dilations = entries(node, "dilations", rank, 1);
  const std::vector<std::int64_t> steps = entries(node, "strides", rank, 1), pads = entries(node, "pads", 2 * rank, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    const Axis axis{steps[i], found.weight->extent(2 + i), pads[i], image->shape[2 + i], result->shape[2 + i]};
    if (dilations[i] != 1 || axis.extent < 1 || axis.result < 1 || axis.before < 0) return std::nullopt;
    if (axis.positions() < axis.extent) return std::nullopt;
    found.axes.push_back(axis);
  }
  return found.phases() > 1 && found.in_channels() > 0 && found.out_channels() > 0 ? std::optional(found)
                                                                                   : std::nullopt;
}

/// The weights of one convolution that computes all phases, phase by phase among its channels.
std::optional<runtime::Tensor> weight_of_phases(const Phased& found) {
  Shape shape = {found.phases() * found.out_channels(), found.in_channels()};
  for (const Axis& axis : found.axes) shape.push_back(axis.taps());
  Result<runtime::Tensor> made = runtime::Tensor::allocate(ElementType::F32, shape);
  if (!made) return std::nullopt;
  const float* from = reinterpret_cast<const float*>(found.weight->data());
  float* to = reinterpret_cast<float*>(made->data());
  std::vector<std::int64_t> phase(found.axes.size(), 0);
  for (std::int64_t p = 0; p < found.phases(); ++p) {
    std::int64_t rest = p;
    for (std::size_t i = found.axes.size(); i-- > 0; rest /= found.axes[i].step) phase[i] = rest % found.axes[i].step;
    for (std::int64_t out = 0; out < found.out_channels(); ++out)
      for (std::int64_t in = 0; in < found.in_channels(); ++in) {
        std::int64_t taps = 1;
        for (const Axis& axis : found.axes) taps *= axis.taps();
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          // The taps of a convolution run the other way.
          std::int64_t place = in * found.out_channels() + out, left = tap, size = taps;
          bool is_there = true;
          for (std::size_t i = 0; i < found.axes.size(); ++i) {
            const Axis& axis = found.axes[i];
            size /= axis.taps();
            const std::int64_t k = phase[i] + axis.step * (axis.taps() - 1 - left / size);
            left %= size;
            is_there &= k < axis.kernel;
            place = place * axis.kernel + k;
          }
          *to++ = is_there ? from[place] : 0.0F;
        }
      }
  }
  return *std::move(made);
}

std::optional<runtime::Tensor> bias_of_phases(const Phased& found) {
  Result<runtime::Tensor> made =
      runtime::Tensor::allocate(ElementType::F32, Shape{found.phases() * found.out_channels()});
  if (!made) return std::nullopt;
  const float* from = reinterpret_cast<const float*>(found.bias->data());
  float* to = reinterpret_cast<float*>(made->data());
  for (std::int64_t p = 0; p < found.phases(); ++p) to = std::copy_n(from, found.out_channels(), to);
  return *std::move(made);
}

void interleave(Rewriter& rewriter, Node& node) {
  const std::optional<Phased> found = find_phased(rewriter, node);
  if (!found) return;
  std::optional<runtime::Tensor> weight = weight_of_phases(*found), bias;
  if (found->bias) bias = bias_of_phases(*found);
  if (!weight || (found->bias && !bias)) return;
  const std::size_t rank = found->axes.size();
  std::vector<std::int64_t> pads(2 * rank), starts, ends, all_axes, order = {0, static_cast<std::int64_t>(rank) + 1};
  Shape split = {found->images}, joined = {found->images, found->out_channels()};
  bool is_cut = false;
  for (std::size_t i = 0; i < rank; ++i) {
    const Axis& axis = found->axes[i];
    pads[i] = axis.taps() - 1;
    pads[rank + i] = axis.positions() - axis.extent;
    split.push_back(axis.step);
    joined.push_back(axis.positions() * axis.step);
    starts.push_back(axis.before);
    ends.push_back(axis.before + axis.result);
    all_axes.push_back(static_cast<std::int64_t>(2 + i));
    order.insert(order.end(), {static_cast<std::int64_t>(rank + 2 + i), static_cast<std::int64_t>(1 + i)});
    is_cut |= joined.back() != axis.result;
  }
  split.push_back(found->out_channels());
  for (const Axis& axis : found->axes) split.push_back(axis.positions());

  std::vector<ValueId> operands = {node.inputs[0], rewriter.add_constant(*std::move(weight))};
  if (bias) operands.push_back(rewriter.add_constant(*std::move(bias)));
  Attributes padding, permutation;
  padding.set("pads", std::move(pads));
  permutation.set("perm", std::move(order));
  const ValueId phases = rewriter.reshaped(rewriter.add("Conv", operands, std::move(padding)), split);
  const ValueId moved = rewriter.add("Transpose", {phases}, std::move(permutation));
  if (!is_cut) return rewriter.become_reshape(node, moved, joined);
  become(node, "Slice",
         {rewriter.reshaped(moved, joined), rewriter.add_ints(starts), rewriter.add_ints(ends),
          rewriter.add_ints(all_axes)});
}

}  // namespace

Draft interleave_transposed_convs(Draft draft) {
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (is_op(node, "ConvTranspose")) interleave(rewriter, node);
  });
}

}  // namespace hone::graph
