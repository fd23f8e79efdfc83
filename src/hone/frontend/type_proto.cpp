#include "hone/frontend/type_proto.h"

#include <onnx/onnx-ml.pb.h>

#include "hone/frontend/tensor_proto.h"

namespace hone::frontend {
namespace {

using graph::Type;
using graph::TypeKind;

Result<Type> decode_tensor_type(const onnx::TypeProto::Tensor& proto) {
  Type type;
  if (proto.elem_type() != 0) { HONE_TRY(type.element, decode_element_type(proto.elem_type())); }
  if (!proto.has_shape()) return type;
  type.dimensions.emplace();
  graph::Shape known;
  for (const onnx::TensorShapeProto::Dimension& extent : proto.shape().dim()) {
    graph::Dimension dimension;
    if (extent.has_dim_value() && extent.dim_value() != -1) {
      dimension.extent = extent.dim_value();
      known.push_back(extent.dim_value());
    } else if (extent.has_dim_param()) {
      dimension.symbol = extent.dim_param();
    }
    type.dimensions->push_back(std::move(dimension));
  }
  HONE_TRY(runtime::element_count(known));
  return type;
}

Result<Type> with_content(TypeKind kind, const onnx::TypeProto& content) {
  HONE_TRY(Type inner, decode_type(content));
  Type type;
  type.kind = kind;
  type.content = std::make_shared<const Type>(std::move(inner));
  return type;
}

}  // namespace

Result<Type> decode_type(const onnx::TypeProto& proto) {
  switch (proto.value_case()) {
    case onnx::TypeProto::kTensorType:
      return decode_tensor_type(proto.tensor_type());
    case onnx::TypeProto::kSequenceType:
      return with_content(TypeKind::Sequence, proto.sequence_type().elem_type());
    case onnx::TypeProto::kOptionalType:
      return with_content(TypeKind::Optional, proto.optional_type().elem_type());
    case onnx::TypeProto::kMapType: {
      HONE_TRY(Type type, with_content(TypeKind::Map, proto.map_type().value_type()));
      HONE_TRY(type.element, decode_element_type(proto.map_type().key_type()));
      return type;
    }
    case onnx::TypeProto::kSparseTensorType:
      return error(ErrorCode::Unsupported, "sparse tensors are supported as constants only");
    case onnx::TypeProto::kOpaqueType:
      return error(ErrorCode::Unsupported, "opaque types are not supported");
    case onnx::TypeProto::VALUE_NOT_SET:
      return Type();
  }
  return Type();
}

}  // namespace hone::frontend
