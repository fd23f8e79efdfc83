#include <climits>
#include <onnx/onnx-data.pb.h>

#include "hone/frontend/import.h"
#include "hone/frontend/tensor_proto.h"

namespace hone::frontend {
namespace {

using runtime::Tensor;
using runtime::Value;

template <typename Message>
Result<Message> parse(std::span<const std::byte> bytes, std::string_view what) {
  Message message;
  if (bytes.size() > INT_MAX || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return error(ErrorCode::ParseError, "{} bytes that are not a {}", bytes.size(), what);
  return message;
}

Result<Value> decode(const onnx::OptionalProto& proto);
Result<Value> decode(const onnx::MapProto& proto);

Result<Value> decode(const onnx::TensorProto& proto) {
  HONE_TRY(Tensor tensor, TensorDecoder().decode(proto));
  return Value(std::move(tensor));
}

Result<Value> decode(const onnx::SparseTensorProto& proto) {
  HONE_TRY(Tensor tensor, TensorDecoder().decode(proto));
  return Value(std::move(tensor));
}

Result<Value> decode(const onnx::SequenceProto& proto) {
  runtime::Sequence sequence;
  const auto add_all = [&](const auto& elements) -> Result<void> {
    for (const auto& element : elements) {
      HONE_TRY(Value value, decode(element));
      sequence.push_back(std::move(value));
    }
    return {};
  };
  HONE_TRY(add_all(proto.tensor_values()));
  HONE_TRY(add_all(proto.sparse_tensor_values()));
  HONE_TRY(add_all(proto.sequence_values()));
  HONE_TRY(add_all(proto.map_values()));
  HONE_TRY(add_all(proto.optional_values()));
  return Value(std::move(sequence));
}

Result<Value> decode(const onnx::MapProto& proto) {
  HONE_TRY(const Value values, decode(proto.values()));
  runtime::Map map;
  map.values = *values.sequence();
  std::size_t keys = 0;
  if (proto.string_keys_size() > 0) {
    map.keys = std::vector<std::string>(proto.string_keys().begin(), proto.string_keys().end());
    keys = static_cast<std::size_t>(proto.string_keys_size());
  } else {
    map.keys = std::vector<std::int64_t>(proto.keys().begin(), proto.keys().end());
    keys = static_cast<std::size_t>(proto.keys_size());
  }
  if (keys != map.values.size())
    return error(ErrorCode::InvalidArgument, "a map has {} keys and {} values", keys, map.values.size());
  return Value(std::move(map));
}

Result<Value> decode(const onnx::OptionalProto& proto) {
  if (proto.has_tensor_value()) return decode(proto.tensor_value());
  if (proto.has_sparse_tensor_value()) return decode(proto.sparse_tensor_value());
  if (proto.has_sequence_value()) return decode(proto.sequence_value());
  if (proto.has_map_value()) return decode(proto.map_value());
  if (proto.has_optional_value()) return decode(proto.optional_value());
  return Value();
}

}  // namespace

Result<Tensor> read_tensor(std::span<const std::byte> bytes) {
  HONE_TRY(const onnx::TensorProto proto, parse<onnx::TensorProto>(bytes, "TensorProto"));
  return TensorDecoder().decode(proto);
}

Result<Value> read_value(std::span<const std::byte> bytes, const graph::Type& type) {
  switch (type.kind) {
    case graph::TypeKind::Tensor: {
      HONE_TRY(Tensor tensor, read_tensor(bytes));
      return Value(std::move(tensor));
    }
    case graph::TypeKind::Sequence: {
      HONE_TRY(const auto proto, parse<onnx::SequenceProto>(bytes, "SequenceProto"));
      return decode(proto);
    }
    case graph::TypeKind::Map: {
      HONE_TRY(const auto proto, parse<onnx::MapProto>(bytes, "MapProto"));
      return decode(proto);
    }
    case graph::TypeKind::Optional: {
      HONE_TRY(const auto proto, parse<onnx::OptionalProto>(bytes, "OptionalProto"));
      return decode(proto);
    }
  }
  return Value();
}

}  // namespace hone::frontend
