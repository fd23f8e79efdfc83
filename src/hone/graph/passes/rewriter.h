/// Rewriting graphs: what the passes share. A pass is a rule that is shown each node with what made its inputs.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hone/graph/operator.h"
#include "hone/support/function_ref.h"

namespace hone::graph {

/// A graph with types and shapes of its values as far as they are known: all of them once a graph is specialized, those
/// of constants alone when a model was just read.
struct Draft {
  Graph graph;
  std::vector<std::optional<OutputSpec>> specs = {};  ///< by value; those beyond its end are unknown
};

/// Whether the node is this operator of ai.onnx.
bool is_op(const Node& node, std::string_view op);

/// Whether a convolution, product or norm has the bias that is its third input.
bool has_bias(const Node& node);

/// Whether the node computes each element from one element of each operand, which may broadcast, and no attribute
/// names an axis.
bool is_elementwise(const Node& node);

/// Whether the node changes the shape alone.
bool is_view(const Node& node);

/// Makes another operator of a node, which keeps its name and its outputs.
void become(Node& node, std::string op, std::vector<ValueId> inputs, Attributes attributes = {},
            std::string domain = "");

/// Whether both have the same names and contents.
bool is_equal(const Attributes& a, const Attributes& b);

/// Shows the nodes of a graph, first to last, to a rule. Nodes before the one that is shown are rewritten already, so
/// that one rewrite may lead to the next. Nodes that nobody reads any more are dropped.
class Rewriter {
 public:
  explicit Rewriter(Draft& draft);

  /// Shows each node to `rule`, which may change it, or replace its outputs by other values.
  void run(FunctionRef<void(Node& node)> rule);

  // What a rule can ask.

  /// The node that makes a value (of this operator of ai.onnx); null for inputs and constants, and for other nodes.
  const Node* maker(ValueId id) const;
  const Node* maker(ValueId id, std::string_view op) const;
  /// The same if nobody else reads the value: the node vanishes when its reader does.
  const Node* sole_maker(ValueId id, std::string_view op) const;
  /// How often nodes, subgraphs and the graph's outputs read a value.
  std::size_t uses(ValueId id) const { return uses_[static_cast<std::size_t>(id)]; }
  bool is_output(ValueId id) const { return output_uses_[static_cast<std::size_t>(id)] > 0; }
  /// Type and shape, or null. Valid until a node or constant is added.
  const OutputSpec* spec(ValueId id) const;
  /// The constant as a tensor, or null.
  const runtime::Tensor* constant(ValueId id) const;
  /// The number, if the value is a constant of one element.
  std::optional<double> number(ValueId id) const;
  /// The same if an elementwise operator with `other` has the shape of `other`.
  std::optional<double> number_beside(ValueId id, ValueId other) const;
  /// Whether an elementwise operator of `operand` and `other` has the shape of `other`.
  bool fits_into(ValueId operand, ValueId other) const;

  // What a rule can do.

  /// Adds a node with one output before the current one.
  ValueId add(std::string op, std::vector<ValueId> inputs, Attributes attributes = {}, std::string domain = "");
  /// The same operator as another node, with other inputs.
  ValueId add_like(const Node& node, std::vector<ValueId> inputs);
  std::vector<ValueId> add_node(std::string op, std::vector<ValueId> inputs, std::size_t outputs,
                                Attributes attributes = {}, std::string domain = "");
  ValueId add_constant(runtime::Tensor tensor);
  /// The value under another shape.
  ValueId reshaped(ValueId id, const Shape& shape);
  /// Makes a Reshape of `x` to this shape of a node.
  void become_reshape(Node& node, ValueId x, const Shape& shape);
  ValueId add_ints(const std::vector<std::int64_t>& numbers);
  /// Lets all readers of the current node's outputs read these values; the node goes. Outputs of the graph stay values
  /// of their own, by an Identity.
  void replace(Node& node, const std::vector<ValueId>& by);

 private:
  void add_node(Node node);
  void keep(Node node);
  void grow();
  void infer_specs(const Node& node);
  ValueId resolved(ValueId id) const;
  void release(ValueId id);

  Draft& draft_;
  std::deque<Node> done_;  ///< addresses stay; dead ones have no outputs
  std::vector<Node*> makers_;
  std::vector<std::size_t> uses_, output_uses_;
  std::unordered_map<ValueId, ValueId> aliases_;
  std::string name_;  ///< of the current node
  bool is_replaced_ = false;
};

/// Runs a rule over a graph.
Draft rewrite(Draft draft, FunctionRef<void(Rewriter& rewriter, Node& node)> rule);

/// These numbers as a tensor of a float type, each rounded once; none if a number does not fit the type.
std::optional<runtime::Tensor> rounded(ElementType type, Shape shape, const std::vector<double>& numbers);

}  // namespace hone::graph
