/// Decodes the ways in which ONNX writes the elements of a tensor.
#pragma once

#include "hone/frontend/external_data.h"
#include "hone/runtime/value.h"

namespace onnx {
class TensorProto;
class SparseTensorProto;
}  // namespace onnx

namespace hone::frontend {

/// The most bytes that a sparse tensor may take when it is written out.
inline constexpr std::int64_t kMaxSparseBytes = std::int64_t{1} << 30;

/// The element type of a number of TensorProto.DataType.
Result<runtime::ElementType> decode_element_type(std::int32_t number);

/// The tensor; aligned external data is not copied. The error does not name the tensor.
Result<runtime::Tensor> decode_tensor(const onnx::TensorProto& proto, ExternalFiles& files);

/// The tensor with zeros (empty strings) between the elements that are given.
Result<runtime::Tensor> decode_sparse_tensor(const onnx::SparseTensorProto& proto, ExternalFiles& files);

}  // namespace hone::frontend
