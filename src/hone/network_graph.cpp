#include "hone/network_graph.h"

#include <cmath>
#include <fmt/format.h>

namespace hone {
namespace {

using graph::ValueId;
using runtime::ElementType;
using runtime::Tensor;

constexpr std::int64_t kNetworkOpset = 17;
/// Writes nodes one after the other.
class GraphWriter {
 public:
  explicit GraphWriter(const cost::Weights& weights) : weights_(weights) { graph_.opsets[""] = kNetworkOpset; }

  ValueId input(const std::string& name, std::vector<graph::Dimension> dimensions) {
    graph::Type type{.element = ElementType::F32};
    type.dimensions = std::move(dimensions);
    const ValueId id = graph_.add_value(name, type);
    graph_.inputs.push_back(id);
    return id;
  }

  void output(ValueId id, const std::string& name) {
    const ValueId made = op("Identity", {id}, name);
    graph::Type& type = graph_.values[static_cast<std::size_t>(made)].type;
    type.element = ElementType::F32;
    type.dimensions = {graph::Dimension{{}, "batch"}};
    graph_.outputs.push_back(made);
  }

  ValueId op(const std::string& kind, std::vector<ValueId> inputs, const std::string& name = "",
             graph::Attributes attributes = {}) {
    const ValueId made = graph_.add_value(name.empty() ? kind : name);
    graph_.nodes.push_back({.name = fmt::format("{}_{}", kind, graph_.nodes.size()),
                            .op = kind,
                            .opset = kNetworkOpset,
                            .inputs = std::move(inputs),
                            .outputs = {made},
                            .attributes = std::move(attributes)});
    return made;
  }

  ValueId integers(const std::vector<std::int64_t>& numbers) {
    return graph_.add_constant("shape", Tensor::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers));
  }
  ValueId number(float value) { return graph_.add_constant("number", Tensor::scalar(value)); }
  /// Weights are those of a member from now on.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  ValueId weight(const std::string& name) {
    const cost::Weight& found = weights_.at(prefix_ + name);
    return graph_.add_constant(name, Tensor::of<float>(found.shape, found.numbers));
  }

  ValueId linear(ValueId x, const std::string& name) {
    return op("Add", {op("MatMul", {x, weight(name + ".weight")}), weight(name + ".bias")});
  }
  ValueId relu(ValueId x) { return op("Relu", {x}); }
  ValueId reshape(ValueId x, const std::vector<std::int64_t>& shape) { return op("Reshape", {x, integers(shape)}); }
  ValueId transpose(ValueId x, const std::vector<std::int64_t>& order) {
    graph::Attributes attributes;
    attributes.set("perm", order);
    return op("Transpose", {x}, "", std::move(attributes));
  }
  /// Sums over an axis, which vanishes.
  ValueId sum(ValueId x, std::int64_t axis) {
    graph::Attributes attributes;
    attributes.set("keepdims", std::int64_t{0});
    return op("ReduceSum", {x, integers({axis})}, "", std::move(attributes));
  }

  graph::Graph take() { return std::move(graph_); }

 private:
  const cost::Weights& weights_;
  std::string prefix_;
  graph::Graph graph_;
};

/// Multi-head attention of the rows of each sentence to each other, as torch's MultiheadAttention computes it. `hidden`
/// is added to the scores; absent: none.
ValueId attention(GraphWriter& write, ValueId x, const cost::NetworkSpec& spec, ValueId hidden) {
  const auto rows = static_cast<std::int64_t>(spec.shape.rows);
  const std::int64_t depth = spec.width() / cost::kAttentionHeads;
  const auto heads = [&](const char* name, bool is_key) {
    const ValueId all = write.reshape(write.linear(x, name), {0, rows, cost::kAttentionHeads, depth});
    return write.transpose(all, is_key ? std::vector<std::int64_t>{0, 2, 3, 1} : std::vector<std::int64_t>{0, 2, 1, 3});
  };
  const ValueId query =
      write.op("Mul", {heads("attention.query", false), write.number(1 / std::sqrt(static_cast<float>(depth)))});
  ValueId scores = write.op("MatMul", {query, heads("attention.key", true)});
  if (hidden != graph::kAbsent) scores = write.op("Add", {scores, hidden});
  graph::Attributes along_row;
  along_row.set("axis", std::int64_t{-1});
  const ValueId share = write.op("Softmax", {scores}, "", std::move(along_row));
  const ValueId mixed = write.transpose(write.op("MatMul", {share, heads("attention.value", false)}), {0, 2, 1, 3});
  return write.linear(write.reshape(mixed, {0, rows, spec.width()}), "attention.out");
}

/// The mean of the rows that count; of a sentence without any, nothing but zeros.
ValueId mean_of_rows(GraphWriter& write, ValueId x, const cost::NetworkSpec& spec, ValueId counts) {
  if (!spec.is_masked) return write.op("Mul", {write.sum(x, 1), write.number(1 / static_cast<float>(spec.shape.rows))});
  const ValueId rows = write.op("Max", {write.sum(counts, 1), write.number(1)});
  return write.op("Div", {write.sum(write.op("Mul", {x, counts}), 1), rows});
}

