/// Attributes: the constants that parametrise an operator.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/runtime/value.h"

namespace hone::runtime {

/// One number, text or tensor, or a list of them.
using Attribute = std::variant<std::int64_t, float, std::string, Tensor, std::vector<std::int64_t>, std::vector<float>,
                               std::vector<std::string>, std::vector<Tensor>>;

/// The attributes of one operator, by name. Reading one that has another type than asked for gives the fallback: the
/// schema is checked when a model is read.
class Attributes {
 public:
  bool has(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  void set(std::string name, Attribute value) { entries_.insert_or_assign(std::move(name), std::move(value)); }
  void remove(std::string_view name);

  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  float real(std::string_view name, float fallback) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  std::vector<std::int64_t> integers(std::string_view name, std::vector<std::int64_t> fallback = {}) const;
  std::vector<float> reals(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  /// The tensor, or null.
  const Tensor* tensor(std::string_view name) const;
  std::vector<Tensor> tensors(std::string_view name) const;

  const std::map<std::string, Attribute, std::less<>>& entries() const { return entries_; }

 private:
  template <typename T>
  const T* find(std::string_view name) const;

  std::map<std::string, Attribute, std::less<>> entries_;
};

}  // namespace hone::runtime
