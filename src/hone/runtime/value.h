/// Values: what flows between the operators of a model: tensors, sequences, maps, or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hone/runtime/element_type.h"
#include "hone/support/result.h"

namespace hone::runtime {

using Shape = std::vector<std::int64_t>;

/// The number of elements of a shape, or an error if an extent is negative or the product leaves 63 bits.
Result<std::int64_t> element_count(const Shape& shape);

/// "float[2, 3]".
std::string describe(ElementType type, const Shape& shape);

/// Row-major elements in host memory. Copies share the memory: whoever makes a tensor writes it, and nobody after it
/// was passed on.
class Tensor {
 public:
  /// No elements of an undefined type.
  Tensor() = default;

  /// Memory of its own, aligned at kTensorAlignment and not initialised (strings are empty).
  static Result<Tensor> allocate(ElementType type, Shape shape);
  /// Elements that lie elsewhere, at `data`, kept alive by `owner` (which may be null if the caller sees to that).
  static Tensor view(ElementType type, Shape shape, void* data, std::shared_ptr<const void> owner);
  /// Strings, as many as the shape has elements.
  static Tensor of_strings(Shape shape, std::vector<std::string> strings);
  /// A tensor that holds a copy of `elements`, whose type is the C++ type's: `Tensor::of<float>({2}, {1, 2})`.
  template <typename T>
  static Tensor of(Shape shape, const std::vector<T>& elements);
  /// A scalar.
  template <typename T>
  static Tensor scalar(T value) {
    return of<T>({}, {value});
  }

  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::size_t rank() const { return shape_.size(); }
  std::int64_t extent(std::size_t axis) const { return shape_[axis]; }
  /// The number of elements.
  std::int64_t size() const { return size_; }
  /// The number of bytes of all elements; 0 for strings.
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * bytes_of(type_); }

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  /// The elements as C++ numbers. T must have the element's size: bool, f16, bf16 and F8 kinds are read as integers of
  /// their size.
  template <typename T>
  std::span<T> as() {
    HONE_CHECK(sizeof(T) == bytes_of(type_), "elements of {} read with another size", name_of(type_));
    return {reinterpret_cast<T*>(data_), static_cast<std::size_t>(size_)};
  }
  template <typename T>
  std::span<const T> as() const {
    HONE_CHECK(sizeof(T) == bytes_of(type_), "elements of {} read with another size", name_of(type_));
    return {reinterpret_cast<const T*>(data_), static_cast<std::size_t>(size_)};
  }
  std::span<std::string> strings();
  std::span<const std::string> strings() const;

  /// The same elements under another shape of the same size, or another type of the same bytes.
  Tensor reshaped(Shape shape) const;
  Tensor reinterpreted(ElementType type) const;

  /// All elements of an integer or bool tensor as i64, or of any number type as double; an error for other types.
  Result<std::vector<std::int64_t>> to_ints() const;
  Result<std::vector<double>> to_doubles() const;

  /// Keeps the memory alive.
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  static Tensor copy_of(ElementType type, Shape shape, const void* elements);

  ElementType type_ = ElementType::Undefined;
  Shape shape_ = {0};
  std::int64_t size_ = 0;
  std::byte* data_ = nullptr;  ///< of a string tensor: the first std::string
  std::shared_ptr<const void> owner_;
};

class Value;

/// Values one after the other.
using Sequence = std::vector<Value>;

/// Keys, all integers or all strings, each with a value; sorted by key.
struct Map {
  std::variant<std::vector<std::int64_t>, std::vector<std::string>> keys;
  std::vector<Value> values;
};

/// A tensor, a sequence, a map, or nothing: an optional without a value, or an input or output that is left out. An
/// optional with a value is that value.
class Value {
 public:
  Value() = default;
  Value(Tensor tensor) : content_(std::move(tensor)) {}
  Value(Sequence sequence) : content_(std::make_shared<const Sequence>(std::move(sequence))) {}
  Value(Map map) : content_(std::make_shared<const Map>(std::move(map))) {}

  bool is_absent() const { return content_.index() == 0; }
  /// The content if it is of that kind, otherwise null.
  const Tensor* tensor() const { return std::get_if<Tensor>(&content_); }
  Tensor* tensor() { return std::get_if<Tensor>(&content_); }
  const Sequence* sequence() const;
  const Map* map() const;

  /// "float[2, 3]", "sequence of 3", "map of 2", "nothing".
  std::string describe() const;

 private:
  std::variant<std::monostate, Tensor, std::shared_ptr<const Sequence>, std::shared_ptr<const Map>> content_;
};

/// The element type of a C++ type.
template <typename T>
constexpr ElementType element_type_of() {
  if constexpr (std::is_same_v<T, float>) return ElementType::F32;
  if constexpr (std::is_same_v<T, double>) return ElementType::F64;
  if constexpr (std::is_same_v<T, bool>) return ElementType::Bool;
  if constexpr (std::is_same_v<T, std::int8_t>) return ElementType::I8;
  if constexpr (std::is_same_v<T, std::int16_t>) return ElementType::I16;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::I32;
  if constexpr (std::is_same_v<T, std::int64_t>) return ElementType::I64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::U8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return ElementType::U16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return ElementType::U32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return ElementType::U64;
}

template <typename T>
Tensor Tensor::of(Shape shape, const std::vector<T>& elements) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<std::uint8_t> bytes(elements.begin(), elements.end());
    return copy_of(ElementType::Bool, std::move(shape), bytes.data());
  } else {
    return copy_of(element_type_of<T>(), std::move(shape), elements.data());
  }
}

}  // namespace hone::runtime
