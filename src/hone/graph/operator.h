/// Operators: one table that says of each ONNX operator what it takes and what it means.
///
/// An operator means one of three things:
/// - a tensor expression (`define`), which the compiler turns into loops. Its shape rule is the definition itself: the
///   shapes of the tensors it gives.
/// - other operators (`expand`), for composites whose parts deserve kernels of their own.
/// - a C++ function (`host`), for what is neither: sorting, strings, sequences, control flow. `infer` gives types and
///   shapes of its outputs where they follow from what is known; without it they are known when it has run.
/// An entry may have `host` beside the others: it then serves inputs that are no tensors of numbers.
///
/// Definitions are written for the newest form of each operator. Older forms are rewritten when a model is read
/// (upgrade.h); where that is not possible, a definition looks at `opset()`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/graph/graph.h"
#include "hone/ir/dtype.h"
#include "hone/runtime/host_kernel.h"
#include "hone/tensor/tensor.h"

namespace hone::graph {

class Application;
class Builder;

/// The type and shape of one output.
struct OutputSpec {
  ElementType type;
  Shape shape;
};

using Tensors = std::vector<tensor::Tensor>;

using Define = Result<Tensors> (*)(const Application& op);
using Expand = Result<std::vector<ValueId>> (*)(const Application& op, Builder& builder);
using Infer = Result<std::vector<OutputSpec>> (*)(const Application& op);
using OutputTypes = std::vector<ElementType> (*)(const Application& op);
using WantsHost = Result<bool> (*)(const Application& op);

/// One entry of the table.
struct Operator {
  std::string_view name;
  std::string_view domain = "";
  /// What the operator takes and gives, in three parts: values, attributes, types (see schema.h):
  ///     "X: T, W: T, B?: T -> Y: T; auto_pad, dilations, group, kernel_shape, pads, strides; T: float"
  std::string_view schema;
  Define define = nullptr;
  Expand expand = nullptr;
  runtime::HostKernel host = nullptr;
  Infer infer = nullptr;
  /// Beside `define`: the types of outputs (Undefined: as the schema or the tensor says), for storage-only ones that
  /// no input has.
  OutputTypes output_types = nullptr;
  /// Beside `define` or `expand`: whether `host` serves these inputs although they are tensors of numbers.
  WantsHost wants_host = nullptr;
  /// The output is the first input under another shape: no element moves.
  bool is_view = false;
  /// Two runs may give different results: never folded, never merged.
  bool is_random = false;
};

/// How an operator computes what it means, where there is a choice.
struct Algorithm {
  std::int64_t winograd_tile = 0;  ///< m of F(m, 3) for a convolution; 0: the sum over the window
  std::int64_t key_block = 0;      ///< keys at a time for an attention; 0: all
};

/// An operator applied to inputs whose types and shapes are known, and of some also the content.
class Application {
 public:
  /// What is known of one input.
  struct Input {
    ElementType type = ElementType::Undefined;  ///< Undefined: absent, or not a tensor
    std::optional<tensor::Tensor> tensor;       ///< none if absent, not a tensor, or strings
    const runtime::Value* value = nullptr;      ///< the content, if it is known
    ValueId id = kAbsent;                       ///< the value in the graph, for `expand`
  };

  Application(const Node& node, std::span<const Input> inputs, const Algorithm& algorithm = {})
      : node_(node), inputs_(inputs), algorithm_(algorithm) {}

  const Node& node() const { return node_; }
  const std::string& op() const { return node_.op; }
  std::int64_t opset() const { return node_.opset; }

  // Inputs. An index beyond those the node has is an absent input.

