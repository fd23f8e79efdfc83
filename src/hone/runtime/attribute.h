/// Attributes: the constants that parametrise an operator.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
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
  void set(std::string name, Attribute value);
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

  /// What a kernel makes of its attributes: `make`, a function that gives a Result<T>, is called the first time, and
  /// its answer kept with the attributes (not with copies of them). Thread-safe; one T per operator.
  template <typename T, typename Make>
  Result<std::shared_ptr<const T>> prepared(Make&& make) const {
    if (auto kept = prepared_.load()) return std::static_pointer_cast<const T>(std::move(kept));
    Result<T> made = make();
    if (!made) return std::move(made).error();
    auto fresh = std::make_shared<const T>(*std::move(made));
    prepared_.store(fresh);
    return std::shared_ptr<const T>(std::move(fresh));
  }

 private:
  /// A pointer that several threads may set, and that copies begin without.
  class Prepared {
   public:
    Prepared() = default;
    Prepared(const Prepared&) {}
    Prepared& operator=(const Prepared& other) {
      if (this != &other) store(nullptr);
      return *this;
    }

    std::shared_ptr<const void> load() const;
    void store(std::shared_ptr<const void> content);

   private:
    std::shared_ptr<const void> content_;
  };

  template <typename T>
  const T* find(std::string_view name) const;

  std::map<std::string, Attribute, std::less<>> entries_;
  mutable Prepared prepared_;
};

}  // namespace hone::runtime
