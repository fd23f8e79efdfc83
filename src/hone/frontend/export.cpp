#include "hone/frontend/export.h"

#include <onnx/onnx-ml.pb.h>

#include "hone/frontend/tensor_proto.h"

namespace hone::frontend {
namespace {

/// Of the models that are written: what readers of these years know.
constexpr std::int64_t kWrittenIrVersion = 8;

/// The number of TensorProto.DataType of an element type.
Result<std::int32_t> encode_element_type(runtime::ElementType type) {
  for (std::int32_t number = 1; number <= onnx::TensorProto::DataType_MAX; ++number)
    if (const auto known = decode_element_type(number); known && *known == type && type != runtime::ElementType::String)
      return number;
  return error(ErrorCode::Unsupported, "tensors of {} are not written", runtime::name_of(type));
}

Result<void> encode_tensor(const runtime::Tensor& tensor, onnx::TensorProto& proto) {
  HONE_TRY(const std::int32_t type, encode_element_type(tensor.type()));
  proto.set_data_type(type);
  for (const std::int64_t extent : tensor.shape()) proto.add_dims(extent);
  proto.set_raw_data(tensor.data(), tensor.bytes());
  return {};
}

Result<void> encode_attribute(const std::string& name, const runtime::Attribute& attribute,
                              onnx::AttributeProto& proto) {
  proto.set_name(name);
  if (const auto* integer = std::get_if<std::int64_t>(&attribute)) {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(*integer);
  } else if (const auto* real = std::get_if<float>(&attribute)) {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(*real);
  } else if (const auto* text = std::get_if<std::string>(&attribute)) {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(*text);
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&attribute)) {
    proto.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t one : *integers) proto.add_ints(one);
  } else if (const auto* reals = std::get_if<std::vector<float>>(&attribute)) {
    proto.set_type(onnx::AttributeProto::FLOATS);
    for (const float one : *reals) proto.add_floats(one);
  } else if (const auto* tensor = std::get_if<runtime::Tensor>(&attribute)) {
    proto.set_type(onnx::AttributeProto::TENSOR);
    HONE_TRY(encode_tensor(*tensor, *proto.mutable_t()));
  } else {
    return error(ErrorCode::Unsupported, "attribute '{}' is a list that is not written", name);
  }
  return {};
}

Result<void> encode_port(const graph::ValueInfo& value, onnx::ValueInfoProto& proto) {
  proto.set_name(value.name);
  if (value.type.kind != graph::TypeKind::Tensor)
    return error(ErrorCode::Unsupported, "value '{}' is no tensor, others are not written", value.name);
  if (value.type.element == runtime::ElementType::Undefined) return {};
  HONE_TRY(const std::int32_t type, encode_element_type(value.type.element));
  onnx::TypeProto::Tensor& tensor = *proto.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  if (!value.type.dimensions) return {};
  tensor.mutable_shape();
  for (const graph::Dimension& dimension : *value.type.dimensions) {
    onnx::TensorShapeProto::Dimension& made = *tensor.mutable_shape()->add_dim();
    if (dimension.extent)
      made.set_dim_value(*dimension.extent);
    else if (!dimension.symbol.empty())
      made.set_dim_param(dimension.symbol);
  }
  return {};
}

}  // namespace

Result<std::string> export_onnx(const graph::Graph& graph) {
  onnx::ModelProto model;
  model.set_ir_version(kWrittenIrVersion);
  model.set_producer_name("hone");
  for (const auto& [domain, version] : graph.opsets) {
    onnx::OperatorSetIdProto& opset = *model.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  }
  for (const auto& [key, text] : graph.metadata) {
    onnx::StringStringEntryProto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(text);
  }
  onnx::GraphProto& made = *model.mutable_graph();
  made.set_name(graph.name);
  const auto name_of = [&](graph::ValueId id) { return id == graph::kAbsent ? std::string() : graph.name_of(id); };
  for (const graph::ValueId id : graph.inputs)
    HONE_TRY(encode_port(graph.values[static_cast<std::size_t>(id)], *made.add_input()));
  for (const graph::ValueId id : graph.outputs)
    HONE_TRY(encode_port(graph.values[static_cast<std::size_t>(id)], *made.add_output()));
  for (const auto& [id, value] : graph.constants) {
    if (!value.tensor()) return error(ErrorCode::Unsupported, "constant '{}' is no tensor", graph.name_of(id));
    onnx::TensorProto& proto = *made.add_initializer();
    proto.set_name(graph.name_of(id));
    HONE_TRY(encode_tensor(*value.tensor(), proto));
  }
  for (const graph::Node& node : graph.nodes) {
    if (!node.subgraphs.empty())
      return error(ErrorCode::Unsupported, "{} has a graph inside, which is not written", graph::describe(graph, node));
    onnx::NodeProto& proto = *made.add_node();
    proto.set_name(node.name);
    proto.set_domain(node.domain);
    proto.set_op_type(node.op);
    for (const graph::ValueId id : node.inputs) proto.add_input(name_of(id));
    for (const graph::ValueId id : node.outputs) proto.add_output(name_of(id));
    for (const auto& [name, attribute] : node.attributes.entries())
      HONE_TRY(encode_attribute(name, attribute, *proto.add_attribute()));
  }
  std::string bytes;
  if (!model.SerializeToString(&bytes)) return error(ErrorCode::OutOfMemory, "the model cannot be written");
  return bytes;
}

}  // namespace hone::frontend
