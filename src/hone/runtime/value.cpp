#include "hone/runtime/value.h"

#include <cstring>
#include <fmt/format.h>
#include <new>

#include "hone/runtime/buffer.h"
#include "hone/runtime/small_float.h"

namespace hone::runtime {

Result<std::int64_t> element_count(const Shape& shape) {
  std::int64_t count = 1;
  bool is_empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return error(ErrorCode::InvalidArgument, "a tensor cannot have extent {}", extent);
    if (extent == 0) is_empty = true;
    if (!is_empty && __builtin_mul_overflow(count, extent, &count))
      return error(ErrorCode::InvalidArgument, "a tensor of shape [{}] has too many elements", fmt::join(shape, ", "));
  }
  return is_empty ? 0 : count;
}

std::string describe(ElementType type, const Shape& shape) {
  return fmt::format("{}[{}]", name_of(type), fmt::join(shape, ", "));
}

Result<Tensor> Tensor::allocate(ElementType type, Shape shape) {
  HONE_TRY(const std::int64_t count, element_count(shape));
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;
  if (count > kMaxElements)
    return error(ErrorCode::OutOfMemory, "a tensor {} needs more memory than there is", runtime::describe(type, shape));
  Tensor tensor;
  tensor.type_ = type;
  tensor.shape_ = std::move(shape);
  tensor.size_ = count;
  if (type == ElementType::String) {
    try {
      auto strings = std::make_shared<std::vector<std::string>>(static_cast<std::size_t>(count));
      tensor.data_ = reinterpret_cast<std::byte*>(strings->data());
      tensor.owner_ = std::move(strings);
    } catch (const std::bad_alloc&) {
      return error(ErrorCode::OutOfMemory, "no memory for {}", runtime::describe(type, tensor.shape_));
    }
    return tensor;
  }
  auto memory = AlignedBytes::allocate(tensor.bytes(), tensor_alignment(tensor.bytes()));
  if (!memory)
    return error(ErrorCode::OutOfMemory, "no memory for {}: {}", runtime::describe(type, tensor.shape_),
                 memory.error().message);
  auto owner = std::make_shared<AlignedBytes>(std::move(*memory));
  tensor.data_ = owner->data();
  tensor.owner_ = std::move(owner);
  return tensor;
}

Tensor Tensor::view(ElementType type, Shape shape, void* data, std::shared_ptr<const void> owner) {
  const Result<std::int64_t> count = element_count(shape);
  HONE_CHECK(count.has_value(), "a view of an impossible shape");
  Tensor tensor;
  tensor.type_ = type;
  tensor.shape_ = std::move(shape);
  tensor.size_ = *count;
  tensor.data_ = static_cast<std::byte*>(data);
  tensor.owner_ = std::move(owner);
  return tensor;
}

Tensor Tensor::of_strings(Shape shape, std::vector<std::string> strings) {
  auto owner = std::make_shared<std::vector<std::string>>(std::move(strings));
  Tensor tensor = view(ElementType::String, std::move(shape), owner->data(), owner);
  HONE_CHECK(tensor.size() == static_cast<std::int64_t>(owner->size()), "{} strings for another shape", owner->size());
  return tensor;
}

Tensor Tensor::copy_of(ElementType type, Shape shape, const void* elements) {
  Result<Tensor> tensor = allocate(type, std::move(shape));
  HONE_CHECK(tensor.has_value(), "cannot copy a tensor: {}", tensor.error().message);
  if (tensor->size() > 0) std::memcpy(tensor->data(), elements, tensor->bytes());
  return *std::move(tensor);
}

std::span<std::string> Tensor::strings() {
  HONE_CHECK(type_ == ElementType::String, "a tensor of {} has no strings", name_of(type_));
  return {reinterpret_cast<std::string*>(data_), static_cast<std::size_t>(size_)};
}

std::span<const std::string> Tensor::strings() const { return const_cast<Tensor*>(this)->strings(); }

Tensor Tensor::reshaped(Shape shape) const {
  Tensor tensor = view(type_, std::move(shape), data_, owner_);
  HONE_CHECK(tensor.size() == size_, "a reshape from {} to {} elements", size_, tensor.size());
  return tensor;
}

Tensor Tensor::reinterpreted(ElementType type) const {
  HONE_CHECK(bytes_of(type) == bytes_of(type_), "{} cannot be read as {}", name_of(type_), name_of(type));
  Tensor tensor = *this;
  tensor.type_ = type;
  return tensor;
}

namespace {

/// Calls `f` with a span of the tensor's numbers as T.
template <typename To, typename T>
std::vector<To> converted(const Tensor& tensor) {
  const std::span<const T> elements = tensor.as<T>();
  std::vector<To> result(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) result[i] = static_cast<To>(elements[i]);
  return result;
}

template <typename To>
Result<std::vector<To>> converted_integers(const Tensor& tensor) {
  switch (tensor.type()) {
    case ElementType::Bool:
    case ElementType::U4:
    case ElementType::U2:
    case ElementType::U8:
      return converted<To, std::uint8_t>(tensor);
    case ElementType::I4:
    case ElementType::I2:
    case ElementType::I8:
      return converted<To, std::int8_t>(tensor);
    case ElementType::I16:
      return converted<To, std::int16_t>(tensor);
    case ElementType::U16:
      return converted<To, std::uint16_t>(tensor);
    case ElementType::I32:
      return converted<To, std::int32_t>(tensor);
    case ElementType::U32:
      return converted<To, std::uint32_t>(tensor);
    case ElementType::I64:
      return converted<To, std::int64_t>(tensor);
    case ElementType::U64:
      return converted<To, std::uint64_t>(tensor);
    default:
      return error(ErrorCode::InvalidArgument, "{} is not a tensor of integers",
                   describe(tensor.type(), tensor.shape()));
  }
}

}  // namespace

Result<std::vector<std::int64_t>> Tensor::to_ints() const { return converted_integers<std::int64_t>(*this); }

Result<std::vector<double>> Tensor::to_doubles() const {
  if (type_ == ElementType::F32) return converted<double, float>(*this);
  if (type_ == ElementType::F64) return converted<double, double>(*this);
  if (is_small_float(type_)) {
    std::vector<double> result(static_cast<std::size_t>(size_));
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::uint16_t bits = bytes_of(type_) == 2 ? as<std::uint16_t>()[i] : std::uint16_t{as<std::uint8_t>()[i]};
      result[i] = small_float_to_float(type_, bits);
    }
    return result;
  }
  return converted_integers<double>(*this);
}

const Sequence* Value::sequence() const {
  const auto* held = std::get_if<std::shared_ptr<const Sequence>>(&content_);
  return held ? held->get() : nullptr;
}

const Map* Value::map() const {
  const auto* held = std::get_if<std::shared_ptr<const Map>>(&content_);
  return held ? held->get() : nullptr;
}

std::string Value::describe() const {
  if (const Tensor* held = tensor()) return runtime::describe(held->type(), held->shape());
  if (const Sequence* held = sequence()) return fmt::format("sequence of {}", held->size());
  if (const Map* held = map()) return fmt::format("map of {}", held->values.size());
  return "nothing";
}

}  // namespace hone::runtime
