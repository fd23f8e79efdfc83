#include "hone/graph/specialize.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <set>
#include <unordered_map>

#include "hone/graph/schema.h"

namespace hone::graph {
namespace {

using runtime::Value;

/// Expansions of expansions: far more than any real model needs.
constexpr std::size_t kMaxNodes = 10'000'000;

/// What is known of a value.
enum class State : std::uint8_t {
  Pending,    ///< computed by a node that is put off
  Unknown,    ///< computed in this stage, but type and shape are known only then
  NotTensor,  ///< given, and no tensor
  Shaped,     ///< a tensor of known type and shape
};

std::size_t bytes_of(const OutputSpec& spec) {
  return static_cast<std::size_t>(runtime::element_count(spec.shape).value_or(INT64_MAX / 16)) *
         std::max<std::size_t>(runtime::bytes_of(spec.type), 1);
}

class Specializer {
 public:
  Specializer(const Graph& graph, const Evaluate& evaluate) : source_(graph), evaluate_(evaluate) {}

  Result<Stage> run(std::span<const Given> given) {
    stage_.graph = source_;
    stage_.graph.nodes.clear();
    stage_.graph.outputs.clear();
    stage_.graph.inputs.insert(stage_.graph.inputs.end(), source_.captured.begin(), source_.captured.end());
    stage_.graph.captured.clear();
    grow();
    HONE_CHECK(given.size() == stage_.graph.inputs.size(), "{} inputs given for {}", given.size(),
               stage_.graph.inputs.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      const ValueId id = stage_.graph.inputs[i];
      state(id) = given[i].spec ? State::Shaped : State::NotTensor;
      stage_.specs[index(id)] = given[i].spec;
      if (given[i].content) contents_[id] = stage_.known[id] = *given[i].content;
    }
    for (const auto& [id, value] : source_.constants) set_content(id, value);

    for (const Node& node : source_.nodes) waiting_.push_back(node);
    std::size_t visited = 0;
    while (!waiting_.empty()) {
      if (++visited > kMaxNodes) return error(ErrorCode::Unsupported, "the graph has more than {} nodes", kMaxNodes);
      Node node = std::move(waiting_.front());
      waiting_.pop_front();
      resolve_aliases(node);
      HONE_TRY(visit(std::move(node)));
    }
    finish();
    return std::move(stage_);
  }

 private:
  static std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }
  State& state(ValueId id) { return states_[index(id)]; }

  /// Makes room for values that were added.
  void grow() {
    stage_.specs.resize(stage_.graph.values.size());
    states_.resize(stage_.graph.values.size(), State::Pending);
  }

  void set_content(ValueId id, const Value& value) {
    contents_[id] = value;
    const runtime::Tensor* tensor = value.tensor();
    state(id) = tensor ? State::Shaped : State::NotTensor;
    if (tensor) stage_.specs[index(id)] = OutputSpec{tensor->type(), tensor->shape()};
  }

  const Value* content(ValueId id) const {
    const auto found = contents_.find(id);
    return found == contents_.end() ? nullptr : &found->second;
  }

  ValueId resolved(ValueId id) const {
    const auto found = aliases_.find(id);
    return found == aliases_.end() ? id : found->second;
  }

  void resolve_aliases(Node& node) const {
    for (ValueId& id : node.inputs) id = resolved(id);
    for (auto& [name, subgraph] : node.subgraphs)
      for (ValueId& id : subgraph.captures) id = resolved(id);
  }

  /// Puts the node off until a later stage, which may want to know the content of a value.
  void put_off(Node node, ValueId wanted = kAbsent) {
    if (wanted != kAbsent) wanted_.insert(wanted);
    put_off_.push_back(std::move(node));
  }

