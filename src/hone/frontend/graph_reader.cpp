#include "hone/frontend/graph_reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <onnx/onnx-ml.pb.h>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "hone/frontend/attribute_proto.h"
#include "hone/frontend/node_order.h"
#include "hone/frontend/type_proto.h"
#include "hone/graph/operator.h"

namespace hone::frontend {
namespace {

using graph::Graph;
using graph::kAbsent;
using graph::Node;
using graph::Type;
using graph::ValueId;
using Opsets = std::map<std::string, std::int64_t>;

std::string canonical_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

/// Begins an error's message with what it is about.
Error about(const std::string& what, const Error& failure) {
  return error(failure.code, "{}: {}", what, failure.message);
}

/// A graph that is being filled.
struct Frame {
  Graph graph;
  std::vector<ValueId> captures;  ///< values of the enclosing graph, one per graph.captured
  std::unordered_set<std::string> names;

  /// Adds a value under a free name that is, or begins with, the wanted one.
  ValueId add(const std::string& wanted, Type type = {}) {
    std::string name = wanted;
    // Graph::add_value ends names with '~' and a number: ours must not.
    const std::size_t tilde = name.rfind('~');
    if (name.empty() || (tilde != std::string::npos && name.find_first_not_of("0123456789", tilde + 1) == name.npos))
      name += "'";
    while (!names.insert(name).second) name = fmt::format("{}#{}", wanted, ++copies[wanted]);
    graph.values.push_back({std::move(name), std::move(type)});
    return static_cast<ValueId>(graph.values.size() - 1);
  }

  std::unordered_map<std::string, std::int64_t> copies;  ///< how often a name was wanted again
};

/// A call of one of the file's functions.
struct Call {
  const Call* outer;
  const onnx::FunctionProto* function;
  std::map<std::string, const onnx::AttributeProto*> attributes;
  std::string prefix;  ///< of the names of its values and nodes
  int depth;
};

/// What names mean at some place: those of one graph or function body.
struct Scope {
  Frame& frame;
  Scope* parent;     ///< of a graph inside a node: where that node stands
  const Call* call;  ///< the function whose body this is, or null
  const Opsets& opsets;
  std::unordered_map<std::string, ValueId> names;
  std::unordered_map<std::string, Type> declared;       ///< types the file tells of inner values
  std::unordered_map<std::string, ValueId> outputs_to;  ///< of a function: the caller's values for its outputs
};

class GraphReader {
 public:
  GraphReader(onnx::ModelProto& model, TensorDecoder& tensors, Contents contents)
      : model_(model), tensors_(tensors), contents_(contents), attributes_(tensors) {}

  Result<Graph> read();

 private:
  using FunctionKey = std::tuple<std::string, std::string, std::string>;

  Result<void> read_functions();
  Result<void> read_content(onnx::GraphProto& proto, Scope& scope, const Opsets& opsets);
  Result<void> read_initializers(onnx::GraphProto& proto, Scope& scope);
  Result<void> read_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, Scope& scope);
  Result<void> read_node(const onnx::NodeProto& proto, Scope& scope);
  Result<void> read_constant(const onnx::NodeProto& proto, Scope& scope);
  Result<void> read_call(const onnx::NodeProto& proto, const onnx::FunctionProto& function, const Opsets& opsets,
                         Scope& scope);
  Result<graph::Subgraph> read_subgraph(const onnx::GraphProto& proto, Scope& scope);
  Result<void> spend(const onnx::NodeProto& proto, const Scope& scope);

  template <typename Proto>
  Result<runtime::Tensor> decode(const Proto& initializer);
  Result<ValueId> define(Scope& scope, const std::string& name);
  Result<std::vector<ValueId>> read_inputs(const onnx::NodeProto& proto, Scope& scope);
  const onnx::FunctionProto* find_function(const onnx::NodeProto& proto) const;

  onnx::ModelProto& model_;
  TensorDecoder& tensors_;
  Contents contents_;
  AttributeDecoder attributes_;
  std::map<FunctionKey, const onnx::FunctionProto*> functions_;
  std::map<const onnx::FunctionProto*, Opsets> function_opsets_;
  std::int64_t inlined_nodes_ = 0, inlined_bytes_ = 0;
};

Result<Opsets> read_opsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  Opsets opsets;
  for (const onnx::OperatorSetIdProto& import : imports) {
    const std::string domain = canonical_domain(import.domain());
    if (import.version() < 1 || (domain.empty() && import.version() > graph::kNewestOpset))
      return error(ErrorCode::Unsupported, "opset {} of domain '{}' is not supported, known are 1 to {}",
                   import.version(), domain.empty() ? "ai.onnx" : domain, graph::kNewestOpset);
    opsets[domain] = import.version();
  }
  return opsets;
}

