/// Decodes the ways in which ONNX writes the elements of a tensor.
#pragma once

#include <optional>
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
  /// The file that the model was read from, and its bytes.
  struct Origin {
    std::shared_ptr<const runtime::SourceFile> file;
    std::span<const std::byte> bytes;
  };

  /// External data is looked for in `folder`; an empty one has none.
  explicit TensorDecoder(std::filesystem::path folder = {}, std::optional<Origin> origin = {})
      : files_(std::move(folder)), origin_(std::move(origin)) {}

  /// The tensor; aligned external data is not copied.
  Result<runtime::Tensor> decode(const onnx::TensorProto& proto);

  /// The tensor with zeros (empty strings) between the elements that are given.
  Result<runtime::Tensor> decode(const onnx::SparseTensorProto& proto);

  /// The memory of large tensors that were found in the origin.
  std::vector<std::shared_ptr<runtime::BackedBytes>> take_backed() { return std::move(backed_); }

 private:
  std::optional<std::uint64_t> offset_in_origin(std::span<const std::byte> content);

  ExternalFiles files_;
  std::optional<Origin> origin_;
  std::size_t searched_ = 0;  ///< bytes of the origin before the end of the last tensor found
  std::vector<std::shared_ptr<runtime::BackedBytes>> backed_;
  std::int64_t sparse_bytes_left_ = kMaxSparseBytes;
};

}  // namespace hone::frontend
