/// Feeds broken models to the importer: it must give a graph that verifies, or an error; and the graph must survive
/// being printed, and being specialized for the shapes it declares. Models are changed field by field (onnx_mutator.h).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <onnx/onnx-ml.pb.h>
#include <span>

#include "onnx_mutator.h"

#include "hone/frontend/import.h"
#include "hone/graph/operator.h"
#include "hone/graph/specialize.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace hone;

/// Names of operators, attributes and domains, which random text would not find.
const std::vector<std::string>& words() {
  static const std::vector<std::string> made = [] {
    std::vector<std::string> all = {
        "",           "x",     "y",        "w",    "ai.onnx",  "mine",        "axis", "to", "com.microsoft",
        "ai.onnx.ml", "value", "location", "perm", "../x.bin", "/etc/passwd", "0",    "-1", "x~0"};
    for (const graph::Operator* entry : graph::all_operators()) all.emplace_back(entry->name);
    return all;
  }();
  return made;
}

/// Specializes for the declared inputs, unknown extents being 2. Folding is left out: only rules about shapes run.
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
  const auto refuse = [](const graph::Graph&, const graph::Node&,
                         std::span<const runtime::Value>) -> Result<std::vector<runtime::Value>> {
    return error(ErrorCode::Unsupported, "not computed here");
  };
  const auto stage = graph::specialize(model, given, refuse);
  if (!stage && stage.error().message.empty()) std::abort();
}

std::size_t store(const onnx::ModelProto& model, std::uint8_t* data, std::size_t max_size) {
  const std::string bytes = model.SerializeAsString();
  if (bytes.empty() || bytes.size() > max_size) return 0;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
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

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  onnx::ModelProto model;
  if (seed % 10 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, max_size);
  const onnx::ModelProto donor = model;
  fuzz::OnnxMutator(seed, words()).mutate(model, donor);
  const std::size_t stored = store(model, data, max_size);
  return stored > 0 ? stored : LLVMFuzzerMutate(data, size, max_size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second, std::size_t second_size, std::uint8_t* out,
                                                 std::size_t max_size, unsigned seed) {
  onnx::ModelProto model, donor;
  if (!model.ParseFromArray(first, static_cast<int>(first_size)) ||
      !donor.ParseFromArray(second, static_cast<int>(second_size)))
    return 0;
  fuzz::OnnxMutator(seed, words()).mutate(model, donor);
  return store(model, out, max_size);
}