  Result<void> visit(Node node) {
    for (const ValueId id : reads_of(node))
      if (state(id) == State::Pending) return put_off(std::move(node)), Result<void>();
    if (node.op == "Identity" && node.domain.empty() && node.inputs.size() == 1 && node.outputs.size() == 1) {
      aliases_[node.outputs[0]] = node.inputs[0];
      return {};
    }
    if (node.op == "If" && node.domain.empty()) return visit_if(std::move(node));

    const Operator* entry = find_operator(node.domain, node.op);
    if (!entry) return error(ErrorCode::Unsupported, "{}: the operator is not supported", describe(stage_.graph, node));
    const bool is_host_only = !entry->define && !entry->expand;
    std::vector<Application::Input> inputs;
    std::vector<ElementType> types;
    bool has_unknown = false;
    for (const ValueId id : node.inputs) {
      inputs.push_back(input_of(id));
      types.push_back(inputs.back().type);
      has_unknown |= id != kAbsent && state(id) == State::Unknown;
    }
    if (has_unknown && !is_host_only) return put_off(std::move(node)), Result<void>();
    HONE_TRY(check_node(stage_.graph, node, *entry, types));
    const Application op(node, inputs);
    if (has_unknown || is_host_only) return visit_host(op, *entry, has_unknown);
    const Result<Meaning> meaning = meaning_of(op, *entry);
    if (!meaning && meaning.error().code == ErrorCode::NeedsValue) return visit_needing(op, *entry);
    if (!meaning) return meaning.error();
    switch (*meaning) {
      case Meaning::Expression:
        return visit_expression(op, *entry);
      case Meaning::Expansion:
        return visit_expansion(op, *entry);
      case Meaning::Host:
        return visit_host(op, *entry, has_unknown);
    }
    return {};
  }

  Application::Input input_of(ValueId id) {
    if (id == kAbsent) return {};
    Application::Input input;
    if (const auto& spec = stage_.specs[index(id)]) input = shaped_input(id, stage_.graph.name_of(id), *spec);
    input.id = id;
    input.value = content(id);
    return input;
  }

  /// Runs the node in this stage.
  void keep(const Node& node, Meaning meaning) {
    stage_.graph.nodes.push_back(node);
    stage_.meanings.push_back(meaning);
  }

  /// What to do about a definition that needs content: a host kernel can wait for it, everything else comes later.
  Result<void> visit_needing(const Application& op, const Operator& entry) {
    if (entry.host) return visit_host(op, entry, /*has_unknown=*/false);
    HONE_CHECK(op.needed().has_value(), "{} needs a value but asked for none", op.op());
    return put_off(op.node(), op.id(*op.needed())), Result<void>();
  }

  Result<void> visit_expression(const Application& op, const Operator& entry) {
    Result<std::vector<tensor::Tensor>> tensors = define(op, entry);
    if (!tensors && tensors.error().code == ErrorCode::NeedsValue) return visit_needing(op, entry);
    HONE_TRY(const std::vector<tensor::Tensor> defined, std::move(tensors));
    const std::vector<OutputSpec> specs = specs_of(op, entry, defined);
    if (!entry.is_random && is_foldable(op, defined, specs)) return fold(op.node());
    set_specs(op.node(), specs);
    keep(op.node(), Meaning::Expression);
    return {};
  }

