/// Decodes declared types.
#pragma once

#include "hone/graph/graph.h"

namespace onnx {
class TypeProto;
}  // namespace onnx

namespace hone::frontend {

/// The declared type. Extents of -1 are unknown, as some exporters mean them; a shape too large for any memory is an
/// error.
Result<graph::Type> decode_type(const onnx::TypeProto& proto);

}  // namespace hone::frontend
