#include "hone/graph/passes/rewriter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "hone/graph/apply.h"
#include "hone/runtime/small_float.h"

namespace hone::graph {
namespace {

std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }

/// Elementwise operators of any number of operands that broadcast, whose attributes name no axis.
constexpr std::array<std::string_view, 40> kElementwise = {
    "Abs",   "Add",  "And",     "Cast", "Ceil",    "Clip",        "Cos",       "Div",       "Elu",        "Equal",
    "Erf",   "Exp",  "Floor",   "Gelu", "Greater", "HardSigmoid", "HardSwish", "LeakyRelu", "Less",       "Log",
    "Max",   "Min",  "Mish",    "Mul",  "Neg",     "Not",         "Or",        "Pow",       "Reciprocal", "Relu",
    "Round", "Selu", "Sigmoid", "Sign", "Sin",     "Softplus",    "Sqrt",      "Sub",       "Swish",      "Tanh"};

bool is_equal(const runtime::Tensor& a, const runtime::Tensor& b) {
  if (a.type() != b.type() || a.shape() != b.shape()) return false;
  if (a.type() == ElementType::String) return std::ranges::equal(a.strings(), b.strings());
  return a.bytes() == 0 || a.data() == b.data() || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

bool is_equal(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& left) {
        using T = std::decay_t<decltype(left)>;
        const T& right = std::get<T>(b);
        if constexpr (std::is_same_v<T, runtime::Tensor>) {
          return is_equal(left, right);
        } else if constexpr (std::is_same_v<T, std::vector<runtime::Tensor>>) {
          return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                            [](const runtime::Tensor& x, const runtime::Tensor& y) { return is_equal(x, y); });
        } else {
          return left == right;
        }
      },
      a);
}

}  // namespace

bool is_op(const Node& node, std::string_view op) {
  return node.op == op && (node.domain.empty() || node.domain == "ai.onnx");
}

bool has_bias(const Node& node) { return node.inputs.size() > 2 && node.inputs[2] != kAbsent; }

bool is_elementwise(const Node& node) {
  return (node.domain.empty() || node.domain == "ai.onnx") && node.outputs.size() == 1 &&
         (std::find(kElementwise.begin(), kElementwise.end(), node.op) != kElementwise.end() || node.op == "Where");
}

bool is_view(const Node& node) {
  return is_op(node, "Reshape") || is_op(node, "Flatten") || is_op(node, "Squeeze") || is_op(node, "Unsqueeze");
}

void become(Node& node, std::string op, std::vector<ValueId> inputs, Attributes attributes, std::string domain) {
  node.op = std::move(op);
  node.opset = domain.empty() ? kNewestOpset : 1;
  node.domain = std::move(domain);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
}

bool is_equal(const Attributes& a, const Attributes& b) {
  return std::equal(a.entries().begin(), a.entries().end(), b.entries().begin(), b.entries().end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && is_equal(x.second, y.second); });
}

Rewriter::Rewriter(Draft& draft) : draft_(draft) {
  grow();
  for (const auto& [id, value] : draft_.graph.constants)
    if (const runtime::Tensor* tensor = value.tensor())
      draft_.specs[index(id)] = OutputSpec{tensor->type(), tensor->shape()};
  for (const Node& node : draft_.graph.nodes)
    for (const ValueId id : reads_of(node)) ++uses_[index(id)];
  for (const ValueId id : draft_.graph.outputs) {
    ++uses_[index(id)];
    ++output_uses_[index(id)];
  }
}

void Rewriter::run(FunctionRef<void(Node& node)> rule) {
  std::vector<Node> nodes = std::move(draft_.graph.nodes);
  for (Node& node : nodes) {
    for (ValueId& id : node.inputs) id = resolved(id);
    for (auto& [name, subgraph] : node.subgraphs)
      for (ValueId& id : subgraph.captures) id = resolved(id);
    const std::vector<ValueId> reads = reads_of(node);
    name_ = node.name;
    is_replaced_ = false;
    rule(node);
    if (!is_replaced_) keep(std::move(node));
    for (const ValueId id : reads) release(id);
  }
  draft_.graph.nodes.clear();
  for (Node& node : done_)
    if (!node.outputs.empty()) draft_.graph.nodes.push_back(std::move(node));
  done_.clear();
}