/// The last state of an LSTM that reads the rows.
ValueId lstm(GraphWriter& write, ValueId x, const cost::NetworkSpec& spec) {
  graph::Attributes attributes;
  attributes.set("hidden_size", spec.width());
  const ValueId in_time = write.transpose(x, {1, 0, 2});
  const ValueId states =
      write.op("LSTM", {in_time, write.weight("lstm.input"), write.weight("lstm.state"), write.weight("lstm.bias")}, "",
               std::move(attributes));  // [rows, 1, batch, width]
  const auto rows = static_cast<std::int64_t>(spec.shape.rows);
  const ValueId last =
      write.op("Slice", {states, write.integers({rows - 1}), write.integers({rows}), write.integers({0})});
  return write.reshape(last, {-1, spec.width()});
}

/// The scores of one member, by head.
std::vector<ValueId> member_scores(GraphWriter& write, const cost::NetworkSpec& spec, ValueId sentences) {
  const auto rows = static_cast<std::int64_t>(spec.shape.rows), columns = static_cast<std::int64_t>(spec.shape.columns);
  ValueId x = spec.body == "sum" ? write.op("Mul", {sentences, write.weight("scale")}) : sentences;
  for (std::size_t i = 0; i < spec.layers.size(); ++i) x = write.relu(write.linear(x, fmt::format("row.{}", i)));
  if (spec.has_positions) x = write.op("Add", {x, write.weight("positions")});

  ValueId counts = graph::kAbsent, hidden = graph::kAbsent;  // 1 for rows that count; what keeps others from being seen
  if (spec.is_masked) {
    counts = write.op("Slice", {sentences, write.integers({0}), write.integers({1}), write.integers({2})});
    constexpr float kFar = 1e4F;
    const ValueId beyond = write.op("Mul", {write.op("Sub", {counts, write.number(1)}), write.number(kFar)});
    hidden = write.reshape(beyond, {0, 1, 1, rows});
  }
  if (spec.body == "attention") x = write.op("Add", {attention(write, x, spec, hidden), x});
  if (spec.body == "lstm") x = lstm(write, x, spec);
  if (spec.body == "sum") {
    // Rows of a program are summed up before anything else is made of them.
    x = write.sum(spec.is_masked ? write.op("Mul", {x, counts}) : x, 1);
  }
  if (spec.body == "attention" && !spec.scores_rows()) x = mean_of_rows(write, x, spec, counts);
  for (std::int64_t i = 0; i < cost::kResidualLayers; ++i)
    x = write.op("Add", {write.relu(write.linear(x, fmt::format("residual.{}", i))), x});
  if (!spec.direct.empty()) {
    ValueId first = write.op("Slice", {sentences, write.integers({0}), write.integers({1}), write.integers({1})});
    first = write.reshape(first, {-1, columns});
    for (std::size_t i = 0; i < spec.direct.size(); ++i)
      first = write.relu(write.linear(first, fmt::format("direct.{}", i)));
    graph::Attributes side_by_side;
    side_by_side.set("axis", std::int64_t{1});
    x = write.op("Concat", {x, first}, "", std::move(side_by_side));
  }
  const std::size_t layers = spec.head.size() + 1;
  std::vector<ValueId> scores;
  for (std::size_t h = 0; h < spec.heads(); ++h) {
    ValueId y = x;
    for (std::size_t i = 0; i < layers; ++i) {
      y = write.linear(y, fmt::format("head.{}.{}", h, i));
      if (i + 1 < layers) y = write.relu(y);
    }
    if (spec.scores_rows() && spec.is_masked) y = write.op("Mul", {y, counts});
    if (spec.scores_rows()) y = write.sum(y, 1);
    scores.push_back(write.reshape(y, {-1}));
  }
  return scores;
}

}  // namespace

Result<graph::Graph> network_graph(const cost::NetworkSpec& spec, const cost::Weights& weights) {
  HONE_TRY(cost::check_weights(spec, weights));
  GraphWriter write(weights);
  const auto rows = static_cast<std::int64_t>(spec.shape.rows), columns = static_cast<std::int64_t>(spec.shape.columns);
  const ValueId sentences = write.input("sentences", {{{}, "batch"}, {rows, ""}, {columns, ""}});
  std::vector<ValueId> sums;
  for (std::int64_t member = 0; member < spec.members; ++member) {
    write.set_prefix(cost::member_prefix(spec, member));
    const std::vector<ValueId> scores = member_scores(write, spec, sentences);
    for (std::size_t h = 0; h < scores.size(); ++h)
      if (member == 0)
        sums.push_back(scores[h]);
      else
        sums[h] = write.op("Add", {sums[h], scores[h]});
  }
  for (std::size_t h = 0; h < sums.size(); ++h) {
    if (spec.members > 1) sums[h] = write.op("Mul", {sums[h], write.number(1 / static_cast<float>(spec.members))});
    write.output(sums[h], fmt::format("score{}", h));
  }
  graph::Graph graph = write.take();
  graph.name = spec.name;
  return graph;
}

}  // namespace hone
