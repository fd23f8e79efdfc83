#include "hone/frontend/attribute_proto.h"

#include <onnx/onnx-ml.pb.h>

#include "hone/frontend/type_proto.h"

namespace hone::frontend {

using onnx::AttributeProto;
using runtime::Attribute;
using runtime::Tensor;

int type_of(const AttributeProto& proto) {
  if (proto.type() != AttributeProto::UNDEFINED) return proto.type();
  if (proto.has_f()) return AttributeProto::FLOAT;
  if (proto.has_i()) return AttributeProto::INT;
  if (proto.has_s()) return AttributeProto::STRING;
  if (proto.has_t()) return AttributeProto::TENSOR;
  if (proto.has_g()) return AttributeProto::GRAPH;
  if (proto.has_sparse_tensor()) return AttributeProto::SPARSE_TENSOR;
  if (proto.has_tp()) return AttributeProto::TYPE_PROTO;
  if (proto.floats_size() > 0) return AttributeProto::FLOATS;
  if (proto.ints_size() > 0) return AttributeProto::INTS;
  if (proto.strings_size() > 0) return AttributeProto::STRINGS;
  if (proto.tensors_size() > 0) return AttributeProto::TENSORS;
  if (proto.graphs_size() > 0) return AttributeProto::GRAPHS;
  if (proto.sparse_tensors_size() > 0) return AttributeProto::SPARSE_TENSORS;
  if (proto.type_protos_size() > 0) return AttributeProto::TYPE_PROTOS;
  return AttributeProto::UNDEFINED;
}

Result<Tensor> AttributeDecoder::tensor(const onnx::TensorProto& proto) {
  if (const auto found = decoded_.find(&proto); found != decoded_.end()) return found->second;
  HONE_TRY(Tensor decoded, tensors_.decode(proto));
  return decoded_.emplace(&proto, std::move(decoded)).first->second;
}

Result<Attribute> AttributeDecoder::decode(const AttributeProto& proto) {
  switch (type_of(proto)) {
    case AttributeProto::FLOAT:
      return Attribute(proto.f());
    case AttributeProto::INT:
      return Attribute(std::int64_t{proto.i()});
    case AttributeProto::STRING:
      return Attribute(proto.s());
    case AttributeProto::FLOATS:
      return Attribute(std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case AttributeProto::INTS:
      return Attribute(std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end()));
    case AttributeProto::STRINGS:
      return Attribute(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
    case AttributeProto::TENSOR: {
      HONE_TRY(Tensor decoded, tensor(proto.t()));
      return Attribute(std::move(decoded));
    }
    case AttributeProto::TENSORS: {
      std::vector<Tensor> all;
      for (const onnx::TensorProto& one : proto.tensors()) {
        HONE_TRY(Tensor decoded, tensor(one));
        all.push_back(std::move(decoded));
      }
      return Attribute(std::move(all));
    }
    case AttributeProto::SPARSE_TENSOR: {
      HONE_TRY(Tensor decoded, tensors_.decode(proto.sparse_tensor()));
      return Attribute(std::move(decoded));
    }
    case AttributeProto::TYPE_PROTO: {
      HONE_TRY(const graph::Type type, decode_type(proto.tp()));
      return Attribute(graph::to_string(type));
    }
    case AttributeProto::UNDEFINED:
      return error(ErrorCode::InvalidArgument, "it has no type and no value");
    default:
      return error(ErrorCode::Unsupported, "its type {} is not supported", type_of(proto));
  }
}

Result<Tensor> AttributeDecoder::decode_constant(const AttributeProto& proto) {
  const std::string& name = proto.name();
  HONE_TRY(const Attribute value, decode(proto));
  const auto length = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  if (name == "value" || name == "sparse_value") {
    if (const auto* held = std::get_if<Tensor>(&value)) return *held;
  } else if (name == "value_int") {
    if (const auto* held = std::get_if<std::int64_t>(&value)) return Tensor::scalar(*held);
  } else if (name == "value_float") {
    if (const auto* held = std::get_if<float>(&value)) return Tensor::scalar(*held);
  } else if (name == "value_string") {
    if (const auto* held = std::get_if<std::string>(&value)) return Tensor::of_strings({}, {*held});
  } else if (name == "value_ints") {
    if (const auto* held = std::get_if<std::vector<std::int64_t>>(&value)) return Tensor::of({length(*held)}, *held);
  } else if (name == "value_floats") {
    if (const auto* held = std::get_if<std::vector<float>>(&value)) return Tensor::of({length(*held)}, *held);
  } else if (name == "value_strings") {
    if (const auto* held = std::get_if<std::vector<std::string>>(&value))
      return Tensor::of_strings({length(*held)}, *held);
  } else {
    return error(ErrorCode::Unsupported, "attribute '{}' is not supported, known are: value, sparse_value, value_*",
                 name);
  }
  return error(ErrorCode::InvalidArgument, "attribute '{}' has the wrong type {}", name, type_of(proto));
}

}  // namespace hone::frontend