const Node* Rewriter::maker(ValueId id) const { return id == kAbsent ? nullptr : makers_[index(id)]; }

const Node* Rewriter::maker(ValueId id, std::string_view op) const {
  const Node* node = maker(id);
  return node && is_op(*node, op) ? node : nullptr;
}

const Node* Rewriter::sole_maker(ValueId id, std::string_view op) const {
  const Node* node = maker(id, op);
  return node && uses(id) == 1 && node->outputs.size() == 1 ? node : nullptr;
}

const OutputSpec* Rewriter::spec(ValueId id) const {
  if (id == kAbsent || index(id) >= draft_.specs.size()) return nullptr;
  const std::optional<OutputSpec>& known = draft_.specs[index(id)];
  return known ? &*known : nullptr;
}

const runtime::Tensor* Rewriter::constant(ValueId id) const {
  return id == kAbsent ? nullptr : draft_.graph.constant_tensor(id);
}

std::optional<double> Rewriter::number(ValueId id) const {
  const runtime::Tensor* tensor = constant(id);
  if (!tensor || tensor->size() != 1 || !ir_type(tensor->type())) return std::nullopt;
  return tensor->to_doubles()->front();
}

bool Rewriter::fits_into(ValueId operand, ValueId other) const {
  const OutputSpec *small = spec(operand), *large = spec(other);
  if (!small) return false;
  if (small->shape.empty()) return true;
  if (!large || small->shape.size() > large->shape.size()) return false;
  return std::equal(small->shape.rbegin(), small->shape.rend(), large->shape.rbegin(),
                    [](std::int64_t a, std::int64_t b) { return a == 1 || a == b; });
}

std::optional<double> Rewriter::number_beside(ValueId id, ValueId other) const {
  return fits_into(id, other) ? number(id) : std::nullopt;
}

ValueId Rewriter::add(std::string op, std::vector<ValueId> inputs, Attributes attributes, std::string domain) {
  return add_node(std::move(op), std::move(inputs), 1, std::move(attributes), std::move(domain))[0];
}

std::vector<ValueId> Rewriter::add_node(std::string op, std::vector<ValueId> inputs, std::size_t outputs,
                                        Attributes attributes, std::string domain) {
  Node node;
  node.name = name_;
  for (std::size_t i = 0; i < outputs; ++i) node.outputs.push_back(draft_.graph.add_value(op));
  become(node, std::move(op), std::move(inputs), std::move(attributes), std::move(domain));
  std::vector<ValueId> made = node.outputs;
  add_node(std::move(node));
  return made;
}

ValueId Rewriter::add_like(const Node& node, std::vector<ValueId> inputs) {
  Node copy = node;
  copy.inputs = std::move(inputs);
  const ValueId made = draft_.graph.add_value(node.op);
  copy.outputs = {made};
  add_node(std::move(copy));
  return made;
}

void Rewriter::add_node(Node node) {
  grow();
  infer_specs(node);
  keep(std::move(node));
}

ValueId Rewriter::add_constant(runtime::Tensor tensor) {
  const OutputSpec spec{tensor.type(), tensor.shape()};
  const ValueId id = draft_.graph.add_constant("constant", std::move(tensor));
  grow();
  draft_.specs[index(id)] = spec;
  return id;
}

ValueId Rewriter::add_ints(const std::vector<std::int64_t>& numbers) {
  return add_constant(runtime::Tensor::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers));
}

ValueId Rewriter::reshaped(ValueId id, const Shape& shape) {
  if (const runtime::Tensor* tensor = constant(id)) return add_constant(tensor->reshaped(shape));
  if (const OutputSpec* known = spec(id); known && known->shape == shape) return id;
  Attributes attributes;
  attributes.set("allowzero", std::int64_t{1});
  return add("Reshape", {id, add_ints(shape)}, std::move(attributes));
}

void Rewriter::become_reshape(Node& node, ValueId x, const Shape& shape) {
  Attributes attributes;
  attributes.set("allowzero", std::int64_t{1});
  become(node, "Reshape", {x, add_ints(shape)}, std::move(attributes));
}

