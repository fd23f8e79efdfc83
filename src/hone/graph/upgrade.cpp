#include "hone/graph/upgrade.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "hone/graph/operator.h"

namespace hone::graph {
namespace {

using Integers = std::vector<std::int64_t>;

/// Changes a node into a newer form; nodes it then needs before it are added with the builder.
using Rewrite = Result<void> (*)(Node& node, Builder& before);

/// Operators up to version `last_old` have an older form.
struct Rule {
  std::string_view op;
  std::int64_t last_old;
  Rewrite rewrite;
};

void set_input(Node& node, std::size_t i, ValueId id) {
  while (node.inputs.size() <= i) node.inputs.push_back(kAbsent);
  node.inputs[i] = id;
}

/// Makes an input of an attribute that is a list of integers, if the node has it.
void ints_to_input(Node& node, Builder& before, std::string_view attribute, std::size_t input) {
  if (!node.attributes.has(attribute)) return;
  set_input(node, input, before.ints(node.attributes.integers(attribute)));
  node.attributes.remove(attribute);
}

/// A scalar of the type of another value, which may not be known yet.
ValueId scalar_like(Builder& before, float number, ValueId like) {
  const Graph& graph = before.graph();
  const runtime::Tensor* constant = graph.constant_tensor(like);
  const ElementType type = constant ? constant->type() : graph.values[static_cast<std::size_t>(like)].type.element;
  if (runtime::is_float(type)) return before.scalar(type, static_cast<double>(number));
  return before.add("CastLike", {before.scalar(ElementType::F32, static_cast<double>(number)), like});
}

/// Makes an input of an attribute that is a number, if the node has it.
void real_to_input(Node& node, Builder& before, std::string_view attribute, std::size_t input) {
  if (!node.attributes.has(attribute) || node.inputs.empty() || node.inputs[0] == kAbsent) return;
  set_input(node, input, scalar_like(before, node.attributes.real(attribute, 0), node.inputs[0]));
  node.attributes.remove(attribute);
}

Result<void> axes_to_input(Node& node, Builder& before) {
  ints_to_input(node, before, "axes", 1);
  return {};
}

Result<void> upgrade_split(Node& node, Builder& before) {
  ints_to_input(node, before, "split", 1);
  return {};
}

Result<void> upgrade_slice(Node& node, Builder& before) {
  ints_to_input(node, before, "starts", 1);
  ints_to_input(node, before, "ends", 2);
  ints_to_input(node, before, "axes", 3);
  return {};
}

Result<void> upgrade_pad(Node& node, Builder& before) {
  ints_to_input(node, before, "pads", 1);
  real_to_input(node, before, "value", 2);
  return {};
}

Result<void> upgrade_clip(Node& node, Builder& before) {
  real_to_input(node, before, "min", 1);
  real_to_input(node, before, "max", 2);
  return {};
}

Result<void> upgrade_dropout(Node& node, Builder&) {
  node.attributes.remove("ratio");  // matters in training alone, which old forms do not ask for
  node.attributes.remove("is_test");
  return {};
}

Result<void> upgrade_top_k(Node& node, Builder& before) {
  if (node.attributes.has("k")) set_input(node, 1, before.ints({node.attributes.integer("k", 0)}));
  node.attributes.remove("k");
  return {};
}

/// Resize of opset 10 and Upsample: places are divided by the scale, and the nearest element is the one below when
/// enlarging.
Result<void> upgrade_resize(Node& node, Builder&) {
  if (node.inputs.size() == 2) node.inputs.insert(node.inputs.begin() + 1, kAbsent);
  node.op = "Resize";
  node.attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  node.attributes.set("nearest_mode", std::string("simple"));
  if (node.attributes.text("mode", "nearest") == "bilinear") node.attributes.set("mode", std::string("linear"));
  return {};
}

Result<void> upgrade_upsample(Node& node, Builder& before) {
  if (node.attributes.has("scales")) {
    const std::vector<float> scales = node.attributes.reals("scales");
    const auto count = static_cast<std::int64_t>(scales.size());
    set_input(node, 1, before.constant(runtime::Tensor::of<float>({count}, scales)));
    node.attributes.remove("scales");
  }
  return upgrade_resize(node, before);
}

Result<void> upgrade_dft(Node& node, Builder& before) {
  const std::int64_t axis = node.attributes.integer("axis", 1);
  set_input(node, 2, before.constant(runtime::Tensor::scalar(axis)));
  node.attributes.remove("axis");
  return {};
}

Result<void> upgrade_batch_normalization(Node& node, Builder&) {
  if (node.attributes.integer("spatial", 1) == 0)
    return error(ErrorCode::Unsupported, "BatchNormalization '{}': spatial 0 is not supported", node.name);
  node.attributes.remove("spatial");
  node.attributes.remove("is_test");
  return {};
}

Result<void> upgrade_roi_align(Node& node, Builder&) {
  node.attributes.set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return {};
}

/// The first version of Cast names its type: "FLOAT16".
Result<void> upgrade_cast(Node& node, Builder&) {
  std::string name = node.attributes.text("to", "");
  if (name.empty()) return {};
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::optional<ElementType> type = runtime::element_type_named(name);
  if (!type) return error(ErrorCode::InvalidArgument, "Cast '{}': unknown type '{}'", node.name, name);
  node.attributes.set("to", static_cast<std::int64_t>(*type));
  return {};
}

Result<void> drop_broadcast(Node& node, Builder&) {
  node.attributes.remove("broadcast");
  return {};
}

std::span<const Rule> rules() {
  static const Rule table[] = {
      {"BatchNormalization", 8, upgrade_batch_normalization},
      {"Cast", 5, upgrade_cast},
      {"Clip", 10, upgrade_clip},
      {"DFT", 19, upgrade_dft},
      {"Dropout", 11, upgrade_dropout},
      {"Gemm", 6, drop_broadcast},
      {"Pad", 10, upgrade_pad},
      {"ReduceL1", 17, axes_to_input},
      {"ReduceL2", 17, axes_to_input},
      {"ReduceLogSum", 17, axes_to_input},
      {"ReduceLogSumExp", 17, axes_to_input},
      {"ReduceMax", 17, axes_to_input},
      {"ReduceMean", 17, axes_to_input},
      {"ReduceMin", 17, axes_to_input},
      {"ReduceProd", 17, axes_to_input},
      {"ReduceSum", 12, axes_to_input},
      {"ReduceSumSquare", 17, axes_to_input},
      {"Resize", 10, upgrade_resize},
      {"RoiAlign", 15, upgrade_roi_align},
      {"Slice", 9, upgrade_slice},
      {"Split", 12, upgrade_split},
      {"Squeeze", 12, axes_to_input},
      {"TopK", 9, upgrade_top_k},
      {"Unsqueeze", 12, axes_to_input},
      {"Upsample", kNewestOpset, upgrade_upsample},
  };
  return table;
}

/// All values that nodes (of inner graphs too, by capturing) or the graph's caller read.
std::set<ValueId> values_read(const Graph& graph) {
  std::set<ValueId> read(graph.outputs.begin(), graph.outputs.end());
  for (const Node& node : graph.nodes)
    for (const ValueId id : reads_of(node)) read.insert(id);
  return read;
}

/// Old exporters list the statistics of training among the outputs although nobody reads them.
void drop_unread_outputs(Node& node, const std::set<ValueId>& read) {
  while (node.outputs.size() > 1 && (node.outputs.back() == kAbsent || !read.contains(node.outputs.back())))
    node.outputs.pop_back();
}

}  // namespace

Result<Graph> upgrade(Graph graph) {
  std::set<ValueId> read;
  std::vector<Node> nodes;
  for (Node& node : graph.nodes) {
    for (auto& [name, subgraph] : node.subgraphs) {
      HONE_TRY(Graph inner, upgrade(*subgraph.graph));
      subgraph.graph = std::make_shared<const Graph>(std::move(inner));
    }
    if (node.domain.empty() || node.domain == "ai.onnx") {
      if (node.op == "BatchNormalization" || node.op == "Dropout") {
        if (read.empty()) read = values_read(graph);
        drop_unread_outputs(node, read);
      }
      Builder before(graph);
      for (const Rule& rule : rules())
        if (rule.op == node.op && node.opset <= rule.last_old) {
          HONE_TRY(rule.rewrite(node, before));
          node.opset = std::min(rule.last_old + 1, kNewestOpset);
          break;
        }
      std::move(before.nodes().begin(), before.nodes().end(), std::back_inserter(nodes));
    }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
  return graph;
}

}  // namespace hone::graph
