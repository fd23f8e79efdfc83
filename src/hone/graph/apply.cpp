#include "hone/graph/apply.h"

#include <unordered_set>

#include "hone/graph/schema.h"

namespace hone::graph {
namespace {

void collect_placeholders(const tensor::Tensor& tensor, std::unordered_set<const tensor::Operation*>& seen,
                          std::vector<tensor::Tensor>& found) {
  if (!seen.insert(tensor.operation().get()).second) return;
  if (tensor.operation()->is_placeholder()) {
    found.push_back(tensor);
    return;
  }
  for (const tensor::Tensor& read : tensor.operation()->reads) collect_placeholders(read, seen, found);
}

}  // namespace

Result<Meaning> meaning_of(const Application& op, const Operator& entry) {
  bool is_numeric = true;
  for (std::size_t i = 0; i < op.input_count(); ++i)
    if (op.id(i) != kAbsent && !(op.has(i) && ir_type(op.type(i)))) is_numeric = false;
  if (is_numeric && entry.wants_host) {
    HONE_TRY(const bool is_host, entry.wants_host(op));
    if (is_host) return Meaning::Host;
  }
  if (is_numeric && entry.define) return Meaning::Expression;
  if (is_numeric && entry.expand) return Meaning::Expansion;
  if (entry.host) return Meaning::Host;
  return op.unsupported("an input is not a tensor of numbers");
}

Application::Input known_input(ValueId id, const std::string& name, const runtime::Value& value) {
  Application::Input input;
  input.id = id;
  input.value = &value;
  const runtime::Tensor* tensor = value.tensor();
  if (!tensor) return input;
  input.type = tensor->type();
  if (const auto type = ir_type(tensor->type())) input.tensor = tensor::placeholder(name, tensor->shape(), *type);
  return input;
}

Application::Input shaped_input(ValueId id, const std::string& name, const OutputSpec& spec) {
  Application::Input input;
  input.id = id;
  input.type = spec.type;
  if (const auto type = ir_type(spec.type)) input.tensor = tensor::placeholder(name, spec.shape, *type);
  return input;
}

Result<std::vector<tensor::Tensor>> define(const Application& op, const Operator& entry) {
  HONE_TRY(std::vector<tensor::Tensor> tensors, entry.define(op));
  if (tensors.size() < op.output_count())
    return op.fail("{} outputs, but with these inputs there are {}", op.output_count(), tensors.size());
  return tensors;
}

std::vector<tensor::Tensor> placeholders_of(std::span<const tensor::Tensor> tensors) {
  std::unordered_set<const tensor::Operation*> seen;
  std::vector<tensor::Tensor> found;
  for (const tensor::Tensor& tensor : tensors) collect_placeholders(tensor, seen, found);
  return found;
}

std::vector<OutputSpec> specs_of(const Application& op, const Operator& entry,
                                 const std::vector<tensor::Tensor>& tensors) {
  std::vector<ElementType> types;
  for (std::size_t i = 0; i < op.input_count(); ++i) types.push_back(op.type(i));
  const std::vector<ElementType> stated = entry.output_types ? entry.output_types(op) : std::vector<ElementType>();
  std::vector<OutputSpec> specs;
  for (std::size_t i = 0; i < op.output_count(); ++i) {
    ElementType type = i < stated.size() ? stated[i] : ElementType::Undefined;
    if (type == ElementType::Undefined) type = output_type(schema_of(entry), i, types);
    if (type == ElementType::Undefined) type = element_type(tensors[i].type());
    specs.push_back({type, tensors[i].shape()});
  }
  return specs;
}

}  // namespace hone::graph