void Rewriter::replace(Node& node, const std::vector<ValueId>& by) {
  is_replaced_ = true;
  for (std::size_t i = 0; i < by.size(); ++i) {
    const ValueId output = node.outputs[i];
    if (output == kAbsent || by[i] == kAbsent) continue;
    const std::size_t kept = output_uses_[index(output)];
    aliases_[output] = by[i];
    uses_[index(by[i])] += std::exchange(uses_[index(output)], kept) - kept;
    if (kept == 0) continue;
    Node identity;
    identity.name = node.name;
    identity.outputs = {output};
    become(identity, "Identity", {by[i]});
    keep(std::move(identity));
  }
}

/// Puts a node behind those that are done.
void Rewriter::keep(Node node) {
  for (const ValueId id : reads_of(node)) ++uses_[index(id)];
  done_.push_back(std::move(node));
  for (const ValueId id : done_.back().outputs)
    if (id != kAbsent) makers_[index(id)] = &done_.back();
}

/// Makes room for values that were added.
void Rewriter::grow() {
  const std::size_t count = draft_.graph.values.size();
  makers_.resize(count);
  uses_.resize(count);
  output_uses_.resize(count);
  draft_.specs.resize(count);
}

/// Sets types and shapes of the outputs, if those of the inputs are known and the operator is an expression.
void Rewriter::infer_specs(const Node& node) {
  const Operator* entry = find_operator(node.domain, node.op);
  if (!entry) return;
  std::vector<Application::Input> inputs;
  for (const ValueId id : node.inputs) {
    if (id == kAbsent) {
      inputs.emplace_back();
      continue;
    }
    const OutputSpec* known = spec(id);
    if (!known) return;
    inputs.push_back(shaped_input(id, draft_.graph.name_of(id), *known));
    if (const auto value = draft_.graph.constants.find(id); value != draft_.graph.constants.end())
      inputs.back().value = &value->second;
  }
  const Application op(node, inputs);
  const Result<Meaning> meaning = meaning_of(op, *entry);
  if (!meaning || *meaning != Meaning::Expression) return;
  const Result<std::vector<tensor::Tensor>> tensors = define(op, *entry);
  if (!tensors) return;
  const std::vector<OutputSpec> specs = specs_of(op, *entry, *tensors);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) draft_.specs[index(node.outputs[i])] = specs[i];
}

ValueId Rewriter::resolved(ValueId id) const {
  const auto found = aliases_.find(id);
  return found == aliases_.end() ? id : found->second;
}

/// Takes back one use; a node of which nothing is used any more goes, and takes back its own.
void Rewriter::release(ValueId id) {
  if (--uses_[index(id)] > 0) return;
  Node* node = makers_[index(id)];
  if (!node || node->outputs.empty()) return;
  const auto is_used = [&](ValueId output) { return output != kAbsent && uses(output) > 0; };
  if (std::any_of(node->outputs.begin(), node->outputs.end(), is_used)) return;
  for (const ValueId output : node->outputs)
    if (output != kAbsent) makers_[index(output)] = nullptr;
  node->outputs.clear();
  for (const ValueId read : reads_of(*node)) release(read);
}

Draft rewrite(Draft draft, FunctionRef<void(Rewriter& rewriter, Node& node)> rule) {
  Rewriter rewriter(draft);
  rewriter.run([&](Node& node) { rule(rewriter, node); });
  return draft;
}

std::optional<runtime::Tensor> rounded(ElementType type, Shape shape, const std::vector<double>& numbers) {
  Result<runtime::Tensor> made = runtime::Tensor::allocate(type, std::move(shape));
  if (!made) return std::nullopt;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    double stored = numbers[i];
    if (type == ElementType::F64) {
      made->as<double>()[i] = stored;
    } else if (type == ElementType::F32) {
      stored = made->as<float>()[i] = static_cast<float>(numbers[i]);
    } else {
      HONE_CHECK(runtime::is_float(type), "numbers rounded to {}", runtime::name_of(type));
      const std::uint16_t bits = runtime::float_to_small_float(type, static_cast<float>(numbers[i]));
      made->as<std::uint16_t>()[i] = bits;
      stored = runtime::small_float_to_float(type, bits);
    }
    if (!std::isfinite(stored)) return std::nullopt;
  }
  return *std::move(made);
}

}  // namespace hone::graph
