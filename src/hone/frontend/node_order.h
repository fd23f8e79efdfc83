/// Puts the nodes of a file into an order in which each stands after those it reads from.
#pragma once

#include <string>
#include <vector>

#include "hone/support/result.h"

namespace google::protobuf {
template <typename T>
class RepeatedPtrField;
}  // namespace google::protobuf

namespace onnx {
class NodeProto;
}  // namespace onnx

namespace hone::frontend {

/// "Conv 'conv1'", or "Conv (makes 'y')" if the node has no name: for messages.
std::string describe(const onnx::NodeProto& node);

/// The nodes in such an order; the file's own where that is possible. What subgraphs take from outside counts as read.
/// Nodes that wait for each other are an error that names some of them.
Result<std::vector<const onnx::NodeProto*>> sort_nodes(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

}  // namespace hone::frontend
