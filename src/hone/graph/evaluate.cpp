#include "hone/graph/evaluate.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "hone/graph/apply.h"
#include "hone/graph/schema.h"
#include "hone/ir/interpret.h"
#include "hone/tensor/lower.h"

namespace hone::graph {
namespace {

using runtime::Value;

ir::Array to_array(const runtime::Tensor& tensor) {
  ir::Array array(*ir_type(tensor.type()), tensor.shape());
  if (tensor.bytes() > 0) std::memcpy(array.data(), tensor.data(), tensor.bytes());
  return array;
}

/// Lowers the outputs and runs the interpreter on the content of the inputs.
Result<std::vector<Value>> interpret(const Application& op, const Operator& entry, std::span<const Value> inputs) {
  HONE_TRY(const std::vector<tensor::Tensor> tensors, define(op, entry));
  const std::vector<OutputSpec> specs = specs_of(op, entry, tensors);
  std::vector<tensor::Tensor> outputs(tensors.begin(), tensors.begin() + static_cast<std::ptrdiff_t>(specs.size()));
  std::vector<tensor::Tensor> params = placeholders_of(outputs);
  std::vector<ir::Array> arrays;
  for (const tensor::Tensor& param : params)
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (op.has(i) && op.tensor(i).is(param)) arrays.push_back(to_array(*inputs[i].tensor()));
  const std::size_t first_output = arrays.size();
  for (const tensor::Tensor& output : outputs) arrays.emplace_back(output.type(), output.shape());
  HONE_TRY(ir::interpret(tensor::lower("evaluate", params, outputs), arrays));

  std::vector<Value> values;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    HONE_TRY(runtime::Tensor tensor, runtime::Tensor::allocate(specs[i].type, specs[i].shape));
    if (tensor.bytes() > 0) std::memcpy(tensor.data(), arrays[first_output + i].data(), tensor.bytes());
    values.emplace_back(std::move(tensor));
  }
  return values;
}

Result<std::vector<Value>> expand(const Application& op, const Operator& entry, std::span<const Value> inputs) {
  Graph scratch;
  std::map<ValueId, Value> known;
  std::vector<Application::Input> parts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!op.has(i)) {
      parts.emplace_back();
      continue;
    }
    const ValueId id = scratch.add_value("input");
    known.emplace(id, inputs[i]);
    parts.push_back(known_input(id, "input", known.at(id)));
  }
  Builder builder(scratch);
  HONE_TRY(const std::vector<ValueId> outputs, entry.expand(Application(op.node(), parts), builder));
  known.insert(scratch.constants.begin(), scratch.constants.end());
  for (const Node& node : builder.nodes()) {
    std::vector<Value> arguments;
    for (const ValueId id : node.inputs) arguments.push_back(id == kAbsent ? Value() : known.at(id));
    HONE_TRY(std::vector<Value> results, evaluate(scratch, node, arguments));
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kAbsent) known[node.outputs[i]] = std::move(results[i]);
  }
  std::vector<Value> results;
  for (const ValueId id : outputs) results.push_back(id == kAbsent ? Value() : known.at(id));
  return results;
}

class EvaluatedBody : public runtime::Body {
 public:
  EvaluatedBody(const Graph& graph, std::vector<Value> captured) : graph_(graph), captured_(std::move(captured)) {}

  Result<std::vector<Value>> run(std::span<const Value> inputs) const override {
    if (inputs.size() != graph_.inputs.size())
      return error(ErrorCode::InvalidArgument, "a body of {} inputs is called with {}", graph_.inputs.size(),
                   inputs.size());
    return evaluate(graph_, inputs, captured_);
  }

  Declared declared(std::size_t output) const override { return declared_output(graph_, output); }

 private:
  const Graph& graph_;
  std::vector<Value> captured_;
};

/// `captured` holds, for a node with subgraphs, the values of the enclosing graph by id.
Result<std::vector<Value>> evaluate_node(const Graph& graph, const Node& node, std::span<const Value> inputs,
                                         const std::vector<Value>* environment) {
  const Operator* entry = find_operator(node.domain, node.op);
  if (!entry) return error(ErrorCode::Unsupported, "operator {} is not supported", node.op);
  std::vector<Application::Input> known;
  std::vector<ElementType> types;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    known.push_back(node.inputs[i] == kAbsent ? Application::Input()
                                              : known_input(node.inputs[i], "x" + std::to_string(i), inputs[i]));
    types.push_back(known.back().type);
  }
  HONE_TRY(check_node(graph, node, *entry, types));
  const Application op(node, known);
  HONE_TRY(const Meaning meaning, meaning_of(op, *entry));
  if (meaning == Meaning::Expression) return interpret(op, *entry, inputs);
  if (meaning == Meaning::Expansion) return expand(op, *entry, inputs);

  std::vector<EvaluatedBody> bodies;
  for (const auto& [name, subgraph] : node.subgraphs) {
    std::vector<Value> captured;
    for (const ValueId id : subgraph.captures) {
      HONE_CHECK(environment, "a node with a subgraph evaluated without its surroundings");
      captured.push_back((*environment)[static_cast<std::size_t>(id)]);
    }
    bodies.emplace_back(*subgraph.graph, std::move(captured));
  }
  std::vector<const runtime::Body*> body_pointers;
  for (const EvaluatedBody& body : bodies) body_pointers.push_back(&body);
  std::vector<Value> outputs(node.outputs.size());
  runtime::HostCall call{inputs, outputs, node.attributes, body_pointers, node.opset};
  if (auto done = runtime::run(entry->host, call); !done) return op.fail("{}", done.error().message);
  return outputs;
}

}  // namespace

Result<std::vector<Value>> evaluate(const Graph& graph, const Node& node, std::span<const Value> inputs) {
  return evaluate_node(graph, node, inputs, nullptr);
}

Result<std::vector<Value>> evaluate(const Graph& graph, std::span<const Value> inputs,
                                    std::span<const Value> captured) {
  HONE_CHECK(inputs.size() == graph.inputs.size() && captured.size() == graph.captured.size(),
             "a graph of {} inputs evaluated with {}", graph.inputs.size(), inputs.size());
  std::vector<Value> environment(graph.values.size());
  const auto at = [&](ValueId id) -> Value& { return environment[static_cast<std::size_t>(id)]; };
  for (std::size_t i = 0; i < inputs.size(); ++i) at(graph.inputs[i]) = inputs[i];
  for (std::size_t i = 0; i < captured.size(); ++i) at(graph.captured[i]) = captured[i];
  for (const auto& [id, value] : graph.constants) at(id) = value;
  for (const Node& node : graph.nodes) {
    std::vector<Value> arguments;
    for (const ValueId id : node.inputs) arguments.push_back(id == kAbsent ? Value() : at(id));
    HONE_TRY(std::vector<Value> results, evaluate_node(graph, node, arguments, &environment));
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kAbsent) at(node.outputs[i]) = std::move(results[i]);
  }
  std::vector<Value> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(at(id));
  return outputs;
}

}  // namespace hone::graph
