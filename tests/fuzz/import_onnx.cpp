/// Feeds broken models to the importer: it must give a graph that verifies, or an error; and the graph must survive
/// being printed, and being specialized for the shapes it declares.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <span>
#include <string_view>

#include "hone/frontend/import.h"
#include "hone/graph/evaluate.h"
#include "hone/graph/specialize.h"

namespace {

using namespace hone;

/// Computes nodes that only make shapes of shapes; others could take long.
Result<std::vector<runtime::Value>> fold(const graph::Graph& model, const graph::Node& node,
                                         std::span<const runtime::Value> inputs) {
  static const std::set<std::string_view> kNames = {"Add", "Cast",  "Concat", "Div",       "Equal",   "Gather", "Mul",
                                                    "Neg", "Shape", "Size",   "Slice",     "Squeeze", "Sub",    "Where",
                                                    "Min", "Max",   "Floor",  "Unsqueeze", "Reshape"};
  constexpr std::int64_t kFew = 64;
  bool is_small = kNames.contains(node.op);
  for (const runtime::Value& input : inputs) is_small = is_small && input.tensor() && input.tensor()->size() <= kFew;
  if (is_small) return graph::evaluate(model, node, inputs);
  return error(ErrorCode::Unsupported, "not computed here");
}

/// Specializes for the declared inputs, unknown extents being 2.
void specialize(const graph::Graph& model) {
  std::vector<graph::Given> given;
  for (const graph::ValueId id : model.inputs) {
    const graph::Type& type = model.values[static_cast<std::size_t>(id)].type;
    graph::Given one;
    if (type.kind == graph::TypeKind::Tensor && type.element != graph::ElementType::Undefined) {
      graph::OutputSpec spec{type.element, {}};
      if (type.dimensions)
        for (const graph::Dimension& dimension : *type.dimensions) spec.shape.push_back(dimension.extent.value_or(2));
      one.spec = std::move(spec);
    }
    given.push_back(std::move(one));
  }
  const auto stage = graph::specialize(model, given, fold);
  if (!stage && stage.error().message.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model = frontend::import_onnx(std::as_bytes(std::span(data, size)));
  if (!model) {
    if (model.error().message.empty()) std::abort();
    return 0;
  }
  if (!graph::verify(*model) || graph::to_string(*model).empty()) std::abort();
  specialize(*model);
  return 0;
}