/// The attribute that a node of a function's body gets: itself, the caller's that it refers to, or none.
const onnx::AttributeProto* resolved(const onnx::AttributeProto& proto, const Call* call) {
  if (proto.ref_attr_name().empty()) return &proto;
  if (!call) return nullptr;
  const auto found = call->attributes.find(proto.ref_attr_name());
  return found == call->attributes.end() ? nullptr : found->second;
}

std::string name_in(const Scope& scope, const std::string& name) {
  return scope.call ? scope.call->prefix + name : name;
}

/// The value that a name means, captured from the graphs around if need be; none if nothing has the name.
std::optional<ValueId> look_up(Scope& scope, const std::string& name) {
  if (const auto found = scope.names.find(name); found != scope.names.end()) return found->second;
  if (!scope.parent) return std::nullopt;
  const std::optional<ValueId> outer = look_up(*scope.parent, name);
  if (!outer || *outer == kAbsent) return outer;
  const Graph& around = scope.parent->frame.graph;
  const ValueId id = scope.frame.add(name, around.values[static_cast<std::size_t>(*outer)].type);
  const auto constant = around.constants.find(*outer);
  const bool is_overridable =
      std::find(around.overridable.begin(), around.overridable.end(), *outer) != around.overridable.end();
  if (constant != around.constants.end() && !is_overridable) {
    scope.frame.graph.constants.emplace(id, constant->second);  // shares the content
  } else {
    scope.frame.graph.captured.push_back(id);
    scope.frame.captures.push_back(*outer);
  }
  scope.names.emplace(name, id);
  return id;
}

Result<Graph> GraphReader::read() {
  HONE_TRY(const Opsets opsets, read_opsets(model_.opset_import()));
  HONE_TRY(read_functions());
  Frame frame;
  frame.graph.opsets = opsets;
  Scope scope{.frame = frame, .parent = nullptr, .call = nullptr, .opsets = opsets};
  HONE_TRY(read_content(*model_.mutable_graph(), scope, opsets));
  return std::move(frame.graph);
}

Result<void> GraphReader::read_functions() {
  for (const onnx::FunctionProto& function : model_.functions()) {
    const FunctionKey key = {canonical_domain(function.domain()), function.name(), function.overload()};
    if (!functions_.emplace(key, &function).second)
      return error(ErrorCode::InvalidArgument, "function '{}' of domain '{}' is defined twice", function.name(),
                   function.domain());
    auto opsets = read_opsets(function.opset_import());
    if (!opsets) return about(fmt::format("function '{}'", function.name()), opsets.error());
    function_opsets_.emplace(&function, *std::move(opsets));
  }
  return {};
}

/// Makes the value that an initializer, an input or a node defines under a name.
Result<ValueId> GraphReader::define(Scope& scope, const std::string& name) {
  if (scope.names.contains(name)) return error(ErrorCode::InvalidArgument, "value '{}' has two sources", name);
  Type type;
  if (const auto found = scope.declared.find(name); found != scope.declared.end()) type = found->second;
  ValueId id = kAbsent;
  if (const auto target = scope.outputs_to.find(name); target != scope.outputs_to.end()) {
    id = target->second;
    scope.outputs_to.erase(target);
  } else {
    id = scope.frame.add(name_in(scope, name), std::move(type));
  }
  scope.names.emplace(name, id);
  return id;
}

