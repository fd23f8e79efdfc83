/// Writes graphs as ONNX models: for networks that hone makes itself, such as cost models.
#pragma once

#include <string>

#include "hone/graph/graph.h"

namespace hone::frontend {

/// The model as the bytes of an ONNX file, which import_onnx and other readers take. An error for what is not written:
/// graphs inside nodes, strings, and types other than tensors.
Result<std::string> export_onnx(const graph::Graph& graph);

}  // namespace hone::frontend
