/// Decodes attributes that are no graphs.
#pragma once

#include <map>

#include "hone/frontend/tensor_proto.h"
#include "hone/runtime/attribute.h"

namespace onnx {
class AttributeProto;
}  // namespace onnx

namespace hone::frontend {

/// Decodes attributes, each tensor once however often its attribute is asked for (as functions that are called twice
/// do).
class AttributeDecoder {
 public:
  explicit AttributeDecoder(TensorDecoder& tensors) : tensors_(tensors) {}

  /// The attribute. Types are given as their text, sparse tensors written out.
  Result<runtime::Attribute> decode(const onnx::AttributeProto& proto);

  /// The value of a Constant node whose only attribute is `proto`.
  Result<runtime::Tensor> decode_constant(const onnx::AttributeProto& proto);

 private:
  Result<runtime::Tensor> tensor(const onnx::TensorProto& proto);

  TensorDecoder& tensors_;
  std::map<const onnx::TensorProto*, runtime::Tensor> decoded_;
};

/// The type of an attribute: what the file says, or what its fields show in files that do not say.
int type_of(const onnx::AttributeProto& proto);

}  // namespace hone::frontend