Result<void> GraphReader::read_content(onnx::GraphProto& proto, Scope& scope, const Opsets& opsets) {
  Graph& graph = scope.frame.graph;
  graph.name = proto.name();
  graph.opsets = opsets;
  const auto declare = [&](const onnx::ValueInfoProto& info) -> Result<void> {
    if (!info.has_type()) return {};
    auto type = decode_type(info.type());
    if (!type) return about(fmt::format("value '{}'", info.name()), type.error());
    scope.declared[info.name()] = *std::move(type);
    return {};
  };
  for (const onnx::ValueInfoProto& info : proto.value_info()) HONE_TRY(declare(info));
  for (const onnx::ValueInfoProto& info : proto.output()) HONE_TRY(declare(info));
  for (const onnx::ValueInfoProto& info : proto.input()) HONE_TRY(declare(info));

  std::set<std::string> inputs;
  for (const onnx::ValueInfoProto& info : proto.input()) {
    if (info.name().empty()) return error(ErrorCode::InvalidArgument, "an input of graph '{}' has no name", graph.name);
    if (!inputs.insert(info.name()).second)
      return error(ErrorCode::InvalidArgument, "graph '{}' has two inputs named '{}'", graph.name, info.name());
  }
  HONE_TRY(read_initializers(proto, scope));
  constexpr std::int64_t kFirstWithDefaults = 4;  // before, initializers had to be inputs, and none was meant to be fed
  const bool has_defaults = !scope.parent && !scope.call && model_.ir_version() >= kFirstWithDefaults;
  for (const onnx::ValueInfoProto& info : proto.input()) {
    if (const auto initializer = scope.names.find(info.name()); initializer != scope.names.end()) {
      if (has_defaults) graph.overridable.push_back(initializer->second);
      continue;
    }
    HONE_TRY(const ValueId id, define(scope, info.name()));
    graph.inputs.push_back(id);
  }
  HONE_TRY(read_nodes(proto.node(), scope));
  for (const onnx::ValueInfoProto& info : proto.output()) {
    const std::optional<ValueId> id = look_up(scope, info.name());
    if (!id || *id == kAbsent)
      return error(ErrorCode::InvalidArgument, "nothing computes output '{}' of graph '{}'", info.name(), graph.name);
    graph.outputs.push_back(*id);
  }
  return {};
}

/// A tensor of the type that a file gives, if it is one, without elements.
runtime::Tensor outline(const onnx::TensorProto& proto) {
  const Result<runtime::ElementType> type = decode_element_type(proto.data_type());
  return runtime::Tensor::view(type.value_or(runtime::ElementType::Undefined), {0}, nullptr, nullptr);
}
runtime::Tensor outline(const onnx::SparseTensorProto& proto) { return outline(proto.values()); }

template <typename Proto>
Result<runtime::Tensor> GraphReader::decode(const Proto& initializer) {
  if (contents_ == Contents::Skip) return outline(initializer);
  return tensors_.decode(initializer);
}

Result<void> GraphReader::read_initializers(onnx::GraphProto& proto, Scope& scope) {
  Graph& graph = scope.frame.graph;
  const auto keep = [&](const std::string& name, Result<runtime::Tensor> tensor) -> Result<void> {
    if (!tensor) return about(fmt::format("initializer '{}'", name), tensor.error());
    if (name.empty()) return error(ErrorCode::InvalidArgument, "an initializer of graph '{}' has no name", graph.name);
    HONE_TRY(const ValueId id, define(scope, name));
    graph.constants.emplace(id, *std::move(tensor));
    return {};
  };
  const bool is_read_once = !scope.call && contents_ == Contents::Take;  // a function's body is read at each call
  for (onnx::TensorProto& initializer : *proto.mutable_initializer()) {
    const std::string name = initializer.name();
    HONE_TRY(keep(name, decode(initializer)));
    if (!is_read_once) continue;
    onnx::TensorProto().Swap(&initializer);  // frees the file's copy
    initializer.set_name(name);
  }
  for (const onnx::SparseTensorProto& initializer : proto.sparse_initializer())
    HONE_TRY(keep(initializer.values().name(), decode(initializer)));
  return {};
}

Result<void> GraphReader::read_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, Scope& scope) {
  HONE_TRY(const std::vector<const onnx::NodeProto*> sorted, sort_nodes(nodes));
  for (const onnx::NodeProto* node : sorted) {
    HONE_TRY(spend(*node, scope));
    HONE_TRY(read_node(*node, scope));
  }
  return {};
}

/// Counts what calls of functions add.
Result<void> GraphReader::spend(const onnx::NodeProto& proto, const Scope& scope) {
  if (!scope.call) return {};
  ++inlined_nodes_;
  inlined_bytes_ += static_cast<std::int64_t>(proto.ByteSizeLong() + scope.call->prefix.size());
  for (const onnx::AttributeProto& attribute : proto.attribute())
    if (const onnx::AttributeProto* given = resolved(attribute, scope.call); given && given != &attribute)
      inlined_bytes_ += static_cast<std::int64_t>(given->ByteSizeLong());
  if (inlined_nodes_ > kMaxInlinedNodes || inlined_bytes_ > kMaxInlinedBytes)
    return error(ErrorCode::Unsupported, "the model's functions add more than {} nodes or {} bytes", kMaxInlinedNodes,
                 kMaxInlinedBytes);
  return {};
}

