#include "hone/graph/partition.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "hone/ir/rewrite.h"
#include "hone/tensor/lower.h"

namespace hone::graph {
namespace {

/// Fused expressions are inlined into each other; beyond this many nodes the code grows faster than it gets better.
constexpr std::size_t kMaxExpressionNodes = 160;

/// The tensor of a constant of one element, its number built in; none for other constants.
std::optional<tensor::Tensor> built_in(const Stage& stage, ValueId id) {
  const runtime::Tensor* constant = stage.graph.constant_tensor(id);
  if (!constant || constant->size() != 1 || runtime::is_storage_only(constant->type())) return std::nullopt;
  const std::optional<ir::DType> type = ir_type(constant->type());
  if (!type) return std::nullopt;
  ir::Expr value;
  if (type->is_float()) {
    value = ir::constant(*type, constant->to_doubles()->front());
  } else {
    value = ir::constant(*type, constant->to_ints()->front());
  }
  return tensor::compute(stage.graph.name_of(id), tensor::axes_of(constant->shape()),
                         [&](const tensor::Indices&) { return value; });
}

/// Defines nodes one after the other, each on the tensors of the ones before.
class Definitions {
 public:
  explicit Definitions(const Stage& stage, const Algorithm& algorithm = {}) : stage_(stage), algorithm_(algorithm) {}

  /// The tensor of a value: defined here, built in, or a placeholder.
  const tensor::Tensor& tensor(ValueId id) {
    const auto found = tensors_.find(id);
    if (found != tensors_.end()) return found->second;
    if (auto constant = built_in(stage_, id)) return tensors_.emplace(id, *std::move(constant)).first->second;
    const OutputSpec& spec = *stage_.specs[static_cast<std::size_t>(id)];
    placeholders_.push_back(id);
    return tensors_.emplace(id, tensor::placeholder(stage_.graph.name_of(id), spec.shape, *ir_type(spec.type)))
        .first->second;
  }

  Result<std::vector<tensor::Tensor>> add(const Node& node) {
    std::vector<Application::Input> inputs;
    for (const ValueId id : node.inputs) {
      Application::Input input;
      if (id != kAbsent) {
        input.id = id;
        input.type = stage_.specs[static_cast<std::size_t>(id)]->type;
        const auto constant = stage_.graph.constants.find(id);
        if (constant != stage_.graph.constants.end()) input.value = &constant->second;
        if (const auto known = stage_.known.find(id); known != stage_.known.end()) input.value = &known->second;
        input.tensor = tensor(id);
      }
      inputs.push_back(std::move(input));
    }
    const Application op(node, inputs, algorithm_);
    HONE_TRY(std::vector<tensor::Tensor> outputs, define(op, *find_operator(node.domain, node.op)));
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kAbsent) tensors_.emplace(node.outputs[i], outputs[i]);
    return outputs;
  }

  /// Values that the definitions were given as placeholders, in the order of their first use.
  const std::vector<ValueId>& placeholders() const { return placeholders_; }

 private:
  const Stage& stage_;
  Algorithm algorithm_;
  std::map<ValueId, tensor::Tensor> tensors_;
  std::vector<ValueId> placeholders_;
};

/// How a node computes its first output.
struct Look {
  bool is_injective = false;           ///< no reduction anywhere
  std::size_t expression_nodes = 0;    ///< how large the code for one element is
  bool is_move = false;                ///< each element is an element of an input, as it is
  std::vector<ValueId> read_in_place;  ///< inputs of which element i makes element i, and nothing else is read
  std::vector<ValueId> read_once;      ///< other inputs that are read at one place for each element
};

/// What is known of a group.
struct Kind {
  std::size_t size = 0;       ///< how large the code for one element is
  bool is_injective = false;  ///< no reduction anywhere
  bool is_move = false;       ///< each element is an element of an input: reading through the group costs nothing
};

bool has_reduction(const tensor::Tensor& tensor) {
  const tensor::Operation& operation = *tensor.operation();
  if (operation.is_placeholder()) return false;
  if (operation.body->reduction()) return true;
  return std::any_of(operation.reads.begin(), operation.reads.end(), has_reduction);
}

/// Whether the value of `operation` loads `read` at its own indices alone.
bool reads_in_place(const tensor::Operation& operation, const tensor::Tensor& read) {
  bool is_in_place = true;
  for (const ir::Expr& value : operation.body->values())
    ir::walk(value, [&](const ir::Expr& e) {
      const ir::Load* load = e.as<ir::Load>();
      if (!load || !load->buffer.is(read.buffer())) return;
      is_in_place &= load->indices.size() == operation.indices.size();
      for (std::size_t i = 0; is_in_place && i < load->indices.size(); ++i)
        is_in_place &= load->indices[i].is(operation.indices[i]) ||
                       (read.extent(i) == 1 && operation.shape[i] == 1);  // where broadcasts write 0
    });
  return is_in_place;
}

/// In how many places the value of `operation` loads `read`.
std::size_t loads_of(const tensor::Operation& operation, const tensor::Tensor& read) {
  std::size_t count = 0;
  for (const ir::Expr& value : operation.body->values())
    ir::walk(value, [&](const ir::Expr& e) {
      const ir::Load* load = e.as<ir::Load>();
      count += load && load->buffer.is(read.buffer()) ? 1 : 0;
    });
  return count;
}

class Partitioner {
 public:
  explicit Partitioner(const Stage& stage) : stage_(stage) {}

