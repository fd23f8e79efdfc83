#include "hone/frontend/import.h"

#include <climits>
#include <google/protobuf/io/coded_stream.h>
#include <onnx/onnx-ml.pb.h>

#include "hone/frontend/external_data.h"
#include "hone/frontend/graph_reader.h"
#include "hone/frontend/large_tensors.h"
#include "hone/frontend/supported.h"
#include "hone/graph/upgrade.h"

namespace hone::frontend {
namespace {

/// Parses a model. What it has of raw data that is large is left where it is: gives that by tensor.
Result<TensorDecoder::Aside> parse_model(std::span<const std::byte> bytes, onnx::ModelProto& model) {
  if (bytes.empty()) return error(ErrorCode::ParseError, "an ONNX model is expected, but there are no bytes");
  if (bytes.size() > INT_MAX)
    return error(ErrorCode::ParseError, "{} bytes are more than a protobuf file can have ({})", bytes.size(), INT_MAX);
  const std::optional<LightModel> light = set_large_tensors_aside(bytes);
  const char* data = light ? light->bytes.data() : reinterpret_cast<const char*>(bytes.data());
  const auto size = static_cast<int>(light ? light->bytes.size() : bytes.size());
  // Protobuf itself refuses messages nested deeper than 100, some 30 graphs inside graphs.
  if (!model.ParseFromArray(data, size)) {
    google::protobuf::io::CodedInputStream deeper(reinterpret_cast<const std::uint8_t*>(data), size);
    constexpr int kDepthToTry = 1000;
    deeper.SetRecursionLimit(kDepthToTry);
    if (model.ParseFromCodedStream(&deeper) && deeper.ConsumedEntireMessage())
      return error(ErrorCode::Unsupported, "graphs or types inside each other are nested too deep");
    return error(ErrorCode::ParseError,
                 "not an ONNX model, or a part of one: its {} bytes are no whole protobuf message", bytes.size());
  }
  if (!model.has_graph() || !model.has_ir_version())
    return error(ErrorCode::ParseError, "not an ONNX model: it has no {}", model.has_graph() ? "ir_version" : "graph");
  if (model.ir_version() < kOldestIrVersion || model.ir_version() > kNewestIrVersion)
    return error(ErrorCode::Unsupported, "IR version {} is not supported, known are {} to {}", model.ir_version(),
                 kOldestIrVersion, kNewestIrVersion);
  if (model.opset_import_size() == 0) return error(ErrorCode::ParseError, "the model imports no opset");
  TensorDecoder::Aside aside;
  if (light)
    for (const LargeTensor& tensor : light->large)
      aside.contents[&model.graph().initializer(tensor.initializer)] = tensor.content;
  return aside;
}

/// Names all that is not supported, before the elements of any initializer are read: they may be gigabytes.
Result<void> check_outline(onnx::ModelProto& model, const std::filesystem::path& folder) {
  TensorDecoder tensors(folder);
  HONE_TRY(graph::Graph outline, read_graph(model, tensors, Contents::Skip));
  HONE_TRY(outline, graph::upgrade(std::move(outline)));
  return check_supported(outline);
}

Result<graph::Graph> import_parsed(onnx::ModelProto& model, const std::filesystem::path& folder,
                                   TensorDecoder::Aside aside) {
  HONE_TRY(check_outline(model, folder));
  TensorDecoder tensors(folder, std::move(aside));
  HONE_TRY(graph::Graph graph, read_graph(model, tensors, Contents::Take));
  for (const onnx::StringStringEntryProto& entry : model.metadata_props()) graph.metadata[entry.key()] = entry.value();
  if (!graph.name.empty()) graph.metadata["graph"] = graph.name;
  if (!model.producer_name().empty())
    graph.metadata["producer"] = model.producer_version().empty()
                                     ? model.producer_name()
                                     : model.producer_name() + " " + model.producer_version();
  HONE_TRY(graph, graph::upgrade(std::move(graph)));
  HONE_TRY(graph::verify(graph));
  graph.backed = tensors.take_backed();
  return graph;
}

}  // namespace

Result<graph::Graph> import_onnx(std::span<const std::byte> bytes, const std::filesystem::path& folder) {
  onnx::ModelProto model;
  HONE_TRY(TensorDecoder::Aside aside, parse_model(bytes, model));
  return import_parsed(model, folder, std::move(aside));
}

Result<graph::Graph> import_onnx(const std::filesystem::path& file) {
  onnx::ModelProto model;
  const auto about_file = [&](const Error& failure) {
    return error(failure.code, "'{}': {}", file.string(), failure.message);
  };
  HONE_TRY(const std::shared_ptr<const MappedFile> content, MappedFile::open(file));
  auto aside = parse_model(content->bytes(), model);
  if (!aside) return about_file(aside.error());
  HONE_TRY(aside->file, runtime::SourceFile::open(file));
  aside->begin = content->bytes().data();
  std::filesystem::path folder = file.parent_path();
  if (folder.empty()) folder = ".";
  auto graph = import_parsed(model, folder, *std::move(aside));
  if (!graph) return about_file(graph.error());
  return graph;
}

}  // namespace hone::frontend
