/// Turns the graph of a parsed file into ours: names become values, outer scopes captures, and calls of the file's own
/// functions the nodes of their bodies.
#pragma once

#include "hone/frontend/tensor_proto.h"
#include "hone/graph/graph.h"

namespace onnx {
class ModelProto;
}  // namespace onnx

namespace hone::frontend {

/// How deep functions may call each other, and how much all their calls together may add: a short file could otherwise
/// grow without end.
inline constexpr int kMaxCallDepth = 100;
inline constexpr std::int64_t kMaxInlinedNodes = 200'000;
inline constexpr std::int64_t kMaxInlinedBytes = std::int64_t{1} << 28;

/// Whether the elements of a model's tensors are read.
enum class Contents : std::uint8_t {
  Skip,  ///< initializers and constants have their type alone, and no elements; `model` stays as it is
  Take,  ///< initializers are taken out of `model` one by one, so that no more than one of them is held twice
};

/// Reads the model's graph.
Result<graph::Graph> read_graph(onnx::ModelProto& model, TensorDecoder& tensors, Contents contents);

}  // namespace hone::frontend