  Result<std::vector<Group>> run() {
    count_uses();
    group_of_.assign(stage_.graph.nodes.size(), 0);
    for (std::size_t i = 0; i < stage_.graph.nodes.size(); ++i) HONE_TRY(place(i));
    std::vector<Group> placed;
    for (Group& group : groups_)
      if (!group.nodes.empty()) placed.push_back(std::move(group));
    std::sort(placed.begin(), placed.end(),
              [](const Group& a, const Group& b) { return a.nodes.back() < b.nodes.back(); });
    for (Group& group : placed) HONE_TRY(set_values(group));
    return placed;
  }

 private:
  void count_uses() {
    for (const Node& node : stage_.graph.nodes) {
      std::vector<ValueId> reads = reads_of(node);
      std::sort(reads.begin(), reads.end());
      reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
      for (const ValueId id : reads) ++uses_[id];
    }
    for (const ValueId id : stage_.graph.outputs) ++uses_[id];
    for (std::size_t i = 0; i < stage_.graph.nodes.size(); ++i)
      for (const ValueId id : stage_.graph.nodes[i].outputs) makers_[id] = i;
  }

  Result<void> place(std::size_t i) {
    const Node& node = stage_.graph.nodes[i];
    const Operator& entry = *find_operator(node.domain, node.op);
    Group group;
    group.nodes = {i};
    if (stage_.meanings[i] == Meaning::Host)
      group.kind = Group::Kind::Host;
    else if (entry.is_view)
      group.kind = Group::Kind::View;
    Kind kind;
    if (group.kind == Group::Kind::Kernel) {
      HONE_TRY(const Look look, look_at(node));
      kind = {look.expression_nodes, look.is_injective, look.is_move};
      if (kind.is_injective) merge_producers(group, look, kind);
    }
    for (const std::size_t member : group.nodes) group_of_[member] = groups_.size();
    groups_.push_back(std::move(group));
    kinds_.push_back(kind);
    return {};
  }

  Result<Look> look_at(const Node& node) {
    Definitions definitions(stage_);
    HONE_TRY(const std::vector<tensor::Tensor> outputs, definitions.add(node));
    Look look;
    look.is_injective = node.outputs.size() == 1 && !has_reduction(outputs[0]);
    if (!look.is_injective) return look;
    const tensor::Operation& last = *outputs[0].operation();
    if (last.is_placeholder()) return look;
    for (const ir::Expr& value : last.body->values())
      ir::walk(value, [&](const ir::Expr&) { ++look.expression_nodes; });
    look.is_move = last.body->values().size() == 1 && last.body->values()[0].as<ir::Load>();
    for (const tensor::Tensor& read : last.reads)
      for (const ValueId id : definitions.placeholders()) {
        if (!definitions.tensor(id).is(read)) continue;
        if (reads_in_place(last, read))
          look.read_in_place.push_back(id);
        else if (loads_of(last, read) == 1)
          look.read_once.push_back(id);
      }
    // An input that an inner stage reads too is not read here alone.
    for (const tensor::Tensor& read : last.reads)
      if (!read.operation()->is_placeholder())
        for (const tensor::Tensor& deeper : placeholders_of({&read, 1})) {
          const auto is_it = [&](ValueId id) { return definitions.tensor(id).is(deeper); };
          std::erase_if(look.read_in_place, is_it);
          std::erase_if(look.read_once, is_it);
        }
    return look;
  }

  /// Takes over the groups of producers whose results only this node reads: element by element, or wherever it likes
  /// if nothing is computed twice by that.
  void merge_producers(Group& group, const Look& look, Kind& kind) {
    const ValueId output = stage_.graph.nodes[group.nodes.back()].outputs[0];
    for (const ValueId id : look.read_in_place) {
      const auto producer = sole_producer(id);
      if (!producer || (!kinds_[*producer].is_injective && !kind.is_injective)) continue;  // one anchor a group
      take_over(group, kind, *producer);
    }
    for (const ValueId id : look.read_once) {
      const auto producer = sole_producer(id);
      if (!producer || !kinds_[*producer].is_injective || !kind.is_injective) continue;
      if (kinds_[*producer].is_move || elements_of(output) <= elements_of(id)) take_over(group, kind, *producer);
    }
    std::sort(group.nodes.begin(), group.nodes.end());
  }

