#include <algorithm>
#include <numeric>

#include "hone/graph/operators/attention_parts.h"
#include "hone/graph/passes/passes.h"

namespace hone::graph {
namespace {

using Order = std::vector<std::int64_t>;

/// The order of a Transpose: axis i of its result is axis order[i] of its input. Empty if it cannot be known.
Order order_of(const Rewriter& rewriter, const Node& node) {
  Order order = node.attributes.integers("perm");
  const OutputSpec* x = rewriter.spec(node.inputs[0]);
  if (!node.attributes.has("perm") && x)
    for (std::size_t i = x->shape.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  return order;
}

/// The order of two transposes, `first` being applied first.
Order composed(const Order& first, const Order& second) {
  Order order;
  for (const std::int64_t axis : second) order.push_back(first[static_cast<std::size_t>(axis)]);
  return order;
}

bool is_identity(const Order& order) {
  Order sorted(order.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  return order == sorted;
}

/// Looks for elementwise nodes whose operands are all transposed the same way, and writes them without that.
class Chain {
 public:
  explicit Chain(Rewriter& rewriter) : rewriter_(rewriter) {}

  /// The order of the transposes at the beginning of a chain that ends in `id`; empty if there is no such chain.
  Order order(ValueId id) {
    order_.clear();
    transposes_.clear();
    most_axes_ = 0;
    return is_transposed(id, kMaxDepth) && most_axes_ <= order_.size() ? order_ : Order();
  }
  /// Whether the transposes vanish with the chain.
  bool is_sole_reader() const {
    return std::all_of(transposes_.begin(), transposes_.end(), [&](ValueId id) { return rewriter_.uses(id) == 1; });
  }

  /// The chain without transposes.
  ValueId untransposed(ValueId id) {
    if (const Node* transpose = rewriter_.maker(id, "Transpose")) return transpose->inputs[0];
    const Node* node = rewriter_.maker(id);
    if (!node || !is_elementwise(*node)) return id == kAbsent ? kAbsent : broadcast_operand(id);
    std::vector<ValueId> inputs;
    for (const ValueId input : node->inputs) inputs.push_back(untransposed(input));
    return rewriter_.add_like(*node, std::move(inputs));
  }

 private:
  static constexpr int kMaxDepth = 12;

  bool is_transposed(ValueId id, int depth) {
    const Node* node = rewriter_.maker(id);
    if (!node || depth == 0) return false;
    if (is_op(*node, "Transpose")) {
      const Order found = order_of(rewriter_, *node);
      if (order_.empty()) order_ = found;
      transposes_.push_back(id);
      return !found.empty() && found == order_;
    }
    if (!is_elementwise(*node) || rewriter_.uses(id) != 1) return false;
    bool is_any = false;
    for (const ValueId input : node->inputs) {
      if (input == kAbsent) continue;
      if (is_broadcast_operand(input)) {
        most_axes_ = std::max(most_axes_, rewriter_.spec(input)->shape.size());
      } else if (is_transposed(input, depth - 1)) {
        is_any = true;
      } else {
        return false;
      }
    }
    return is_any;
  }

  /// A number, or a constant that can be transposed right away.
  bool is_broadcast_operand(ValueId id) const {
    const OutputSpec* spec = rewriter_.spec(id);
    if (!spec) return false;
    return rewriter_.constant(id) || spec->shape.empty();
  }

  ValueId broadcast_operand(ValueId id) {
    const OutputSpec spec = *rewriter_.spec(id);
    if (*runtime::element_count(spec.shape) == 1) return id;
    Shape full(order_.size() - spec.shape.size(), 1);
    full.insert(full.end(), spec.shape.begin(), spec.shape.end());
    Order back(order_.size());
    for (std::size_t i = 0; i < back.size(); ++i)
      back[static_cast<std::size_t>(order_[i])] = static_cast<std::int64_t>(i);
    const ValueId reshaped = rewriter_.add_constant(rewriter_.constant(id)->reshaped(full));
    return rewriter_.add("Transpose", {reshaped}, permutation(back));
  }

  Rewriter& rewriter_;
  Order order_;
  std::vector<ValueId> transposes_;
  std::size_t most_axes_ = 0;  ///< of an operand that is not transposed
};

void set_transpose(Rewriter& rewriter, Node& node, ValueId x, const Order& order) {
  if (is_identity(order))
    rewriter.replace(node, {x});
  else
    become(node, "Transpose", {x}, permutation(order));
}

void shorten(Rewriter& rewriter, Node& node) {
  const Order outer = order_of(rewriter, node);
  if (outer.empty()) return;
  Chain chain(rewriter);
  const Order inner = chain.order(node.inputs[0]);
  if (inner.size() != outer.size()) return;
  const Order both = composed(inner, outer);
  if (!rewriter.maker(node.inputs[0], "Transpose") && !chain.is_sole_reader() && !is_identity(both)) return;
  set_transpose(rewriter, node, chain.untransposed(node.inputs[0]), both);
}

/// A Transpose that moves axes of extent 1 alone moves no element.
void reshape_instead(Rewriter& rewriter, Node& node) {
  const OutputSpec *x = rewriter.spec(node.inputs[0]), *y = rewriter.spec(node.outputs[0]);
  if (!x || !y) return;
  Order moved = order_of(rewriter, node);
  std::erase_if(moved, [&](std::int64_t axis) { return x->shape[static_cast<std::size_t>(axis)] == 1; });
  if (!std::is_sorted(moved.begin(), moved.end())) return;
  rewriter.become_reshape(node, node.inputs[0], y->shape);
}

/// Gemm reads a transposed matrix as well as any.
void absorb_in_gemm(Rewriter& rewriter, Node& node) {
  for (const std::size_t i : {0, 1}) {
    const Node* transpose = rewriter.sole_maker(node.inputs[i], "Transpose");
    if (!transpose || order_of(rewriter, *transpose) != Order{1, 0}) continue;
    const char* attribute = i == 0 ? "transA" : "transB";
    node.inputs[i] = transpose->inputs[0];
    node.attributes.set(attribute, std::int64_t{node.attributes.integer(attribute, 0) == 0});
  }
}

/// Whether the order swaps the last two axes.
bool swaps_last(Order order) {
  if (order.size() < 2) return false;
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return is_identity(order);
}

/// A product of few rows reads columns that were made for it as the rows that they were. With more rows, the kernel
/// would only transpose them itself, once for each part of the result.
void absorb_in_matmul(Rewriter& rewriter, Node& node) {
  constexpr std::int64_t kFewRows = 4;
  const OutputSpec* y = rewriter.spec(node.outputs[0]);
  const Node* transpose = rewriter.sole_maker(node.inputs[1], "Transpose");
  if (!y || !runtime::is_float(y->type) || !transpose || !swaps_last(order_of(rewriter, *transpose))) return;
  const OutputSpec* left = rewriter.spec(node.inputs[0]);
  if (!left || left->shape.size() < 2 || left->shape[left->shape.size() - 2] > kFewRows) return;
  become(node, "FusedMatMul", {node.inputs[0], transpose->inputs[0]}, attributes_of({{"transB", std::int64_t{1}}}),
         "com.microsoft");
}

/// Picks one entry of an axis before transposes and changes of shape, not after them.
class EntryPicker {
 public:
  EntryPicker(Rewriter& rewriter, ValueId place) : rewriter_(rewriter), place_(place) {}

  /// The entry as a value with nodes of its own; kAbsent if no Transpose stands before the pick.
  ValueId picked(ValueId x, std::int64_t axis) { return passes_transpose(x, axis) ? entry_of(x, axis) : kAbsent; }

 private:
  /// The view before `x` if it leaves the first axis alone, and that is the one to pick from.
  const Node* view_before(ValueId x, std::int64_t axis) const {
    const Node* view = rewriter_.maker(x);
    if (!view || axis != 0 || !(is_op(*view, "Reshape") || is_op(*view, "Squeeze") || is_op(*view, "Unsqueeze")))
      return nullptr;
    const OutputSpec *before = rewriter_.spec(view->inputs[0]), *after = rewriter_.spec(x);
    const bool has_axis = before && after && !before->shape.empty() && !after->shape.empty();
    return has_axis && before->shape[0] == after->shape[0] && after->shape[0] > 0 ? view : nullptr;
  }

  bool passes_transpose(ValueId x, std::int64_t axis) const {
    if (const Node* transpose = rewriter_.maker(x, "Transpose"))
      return axis < static_cast<std::int64_t>(order_of(rewriter_, *transpose).size());
    const Node* view = view_before(x, axis);
    return view && passes_transpose(view->inputs[0], 0);
  }

  ValueId entry_of(ValueId x, std::int64_t axis) {
    if (const Node* transpose = rewriter_.maker(x, "Transpose")) {
      Order order = order_of(rewriter_, *transpose);
      const std::int64_t from = order[static_cast<std::size_t>(axis)];
      order.erase(order.begin() + axis);
      for (std::int64_t& other : order)
        if (other > from) --other;
      const ValueId entry = entry_of(transpose->inputs[0], from);
      return is_identity(order) ? entry : rewriter_.add("Transpose", {entry}, permutation(order));
    }
    if (const Node* view = passes_transpose(x, axis) ? view_before(x, axis) : nullptr) {
      const Shape shape = rewriter_.spec(x)->shape;
      return rewriter_.reshaped(entry_of(view->inputs[0], 0), {shape.begin() + 1, shape.end()});
    }
    return rewriter_.add("Gather", {x, place_}, attributes_of({{"axis", axis}}));
  }

  Rewriter& rewriter_;
  ValueId place_;
};

void pick_first(Rewriter& rewriter, Node& node) {
  const runtime::Tensor* place = rewriter.constant(node.inputs[1]);
  if (!place || place->rank() != 0) return;
  std::int64_t axis = node.attributes.integer("axis", 0);
  if (axis < 0) {
    const Node* transpose = rewriter.maker(node.inputs[0], "Transpose");
    if (!transpose) return;
    axis += static_cast<std::int64_t>(order_of(rewriter, *transpose).size());
  }
  const ValueId entry = axis < 0 ? kAbsent : EntryPicker(rewriter, node.inputs[1]).picked(node.inputs[0], axis);
  if (entry != kAbsent) rewriter.replace(node, {entry});
}

}  // namespace

Draft cancel_transposes(Draft draft) {
  draft = rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (is_op(node, "Gather")) pick_first(rewriter, node);
    if (is_op(node, "Transpose")) shorten(rewriter, node);
    if (is_op(node, "Gemm")) absorb_in_gemm(rewriter, node);
    if (is_op(node, "MatMul")) absorb_in_matmul(rewriter, node);
  });
  return rewrite(std::move(draft), [](Rewriter& rewriter, Node& node) {
    if (is_op(node, "Transpose")) reshape_instead(rewriter, node);
  });
}

}  // namespace hone::graph