  std::size_t input_count() const { return inputs_.size(); }
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i].type != ElementType::Undefined; }
  ElementType type(std::size_t i) const { return inputs_[i].type; }
  /// The input as a tensor inside expressions; storage-only types appear as u8 or i8.
  const tensor::Tensor& tensor(std::size_t i) const { return *inputs_[i].tensor; }
  const tensor::Shape& shape(std::size_t i) const { return inputs_[i].tensor->shape(); }
  std::int64_t rank(std::size_t i) const { return static_cast<std::int64_t>(shape(i).size()); }
  ValueId id(std::size_t i) const { return i < inputs_.size() ? inputs_[i].id : kAbsent; }

  /// The content of an input. NeedsValue if it is not known yet: pass that error on, and the definition is asked again
  /// when it is.
  Result<runtime::Tensor> value(std::size_t i) const;
  /// The same as numbers.
  Result<std::vector<std::int64_t>> ints(std::size_t i) const;
  Result<std::vector<double>> reals(std::size_t i) const;
  /// The input whose content was asked for without being known, if any was.
  std::optional<std::size_t> needed() const { return needed_; }
  /// Whether the content is known.
  bool is_known(std::size_t i) const { return i < inputs_.size() && inputs_[i].value; }

  /// What it is to be defined by.
  const Algorithm& algorithm() const { return algorithm_; }

  // Attributes.

  const Attributes& attributes() const { return node_.attributes; }
  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  double real(std::string_view name, double fallback) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  std::vector<std::int64_t> integers(std::string_view name, std::vector<std::int64_t> fallback = {}) const;

  // Outputs.

  std::size_t output_count() const { return node_.outputs.size(); }
  /// Whether output `i` is used.
  bool wants(std::size_t i) const { return i < node_.outputs.size() && node_.outputs[i] != kAbsent; }

  /// `axis` counted from 0, or an error if it is outside [-rank, rank).
  Result<std::int64_t> axis(std::int64_t axis, std::int64_t rank) const;
  /// An InvalidArgument error that begins with the operator and its node's name.
  template <typename... Args>
  Error fail(fmt::format_string<Args...> format, Args&&... args) const {
    return make_error(fmt::format(format, std::forward<Args>(args)...));
  }
  /// An Unsupported error of the same form.
  template <typename... Args>
  Error unsupported(fmt::format_string<Args...> format, Args&&... args) const {
    Error made = make_error(fmt::format(format, std::forward<Args>(args)...));
    made.code = ErrorCode::Unsupported;
    return made;
  }

 private:
  Error make_error(std::string text) const;

  const Node& node_;
  std::span<const Input> inputs_;
  Algorithm algorithm_;
  mutable std::optional<std::size_t> needed_;
};

/// Adds nodes to a graph; what `expand` writes with.
class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(graph) {}

  Graph& graph() { return graph_; }
  /// A node of ai.onnx (newest version) with one output, which is returned.
  ValueId add(std::string op, std::vector<ValueId> inputs, Attributes attributes = {});
  /// A node of any domain with several outputs.
  std::vector<ValueId> add_node(std::string domain, std::string op, std::vector<ValueId> inputs, std::size_t outputs,
                                Attributes attributes = {});
  ValueId constant(runtime::Tensor tensor);
  /// A constant vector of i64, as axes and shapes are.
  ValueId ints(const std::vector<std::int64_t>& numbers);
  /// A constant scalar of this float type.
  ValueId scalar(ElementType type, double number);

  /// The nodes added so far, in order.
  std::vector<Node>& nodes() { return nodes_; }

 private:
  Graph& graph_;
  std::vector<Node> nodes_;
};

/// The newest opset whose operators the table describes.
inline constexpr std::int64_t kNewestOpset = 28;

/// The entry of an operator, or null. Domain "ai.onnx" is the same as "".
const Operator* find_operator(std::string_view domain, std::string_view name);
/// All entries, in the order of the files they stand in.
std::span<const Operator* const> all_operators();

/// The IR type that holds elements of a type: itself, or u8/i8 for storage-only types. None for strings and complex.
std::optional<ir::DType> ir_type(ElementType type);
/// The element type of an IR type.
ElementType element_type(ir::DType type);

}  // namespace hone::graph
