#include "hone/graph/operator.h"

#include <map>

#include "hone/graph/operators/families.h"
#include "hone/runtime/small_float.h"

namespace hone::graph {
namespace {

std::string_view canonical_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

using Table = std::map<std::pair<std::string_view, std::string_view>, const Operator*>;

const Table& table() {
  static const Table made = [] {
    Table entries;
    for (const Operator* entry : all_operators())
      HONE_CHECK(entries.emplace(std::pair(entry->domain, entry->name), entry).second,
                 "operator {} stands twice in the table", entry->name);
    return entries;
  }();
  return made;
}

}  // namespace

const Operator* find_operator(std::string_view domain, std::string_view name) {
  const auto found = table().find({canonical_domain(domain), name});
  return found == table().end() ? nullptr : found->second;
}

std::span<const Operator* const> all_operators() {
  static const std::vector<const Operator*> all = [] {
    std::vector<const Operator*> entries;
    for (const auto family : operator_families())
      for (const Operator& entry : family()) entries.push_back(&entry);
    return entries;
  }();
  return all;
}

Result<runtime::Tensor> Application::value(std::size_t i) const {
  if (i >= inputs_.size() || inputs_[i].id == kAbsent) return fail("input {} is missing", i);
  if (!inputs_[i].value) {
    needed_ = i;
    return error(ErrorCode::NeedsValue, "{} depends on the content of input {}", op(), i);
  }
  const runtime::Tensor* tensor = inputs_[i].value->tensor();
  if (!tensor) return fail("input {} must be a tensor, found {}", i, inputs_[i].value->describe());
  return *tensor;
}

Result<std::vector<std::int64_t>> Application::ints(std::size_t i) const {
  HONE_TRY(const runtime::Tensor tensor, value(i));
  return tensor.to_ints();
}

Result<std::vector<double>> Application::reals(std::size_t i) const {
  HONE_TRY(const runtime::Tensor tensor, value(i));
  return tensor.to_doubles();
}

std::int64_t Application::integer(std::string_view name, std::int64_t fallback) const {
  return attributes().integer(name, fallback);
}

double Application::real(std::string_view name, double fallback) const {
  return attributes().has(name) ? static_cast<double>(attributes().real(name, 0)) : fallback;
}

std::string Application::text(std::string_view name, std::string_view fallback) const {
  return attributes().text(name, fallback);
}

std::vector<std::int64_t> Application::integers(std::string_view name, std::vector<std::int64_t> fallback) const {
  return attributes().integers(name, std::move(fallback));
}

Result<std::int64_t> Application::axis(std::int64_t axis, std::int64_t rank) const {
  if (axis < -rank || axis >= rank) return fail("axis {} is outside [{}, {})", axis, -rank, rank);
  return axis < 0 ? axis + rank : axis;
}

Error Application::make_error(std::string text) const {
  return node_.name.empty() ? error(ErrorCode::InvalidArgument, "{}: {}", op(), text)
                            : error(ErrorCode::InvalidArgument, "{} '{}': {}", op(), node_.name, text);
}

ValueId Builder::add(std::string op, std::vector<ValueId> inputs, Attributes attributes) {
  return add_node("", std::move(op), std::move(inputs), 1, std::move(attributes))[0];
}

std::vector<ValueId> Builder::add_node(std::string domain, std::string op, std::vector<ValueId> inputs,
                                       std::size_t outputs, Attributes attributes) {
  Node node;
  node.opset = domain.empty() ? kNewestOpset : 1;
  node.domain = std::move(domain);
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  for (std::size_t i = 0; i < outputs; ++i) node.outputs.push_back(graph_.add_value(node.op));
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs;
}

ValueId Builder::constant(runtime::Tensor tensor) { return graph_.add_constant("constant", std::move(tensor)); }

ValueId Builder::ints(const std::vector<std::int64_t>& numbers) {
  return constant(runtime::Tensor::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers));
}

ValueId Builder::scalar(ElementType type, double number) {
  if (type == ElementType::F64) return constant(runtime::Tensor::scalar(number));
  const auto value = static_cast<float>(number);
  if (type == ElementType::F32) return constant(runtime::Tensor::scalar(value));
  HONE_CHECK(type == ElementType::F16 || type == ElementType::BF16, "a float scalar of type {}",
             runtime::name_of(type));
  return constant(runtime::Tensor::scalar(runtime::float_to_small_float(type, value)).reinterpreted(type));
}

std::optional<ir::DType> ir_type(ElementType type) {
  switch (type) {
    case ElementType::F32:
      return ir::kF32;
    case ElementType::F64:
      return ir::kF64;
    case ElementType::F16:
      return ir::kF16;
    case ElementType::BF16:
      return ir::kBF16;
    case ElementType::I8:
    case ElementType::I4:
    case ElementType::I2:
      return ir::kI8;
    case ElementType::I16:
      return ir::kI16;
    case ElementType::I32:
      return ir::kI32;
    case ElementType::I64:
      return ir::kI64;
    case ElementType::U8:
    case ElementType::U4:
    case ElementType::U2:
    case ElementType::F8E4M3FN:
    case ElementType::F8E4M3FNUZ:
    case ElementType::F8E5M2:
    case ElementType::F8E5M2FNUZ:
    case ElementType::F4E2M1:
    case ElementType::F8E8M0:
    case ElementType::F6E2M3:
    case ElementType::F6E3M2:
      return ir::kU8;
    case ElementType::U16:
      return ir::kU16;
    case ElementType::U32:
      return ir::kU32;
    case ElementType::U64:
      return ir::kU64;
    case ElementType::Bool:
      return ir::kBool;
    case ElementType::Undefined:
    case ElementType::String:
    case ElementType::C64:
    case ElementType::C128:
      return std::nullopt;
  }
  return std::nullopt;
}

ElementType element_type(ir::DType type) {
  switch (type.scalar) {
    case ir::Scalar::Bool:
      return ElementType::Bool;
    case ir::Scalar::I8:
      return ElementType::I8;
    case ir::Scalar::I16:
      return ElementType::I16;
    case ir::Scalar::I32:
      return ElementType::I32;
    case ir::Scalar::I64:
      return ElementType::I64;
    case ir::Scalar::U8:
      return ElementType::U8;
    case ir::Scalar::U16:
      return ElementType::U16;
    case ir::Scalar::U32:
      return ElementType::U32;
    case ir::Scalar::U64:
      return ElementType::U64;
    case ir::Scalar::F16:
      return ElementType::F16;
    case ir::Scalar::BF16:
      return ElementType::BF16;
    case ir::Scalar::F32:
      return ElementType::F32;
    case ir::Scalar::F64:
      return ElementType::F64;
    case ir::Scalar::Void:
      return ElementType::Undefined;
  }
  return ElementType::Undefined;
}

}  // namespace hone::graph