const onnx::FunctionProto* GraphReader::find_function(const onnx::NodeProto& proto) const {
  const auto found = functions_.find({canonical_domain(proto.domain()), proto.op_type(), proto.overload()});
  return found == functions_.end() ? nullptr : found->second;
}

Result<std::vector<ValueId>> GraphReader::read_inputs(const onnx::NodeProto& proto, Scope& scope) {
  std::vector<ValueId> inputs;
  for (const std::string& name : proto.input()) {
    const std::optional<ValueId> id = name.empty() ? kAbsent : look_up(scope, name);
    if (!id) return error(ErrorCode::InvalidArgument, "{} reads '{}', which nothing computes", describe(proto), name);
    inputs.push_back(*id);
  }
  return inputs;
}

Result<void> GraphReader::read_constant(const onnx::NodeProto& proto, Scope& scope) {
  std::vector<const onnx::AttributeProto*> given;
  for (const onnx::AttributeProto& attribute : proto.attribute())
    if (resolved(attribute, scope.call)) given.push_back(&attribute);
  if (given.size() != 1 || proto.output_size() != 1 || proto.input_size() != 0)
    return error(ErrorCode::InvalidArgument,
                 "{} has {} attributes, {} inputs and {} outputs, allowed are one attribute and one output",
                 describe(proto), given.size(), proto.input_size(), proto.output_size());
  Result<runtime::Tensor> tensor = runtime::Tensor();
  const onnx::AttributeProto& value = *resolved(*given[0], scope.call);
  if (contents_ == Contents::Skip && (value.has_t() || value.has_sparse_tensor())) {
    tensor = value.has_t() ? outline(value.t()) : outline(value.sparse_tensor());
  } else if (&value == given[0]) {
    tensor = attributes_.decode_constant(value);
  } else {  // the caller's attribute, under the name it has here
    onnx::AttributeProto renamed = value;
    renamed.set_name(given[0]->name());
    AttributeDecoder once(tensors_);
    tensor = once.decode_constant(renamed);
  }
  if (!tensor) return about(describe(proto), tensor.error());
  if (proto.output(0).empty()) return {};
  HONE_TRY(const ValueId id, define(scope, proto.output(0)));
  scope.frame.graph.constants.emplace(id, *std::move(tensor));
  return {};
}

Result<void> GraphReader::read_node(const onnx::NodeProto& proto, Scope& scope) {
  const std::string domain = canonical_domain(proto.domain());
  if (const onnx::FunctionProto* function = find_function(proto))
    return read_call(proto, *function, function_opsets_.at(function), scope);
  if (domain.empty() && proto.op_type() == "Constant") return read_constant(proto, scope);

  Node node;
  node.name = proto.name().empty() ? "" : name_in(scope, proto.name());
  node.domain = domain;
  node.op = proto.op_type();
  const auto version = scope.opsets.find(domain);
  if (version == scope.opsets.end() && domain.empty())
    return error(ErrorCode::InvalidArgument, "{} is of ai.onnx, of which the model imports no opset", describe(proto));
  node.opset = version == scope.opsets.end() ? 1 : version->second;
  HONE_TRY(node.inputs, read_inputs(proto, scope));
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    const onnx::AttributeProto* given = resolved(attribute, scope.call);
    if (!given) continue;
    const std::string& name = attribute.name();
    if (node.attributes.has(name) || node.subgraphs.contains(name))
      return error(ErrorCode::InvalidArgument, "{} has two attributes named '{}'", describe(proto), name);
    if (type_of(*given) == onnx::AttributeProto::GRAPH) {
      auto subgraph = read_subgraph(given->g(), scope);
      if (!subgraph) return about(describe(proto), subgraph.error());
      node.subgraphs.emplace(name, *std::move(subgraph));
      continue;
    }
    auto value = attributes_.decode(*given);
    if (!value) return about(fmt::format("{}: attribute '{}'", describe(proto), name), value.error());
    node.attributes.set(name, *std::move(value));
  }
  for (const std::string& name : proto.output()) {
    ValueId id = kAbsent;
    if (!name.empty()) { HONE_TRY(id, define(scope, name)); }
    node.outputs.push_back(id);
  }
  scope.frame.graph.nodes.push_back(std::move(node));
  return {};
}