  /// The group that ends in the node which makes a value, if it is a kernel and nobody else reads the value.
  std::optional<std::size_t> sole_producer(ValueId id) const {
    const auto maker = makers_.find(id);
    if (maker == makers_.end() || uses_.at(id) != 1) return std::nullopt;
    const std::size_t producer = group_of_[maker->second];
    const Group& group = groups_[producer];
    const bool is_last = !group.nodes.empty() && group.nodes.back() == maker->second;
    if (group.kind != Group::Kind::Kernel || !is_last) return std::nullopt;
    return stage_.graph.nodes[maker->second].outputs.size() == 1 ? std::optional(producer) : std::nullopt;
  }

  void take_over(Group& group, Kind& kind, std::size_t producer) {
    const Kind& other = kinds_[producer];
    if (kind.size + other.size > kMaxExpressionNodes) return;
    kind.size += other.size;
    kind.is_injective &= other.is_injective;
    kind.is_move &= other.is_move;
    std::vector<std::size_t>& nodes = groups_[producer].nodes;
    group.nodes.insert(group.nodes.begin(), nodes.begin(), nodes.end());
    nodes.clear();
  }

  std::int64_t elements_of(ValueId id) const {
    return *runtime::element_count(stage_.specs[static_cast<std::size_t>(id)]->shape);
  }

  Result<void> set_values(Group& group) const {
    const Node& last = stage_.graph.nodes[group.nodes.back()];
    if (group.kind != Group::Kind::Kernel) {
      group.inputs = last.inputs;
      group.outputs = last.outputs;
      return {};
    }
    Definitions definitions(stage_);
    std::vector<tensor::Tensor> outputs;
    for (const std::size_t i : group.nodes) { HONE_TRY(outputs, definitions.add(stage_.graph.nodes[i])); }
    outputs.resize(last.outputs.size(), outputs[0]);
    const std::vector<tensor::Tensor> read = placeholders_of(outputs);
    for (const ValueId id : definitions.placeholders())
      for (const tensor::Tensor& placeholder : read)
        if (definitions.tensor(id).is(placeholder)) group.inputs.push_back(id);
    for (const ValueId id : last.outputs)
      if (id != kAbsent) group.outputs.push_back(id);
    return {};
  }

  const Stage& stage_;
  std::map<ValueId, std::size_t> uses_, makers_;
  std::vector<std::size_t> group_of_;
  std::vector<Group> groups_;
  std::vector<Kind> kinds_;
};

}  // namespace

Result<std::vector<Group>> partition(const Stage& stage) { return Partitioner(stage).run(); }

std::optional<WinogradShape> winograd_shape(const Stage& stage, const Group& group) {
  for (const std::size_t i : group.nodes) {
    const Node& node = stage.graph.nodes[i];
    if (node.op != "Conv" || !node.domain.empty()) continue;
    const auto all_are_1 = [&](std::string_view name) {
      const std::vector<std::int64_t> numbers = node.attributes.integers(name);
      return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n == 1; });
    };
    const bool is_grouped = node.attributes.integer("group", 1) != 1;
    const auto& y = stage.specs[static_cast<std::size_t>(node.outputs[0])];
    const runtime::Tensor* weight = stage.graph.constant_tensor(node.inputs[1]);
    if (!y || !weight || y->type != ElementType::F32 || y->shape.size() != 4 || is_grouped) continue;
    if (weight->shape()[2] != 3 || weight->shape()[3] != 3 || !all_are_1("strides") || !all_are_1("dilations"))
      continue;
    return WinogradShape{y->shape[0], weight->shape()[1], y->shape[1], y->shape[2], y->shape[3]};
  }
  return std::nullopt;
}

Result<ir::Function> lower(const Stage& stage, const Group& group, const Algorithm& algorithm) {
  Definitions definitions(stage, algorithm);
  for (const std::size_t i : group.nodes) HONE_TRY(definitions.add(stage.graph.nodes[i]));
  std::vector<tensor::Tensor> inputs, outputs;
  for (const ValueId id : group.inputs) inputs.push_back(definitions.tensor(id));
  for (const ValueId id : group.outputs) {
    const tensor::Tensor& output = definitions.tensor(id);
    const auto is_it = [&](const tensor::Tensor& other) { return other.is(output); };
    const bool is_copy = output.operation()->is_placeholder() || std::any_of(outputs.begin(), outputs.end(), is_it);
    if (!is_copy) {
      outputs.push_back(output);
      continue;
    }
    // An output that is an input, or another output: copied.
    outputs.push_back(tensor::compute(output.name() + ".copy", tensor::axes_of(output.shape()),
                                      [&](const tensor::Indices& i) { return output(i); }));
  }
  return tensor::lower("kernel", inputs, outputs);
}

std::string describe(const Stage& stage, const Group& group) {
  std::vector<std::string_view> names;
  for (const std::size_t i : group.nodes) names.push_back(stage.graph.nodes[i].op);
  return fmt::format("{}", fmt::join(names, "+"));
}

}  // namespace hone::graph
