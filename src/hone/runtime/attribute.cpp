#include "hone/runtime/attribute.h"

#include <mutex>

namespace hone::runtime {
namespace {

/// Guards what kernels keep with any attributes: it is held for the copy of a pointer only.
std::mutex prepared_mutex;

}  // namespace

std::shared_ptr<const void> Attributes::Prepared::load() const {
  const std::scoped_lock lock(prepared_mutex);
  return content_;
}

void Attributes::Prepared::store(std::shared_ptr<const void> content) {
  const std::scoped_lock lock(prepared_mutex);
  content_.swap(content);
}

template <typename T>
const T* Attributes::find(std::string_view name) const {
  const auto entry = entries_.find(name);
  return entry == entries_.end() ? nullptr : std::get_if<T>(&entry->second);
}

void Attributes::set(std::string name, Attribute value) {
  entries_.insert_or_assign(std::move(name), std::move(value));
  prepared_.store(nullptr);
}

void Attributes::remove(std::string_view name) {
  prepared_.store(nullptr);
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