  void set_specs(const Node& node, const std::vector<OutputSpec>& specs) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kAbsent) continue;
      stage_.specs[index(node.outputs[i])] = specs[i];
      state(node.outputs[i]) = State::Shaped;
    }
  }

  /// Whether all that the outputs read is known, and their size reasonable.
  bool is_foldable(const Application& op, const std::vector<tensor::Tensor>& tensors,
                   const std::vector<OutputSpec>& specs) const {
    std::size_t input_bytes = 0;
    for (const tensor::Tensor& placeholder : placeholders_of(std::span(tensors).first(specs.size())))
      for (std::size_t i = 0; i < op.input_count(); ++i) {
        if (!op.has(i) || !op.tensor(i).is(placeholder)) continue;
        if (!op.is_known(i)) return false;
        input_bytes += bytes_of({op.type(i), op.shape(i)});
      }
    std::size_t output_bytes = 0;
    for (const OutputSpec& spec : specs) output_bytes += bytes_of(spec);
    return is_small_enough_to_fold(output_bytes, input_bytes);
  }

  /// Computes the node now. Inputs that are not known are not read: zeros stand for them.
  Result<void> fold(const Node& node) {
    std::vector<Value> inputs;
    for (const ValueId id : node.inputs) {
      if (id == kAbsent) {
        inputs.emplace_back();
      } else if (const Value* known = content(id)) {
        inputs.push_back(*known);
      } else {
        // Never read, so that memory for one element can stand for all of them; the shape is what counts.
        const OutputSpec& spec = *stage_.specs[index(id)];
        inputs.emplace_back(runtime::Tensor::view(spec.type, spec.shape, nullptr, nullptr));
      }
    }
    HONE_TRY(const std::vector<Value> outputs, evaluate_(stage_.graph, node, inputs));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kAbsent) continue;
      set_content(node.outputs[i], outputs[i]);
      stage_.graph.constants[node.outputs[i]] = outputs[i];
    }
    return {};
  }

  Result<void> visit_expansion(const Application& op, const Operator& entry) {
    Builder builder(stage_.graph);
    Result<std::vector<ValueId>> made = entry.expand(op, builder);
    if (!made && made.error().code == ErrorCode::NeedsValue) return visit_needing(op, entry);
    HONE_TRY(const std::vector<ValueId> outputs, std::move(made));
    grow();
    take_constants();
    HONE_CHECK(outputs.size() >= op.output_count(), "{} expands to {} outputs, the node has {}", op.op(),
               outputs.size(), op.output_count());
    splice(builder.nodes(), op.node(), outputs);
    return {};
  }

  /// Learns the constants that were added to the graph.
  void take_constants() {
    for (const auto& [id, value] : stage_.graph.constants)
      if (state(id) == State::Pending) set_content(id, value);
  }

  /// Puts the nodes next in line, with Identity nodes from what they make to the outputs of `node`.
  void splice(std::vector<Node> nodes, const Node& node, const std::vector<ValueId>& outputs) {
    for (Node& part : nodes)
      if (part.name.empty()) part.name = node.name;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kAbsent) continue;
      Node identity;
      identity.op = "Identity";
      identity.opset = kNewestOpset;
      identity.inputs = {outputs[i]};
      identity.outputs = {node.outputs[i]};
      nodes.push_back(std::move(identity));
    }
    waiting_.insert(waiting_.begin(), std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
  }

  /// A branch is taken when the condition is known; until then the node waits.
  Result<void> visit_if(Node node) {
    if (node.inputs.size() != 1 || node.inputs[0] == kAbsent)
      return error(ErrorCode::InvalidArgument, "{}: {} inputs, 1 needed", describe(stage_.graph, node),
                   node.inputs.size());
    const Value* condition = content(node.inputs[0]);
    if (!condition) {
      const ValueId wanted = node.inputs[0];
      return put_off(std::move(node), wanted), Result<void>();
    }
    const runtime::Tensor* tensor = condition->tensor();
    if (!tensor || tensor->type() != ElementType::Bool || tensor->size() != 1)
      return error(ErrorCode::InvalidArgument, "{}: the condition must be one bool, found {}",
                   describe(stage_.graph, node), condition->describe());
    const char* branch = tensor->as<std::uint8_t>()[0] != 0 ? "then_branch" : "else_branch";
    const auto found = node.subgraphs.find(branch);
    if (found == node.subgraphs.end())
      return error(ErrorCode::InvalidArgument, "{}: attribute '{}' is missing", describe(stage_.graph, node), branch);
    return inline_subgraph(node, found->second);
  }

  Result<void> inline_subgraph(const Node& node, const Subgraph& subgraph) {
    const Graph& inner = *subgraph.graph;
    if (inner.outputs.size() != node.outputs.size())
      return error(ErrorCode::InvalidArgument, "{}: a branch gives {} outputs, {} needed", describe(stage_.graph, node),
                   inner.outputs.size(), node.outputs.size());
    std::vector<ValueId> outer(inner.values.size(), kAbsent);
    for (std::size_t i = 0; i < inner.captured.size(); ++i) outer[index(inner.captured[i])] = subgraph.captures[i];
    for (const auto& [id, value] : inner.constants)
      outer[index(id)] = stage_.graph.add_constant(inner.name_of(id), value);
    const auto translated = [&](ValueId id) {
      if (id == kAbsent) return kAbsent;
      ValueId& known = outer[index(id)];
      if (known == kAbsent) known = stage_.graph.add_value(inner.name_of(id));
      return known;
    };
    std::vector<Node> nodes = inner.nodes;
    for (Node& part : nodes) {
      for (ValueId& id : part.inputs) id = translated(id);
      for (ValueId& id : part.outputs) id = translated(id);
      for (auto& [name, nested] : part.subgraphs)
        for (ValueId& id : nested.captures) id = translated(id);
    }
    std::vector<ValueId> outputs;
    for (const ValueId id : inner.outputs) outputs.push_back(translated(id));
    grow();
    take_constants();
    splice(std::move(nodes), node, outputs);
    return {};
  }

  /// Whether the inputs that a rule about shapes may ask for have shapes: those that the schema says are tensors. A
  /// sequence or strings in their place are the kernel's to refuse.
  static bool has_shapes(const Application& op, const Operator& entry) {
    const Schema& schema = schema_of(entry);
    for (std::size_t i = 0; i < op.input_count(); ++i) {
      const Formal* formal = Schema::formal_at(schema.inputs, i);
      const bool is_tensor = op.has(i) && ir_type(op.type(i));
      if (op.id(i) != kAbsent && formal && !formal->type.empty() && !is_tensor) return false;
    }
    return true;
  }

  Result<void> visit_host(const Application& op, const Operator& entry, bool has_unknown) {
    const Node& node = op.node();
    bool is_known = !entry.is_random && node.subgraphs.empty() && !has_unknown;
    std::size_t input_bytes = 0;
    for (const ValueId id : node.inputs) {
      if (id == kAbsent) continue;
      is_known &= content(id) != nullptr;
      if (const auto& spec = stage_.specs[index(id)]) input_bytes += bytes_of(*spec);
    }
    std::optional<std::vector<OutputSpec>> specs;
    if (!has_unknown && entry.infer && has_shapes(op, entry)) {
      Result<std::vector<OutputSpec>> inferred = entry.infer(op);
      if (inferred)
        specs = *std::move(inferred);
      else if (inferred.error().code != ErrorCode::NeedsValue)
        return std::move(inferred).error();
    }
    if (is_known) {
      std::size_t output_bytes = 0;
      if (specs)
        for (const OutputSpec& spec : *specs) output_bytes += bytes_of(spec);
      if (is_small_enough_to_fold(output_bytes, input_bytes)) return fold(node);
    }
    for (const ValueId id : node.outputs)
      if (id != kAbsent) state(id) = State::Unknown;
    if (specs) {
      HONE_CHECK(specs->size() >= node.outputs.size(), "the shape rule of {} gives {} outputs, the node has {}",
                 node.op, specs->size(), node.outputs.size());
      set_specs(node, *specs);
    }
    keep(node, Meaning::Host);
    return {};
  }

  /// Sets the outputs of the stage, and the rest of the graph that reads them.
  void finish() {
    std::vector<ValueId> outputs;
    for (const ValueId id : source_.outputs) outputs.push_back(resolved(id));
    if (put_off_.empty()) {
      stage_.graph.outputs = std::move(outputs);
    } else {
      make_rest(outputs);
    }
    remove_dead_nodes();
  }

  void make_rest(const std::vector<ValueId>& outputs) {
    Graph rest;
    rest.name = source_.name;
    rest.opsets = source_.opsets;
    rest.outputs = outputs;
    rest.nodes = std::move(put_off_);
    std::set<ValueId> reads(outputs.begin(), outputs.end());
    for (Node& node : rest.nodes) {
      resolve_aliases(node);
      for (const ValueId id : reads_of(node)) reads.insert(id);
    }
    for (const ValueId id : reads) {
      if (state(id) == State::Pending) continue;
      const Value* known = content(id);
      const bool is_input =
          std::find(stage_.graph.inputs.begin(), stage_.graph.inputs.end(), id) != stage_.graph.inputs.end();
      if (known && !is_input) {
        rest.constants.emplace(id, *known);
        continue;
      }
      rest.inputs.push_back(id);
      stage_.wants_content.push_back(wanted_.contains(id) || known);
    }
    stage_.graph.outputs = rest.inputs;
    rest.take_names(stage_.graph);
    stage_.rest = std::make_shared<const Graph>(std::move(rest));
  }

  void remove_dead_nodes() {
    std::vector<bool> is_live(stage_.graph.values.size());
    for (const ValueId id : stage_.graph.outputs) is_live[index(id)] = true;
    std::vector<Node> nodes;
    std::vector<Meaning> meanings;
    for (std::size_t i = stage_.graph.nodes.size(); i-- > 0;) {
      Node& node = stage_.graph.nodes[i];
      const auto is_read = [&](ValueId id) { return id != kAbsent && is_live[index(id)]; };
      if (std::none_of(node.outputs.begin(), node.outputs.end(), is_read)) continue;
      for (const ValueId id : reads_of(node)) is_live[index(id)] = true;
      nodes.push_back(std::move(node));
      meanings.push_back(stage_.meanings[i]);
    }
    std::reverse(nodes.begin(), nodes.end());
    std::reverse(meanings.begin(), meanings.end());
    stage_.graph.nodes = std::move(nodes);
    stage_.meanings = std::move(meanings);
    std::erase_if(stage_.graph.constants, [&](const auto& constant) { return !is_live[index(constant.first)]; });
  }

  const Graph& source_;
  const Evaluate& evaluate_;
  Stage stage_;
  std::vector<State> states_;
  std::unordered_map<ValueId, Value> contents_;
  std::unordered_map<ValueId, ValueId> aliases_;
  std::deque<Node> waiting_;
  std::vector<Node> put_off_;
  std::set<ValueId> wanted_;
};

}  // namespace

Result<Stage> specialize(const Graph& graph, std::span<const Given> given, const Evaluate& evaluate) {
  return Specializer(graph, evaluate).run(given);
}

}  // namespace hone::graph
