/// Graphs: a model as values and the operators between them, independent of the file it came from.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/runtime/attribute.h"
#include "hone/runtime/backed_bytes.h"
#include "hone/runtime/host_kernel.h"
#include "hone/runtime/value.h"

namespace hone::graph {

using runtime::Attribute;
using runtime::Attributes;
using runtime::ElementType;
using runtime::Shape;

/// The place of a value in Graph::values.
using ValueId = std::int32_t;

/// Stands for an optional input or output that is left out.
inline constexpr ValueId kAbsent = -1;

/// One extent of a declared shape: a number, a name that stands for one, or unknown (neither).
struct Dimension {
  std::optional<std::int64_t> extent;
  std::string symbol;

  bool operator==(const Dimension&) const = default;
};

/// The kinds of values ONNX knows.
enum class TypeKind : std::uint8_t { Tensor, Sequence, Optional, Map };

/// What is declared of a value: nothing, or its kind with what belongs to it.
struct Type {
  TypeKind kind = TypeKind::Tensor;
  ElementType element = ElementType::Undefined;      ///< of tensors; the key of maps
  std::optional<std::vector<Dimension>> dimensions;  ///< of tensors; none: the rank is unknown
  std::shared_ptr<const Type> content;               ///< of sequences, optionals and maps
};

/// "tensor(float)[batch, 3, ?]", "sequence(tensor(int64))".
std::string to_string(const Type& type);

/// A value: its name, unique within its graph (never empty), and its declared type.
struct ValueInfo {
  std::string name;
  Type type;
};

struct Graph;

/// A graph inside a node. It sees values of the graphs around it: `captures[i]`, a value of the enclosing graph, is
/// what the inner value `graph->captured[i]` stands for.
struct Subgraph {
  std::shared_ptr<const Graph> graph;
  std::vector<ValueId> captures;
};

/// An operator applied to values.
struct Node {
  std::string name;    ///< for messages; may be empty
  std::string domain;  ///< "" is ai.onnx
  std::string op;
  std::int64_t opset = 0;  ///< the version of the domain that the model asks for
  std::vector<ValueId> inputs, outputs;
  Attributes attributes;
  std::map<std::string, Subgraph> subgraphs;  ///< attributes that are graphs
};

/// "Conv 'conv1'", or "Conv" with its first output if the node has no name: for messages.
std::string describe(const Graph& graph, const Node& node);

/// Values and the nodes that compute them, in an order in which each node stands after those it reads from. Each value
/// has one source: it is an input, a captured value, a constant, or an output of one node.
struct Graph {
  std::string name;
  std::vector<ValueInfo> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs, outputs;
  std::vector<ValueId> captured;                ///< values that a graph around this one provides; see Subgraph
  std::map<ValueId, runtime::Value> constants;  ///< initializers, and what folding found
  /// Memory of large constants that the model's file has as well: a runner may give it back while it needs none of
  /// them.
  std::vector<std::shared_ptr<runtime::BackedBytes>> backed;
  std::vector<ValueId> overridable;             ///< constants that a caller may ask to have as inputs, before any pass
  std::map<std::string, std::int64_t> opsets;   ///< the version of each domain
  std::map<std::string, std::string> metadata;  ///< the model's own notes, and "producer"

  /// Adds a value; a name that is empty or taken is changed into a free one.
  ValueId add_value(std::string wanted_name, Type type = {});
  ValueId add_constant(std::string wanted_name, runtime::Value value);
  /// Takes over the values of another graph, of which this one is a part: ids mean the same in both.
  void take_names(const Graph& other);
  const std::string& name_of(ValueId id) const { return values[static_cast<std::size_t>(id)].name; }
  bool is_constant(ValueId id) const { return constants.contains(id); }
  /// The constant as a tensor, or null.
  const runtime::Tensor* constant_tensor(ValueId id) const;

 private:
  std::int64_t next_name_ = 0;
};

/// What a graph declares of one of its outputs, in the words of the runtime.
runtime::Body::Declared declared_output(const Graph& graph, std::size_t output);

/// Every value the node reads: its inputs that are not absent, and what its subgraphs capture.
std::vector<ValueId> reads_of(const Node& node);

/// Checks what the comments above promise; the error names the first thing that is wrong.
Result<void> verify(const Graph& graph);

/// The graph as text, one line per node; subgraphs indented.
std::string to_string(const Graph& graph);

}  // namespace hone::graph