Result<graph::Subgraph> GraphReader::read_subgraph(const onnx::GraphProto& proto, Scope& scope) {
  Frame frame;
  // A subgraph given to a function as an attribute is read in the function's scope, like all that stands in its body.
  Scope inner{.frame = frame, .parent = &scope, .call = scope.call, .opsets = scope.opsets};
  HONE_TRY(read_content(const_cast<onnx::GraphProto&>(proto), inner, scope.opsets));
  return graph::Subgraph{std::make_shared<const Graph>(std::move(frame.graph)), std::move(frame.captures)};
}

Result<void> GraphReader::read_call(const onnx::NodeProto& proto, const onnx::FunctionProto& function,
                                    const Opsets& opsets, Scope& scope) {
  Call call{.outer = scope.call, .function = &function, .depth = scope.call ? scope.call->depth + 1 : 1};
  for (const Call* outer = scope.call; outer; outer = outer->outer)
    if (outer->function == &function)
      return error(ErrorCode::InvalidArgument, "function '{}' calls itself", function.name());
  if (call.depth > kMaxCallDepth)
    return error(ErrorCode::Unsupported, "functions call each other more than {} deep", kMaxCallDepth);
  if (proto.input_size() > function.input_size() || proto.output_size() > function.output_size())
    return error(ErrorCode::InvalidArgument, "{} has {} inputs and {} outputs, but its function has {} and {}",
                 describe(proto), proto.input_size(), proto.output_size(), function.input_size(),
                 function.output_size());
  call.prefix = name_in(scope, proto.name().empty() ? function.name() : proto.name()) + "/";

  for (const onnx::AttributeProto& fallback : function.attribute_proto()) call.attributes[fallback.name()] = &fallback;
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    const bool is_known = call.attributes.contains(attribute.name()) ||
                          std::find(function.attribute().begin(), function.attribute().end(), attribute.name()) !=
                              function.attribute().end();
    if (!is_known)
      return error(ErrorCode::InvalidArgument, "{} has an attribute '{}', which its function does not know",
                   describe(proto), attribute.name());
    if (const onnx::AttributeProto* given = resolved(attribute, scope.call)) call.attributes[attribute.name()] = given;
  }

  Scope body{.frame = scope.frame, .parent = nullptr, .call = &call, .opsets = opsets};
  HONE_TRY(const std::vector<ValueId> inputs, read_inputs(proto, scope));
  for (int i = 0; i < function.input_size(); ++i) {
    const bool is_given = static_cast<std::size_t>(i) < inputs.size();
    if (!body.names.emplace(function.input(i), is_given ? inputs[static_cast<std::size_t>(i)] : kAbsent).second)
      return error(ErrorCode::InvalidArgument, "function '{}' has two inputs named '{}'", function.name(),
                   function.input(i));
  }
  std::vector<ValueId> outputs;
  for (int i = 0; i < proto.output_size(); ++i) {
    ValueId id = kAbsent;
    if (!proto.output(i).empty()) {
      HONE_TRY(id, define(scope, proto.output(i)));
      if (!body.names.contains(function.output(i))) body.outputs_to.emplace(function.output(i), id);
    }
    outputs.push_back(id);
  }
  if (auto done = read_nodes(function.node(), body); !done) {
    if (call.depth > 1) return done;  // the outermost call is enough
    return about(fmt::format("{} (a function)", describe(proto)), done.error());
  }
  // Outputs that no node made: inputs passed through, or one value under two names.
  for (int i = 0; i < proto.output_size(); ++i) {
    const ValueId id = outputs[static_cast<std::size_t>(i)];
    const std::optional<ValueId> made = look_up(body, function.output(i));
    if (!made || *made == kAbsent)
      return error(ErrorCode::InvalidArgument, "nothing computes output '{}' of function '{}'", function.output(i),
                   function.name());
    if (id == kAbsent || *made == id) continue;
    Node copy;
    copy.op = "Identity";
    copy.opset = graph::kNewestOpset;
    copy.inputs = {*made};
    copy.outputs = {id};
    scope.frame.graph.nodes.push_back(std::move(copy));
  }
  return {};
}

}  // namespace

Result<Graph> read_graph(onnx::ModelProto& model, TensorDecoder& tensors, Contents contents) {
  return GraphReader(model, tensors, contents).read();
}

}  // namespace hone::frontend
