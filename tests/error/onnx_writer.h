/// Writes ONNX files byte by byte, right ones and wrong ones, independently of the library that reads them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace hone::onnx_writer {

/// A protobuf message: fields are appended as they are given, without any check.
class Message {
 public:
  Message& number(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& text(int field, std::string_view value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

using Names = std::vector<std::string>;
using Extents = std::vector<std::int64_t>;

inline constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

/// TensorProto with raw data.
inline Message tensor(std::string_view name, int type, const Extents& extents, std::string_view raw) {
  Message proto;
  for (const std::int64_t extent : extents) proto.number(1, extent);
  return proto.number(2, type).text(8, name).text(9, raw);
}

/// ValueInfoProto of a tensor.
inline Message value(std::string_view name, int type, const Extents& extents) {
  Message shape;
  for (const std::int64_t extent : extents) shape.message(1, Message().number(1, extent));
  return Message().text(1, name).message(2, Message().message(1, Message().number(1, type).message(2, shape)));
}

/// NodeProto.
inline Message node(std::string_view op, const Names& inputs, const Names& outputs, std::string_view name = "") {
  Message proto;
  for (const std::string& input : inputs) proto.text(1, input);
  for (const std::string& output : outputs) proto.text(2, output);
  return proto.text(3, name).text(4, op);
}

/// AttributeProto that is a graph, an integer, or a tensor.
inline Message graph_attribute(std::string_view name, const Message& graph) {
  return Message().text(1, name).message(6, graph).number(20, 5);
}
inline Message int_attribute(std::string_view name, std::int64_t number) {
  return Message().text(1, name).number(3, number).number(20, 2);
}
inline Message tensor_attribute(std::string_view name, const Message& tensor) {
  return Message().text(1, name).message(5, tensor).number(20, 4);
}

/// What stands in a graph.
struct Content {
  std::vector<Message> nodes = {}, initializers = {}, inputs = {}, outputs = {};
};

/// GraphProto.
inline Message graph_of(const Content& content) {
  Message proto;
  for (const Message& one : content.nodes) proto.message(1, one);
  proto.text(2, "g");
  for (const Message& one : content.initializers) proto.message(5, one);
  for (const Message& one : content.inputs) proto.message(11, one);
  for (const Message& one : content.outputs) proto.message(12, one);
  return proto;
}

/// ModelProto around a graph.
inline Message model(const Message& graph, std::int64_t opset = 21, std::int64_t ir_version = 10) {
  return Message().number(1, ir_version).message(7, graph).message(8, Message().text(1, "").number(2, opset));
}
inline Message model(const Content& content) { return model(graph_of(content)); }

}  // namespace hone::onnx_writer
