#include "hone/runtime/attribute.h"

namespace hone::runtime {

template <typename T>
const T* Attributes::find(std::string_view name) const {
  const auto entry = entries_.find(name);
  return entry == entries_.end() ? nullptr : std::get_if<T>(&entry->second);
}

void Attributes::remove(std::string_view name) {
  if (const auto entry = entries_.find(name); entry != entries_.end()) entries_.erase(entry);
}

std::int64_t Attributes::integer(std::string_view name, std::int64_t fallback) const {
  const auto* value = find<std::int64_t>(name);
  return value ? *value : fallback;
}

float Attributes::real(std::string_view name, float fallback) const {
  const auto* value = find<float>(name);
  return value ? *value : fallback;
}

std::string Attributes::text(std::string_view name, std::string_view fallback) const {
  const auto* value = find<std::string>(name);
  return value ? *value : std::string(fallback);
}

std::vector<std::int64_t> Attributes::integers(std::string_view name, std::vector<std::int64_t> fallback) const {
  const auto* value = find<std::vector<std::int64_t>>(name);
  return value ? *value : fallback;
}

std::vector<float> Attributes::reals(std::string_view name) const {
  const auto* value = find<std::vector<float>>(name);
  return value ? *value : std::vector<float>();
}

std::vector<std::string> Attributes::texts(std::string_view name) const {
  const auto* value = find<std::vector<std::string>>(name);
  return value ? *value : std::vector<std::string>();
}

const Tensor* Attributes::tensor(std::string_view name) const { return find<Tensor>(name); }

std::vector<Tensor> Attributes::tensors(std::string_view name) const {
  const auto* value = find<std::vector<Tensor>>(name);
  return value ? *value : std::vector<Tensor>();
}

}  // namespace hone::runtime
