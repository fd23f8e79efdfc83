/// Decodes the ways in which ONNX writes the elements of a tensor.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "hone/frontend/external_data.h"
#include "hone/runtime/backed_bytes.h"
#include "hone/runtime/value.h"

namespace onnx {
class TensorProto;
class SparseTensorProto;
}  // namespace onnx

namespace hone::frontend {

/// The most bytes that the sparse tensors of a model may take together when they are written out.
inline constexpr std::int64_t kMaxSparseBytes = std::int64_t{1} << 30;

/// The element type of a number of TensorProto.DataType.
Result<runtime::ElementType> decode_element_type(std::int32_t number);

/// Decodes the tensors of one model. Its errors do not name the tensor.
class TensorDecoder {
 public:
  /// Raw data that was set aside before the model was parsed.
  struct Aside {
    std::map<const onnx::TensorProto*, std::span<const std::byte>> contents;
    std::shared_ptr<const runtime::SourceFile> file;  ///< that the model was read from; null if it was memory
    const std::byte* begin = nullptr;                 ///< of the file, where it is mapped
  };

  /// External data is looked for in `folder`; an empty one has none.
  explicit TensorDecoder(std::filesystem::path folder = {}) : files_(std::move(folder)) {}
  TensorDecoder(std::filesystem::path folder, Aside aside) : files_(std::move(folder)), aside_(std::move(aside)) {}

  /// The tensor; aligned external data is not copied.
  Result<runtime::Tensor> decode(const onnx::TensorProto& proto);

  /// The tensor with zeros (empty strings) between the elements that are given.
  Result<runtime::Tensor> decode(const onnx::SparseTensorProto& proto);

  /// The memory of the tensors that the file has as well.
  std::vector<std::shared_ptr<runtime::BackedBytes>> take_backed() { return std::move(backed_); }

 private:
  ExternalFiles files_;
  Aside aside_;
  std::vector<std::shared_ptr<runtime::BackedBytes>> backed_;
  std::int64_t sparse_bytes_left_ = kMaxSparseBytes;
};

}  // namespace hone::frontend
