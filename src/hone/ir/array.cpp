#include "hone/ir/array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "hone/ir/value.h"

namespace hone::ir {

namespace {

constexpr std::align_val_t kAlignment{64};

std::int64_t product(const std::vector<std::int64_t>& shape) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) {
    HONE_CHECK(extent >= 0, "array with an extent of {}", extent);
    size *= extent;
  }
  return size;
}

double relative_difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double difference = std::abs(a - b) / std::max(1.0, std::abs(b));
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

}  // namespace

Array::Array(DType element, std::vector<std::int64_t> shape)
    : type_(element), shape_(std::move(shape)), size_(product(shape_)) {
  HONE_CHECK(!element.is_vector() && element.scalar != Scalar::Void, "array of {}", to_string(element));
  const auto bytes = static_cast<std::size_t>(size_ * type_.bytes());
  data_ = static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), kAlignment));
  std::memset(data_, 0, bytes);
}

Array::Array(const Array& other) : Array(other.type_, other.shape_) {
  std::memcpy(data_, other.data_, static_cast<std::size_t>(size_ * type_.bytes()));
}

Array::Array(Array&& other) noexcept
    : type_(other.type_),
      shape_(std::move(other.shape_)),
      size_(std::exchange(other.size_, 0)),
      data_(std::exchange(other.data_, nullptr)) {}

Array& Array::operator=(Array other) noexcept {
  std::swap(type_, other.type_);
  std::swap(shape_, other.shape_);
  std::swap(size_, other.size_);
  std::swap(data_, other.data_);
  return *this;
}

Array::~Array() { ::operator delete(data_, kAlignment); }

double Array::float_at(std::int64_t index) const {
  HONE_CHECK(index >= 0 && index < size_, "element {} of {}", index, size_);
  return convert(read_number(type_.scalar, data_ + index * type_.bytes()), type_, kF64).f;
}

std::int64_t Array::int_at(std::int64_t index) const {
  HONE_CHECK(index >= 0 && index < size_, "element {} of {}", index, size_);
  return convert(read_number(type_.scalar, data_ + index * type_.bytes()), type_, kI64).i;
}

void Array::set(std::int64_t index, double value) {
  HONE_CHECK(index >= 0 && index < size_, "element {} of {}", index, size_);
  write_number(type_.scalar, data_ + index * type_.bytes(), convert(of_float(value), kF64, type_));
}

void Array::set(std::int64_t index, std::int64_t value) {
  HONE_CHECK(index >= 0 && index < size_, "element {} of {}", index, size_);
  write_number(type_.scalar, data_ + index * type_.bytes(), convert(of_int(value), kI64, type_));
}

Array random_whole(Rng& rng, DType element, std::vector<std::int64_t> shape) {
  Array array(element, std::move(shape));
  const bool has_negatives = element.is_float() || element.is_signed();
  for (std::int64_t i = 0; i < array.size(); ++i) array.set(i, rng.uniform(has_negatives ? -4 : 0, 4));
  return array;
}

Array random_values(Rng& rng, DType element, std::vector<std::int64_t> shape) {
  Array array(element, std::move(shape));
  for (std::int64_t i = 0; i < array.size(); ++i) {
    if (element.is_float()) {
      array.set(i, 2 * rng.unit() - 1);
    } else {
      array.set(i, static_cast<std::int64_t>(element.is_bool() ? rng.next() & 1 : rng.next()));
    }
  }
  return array;
}

double max_difference(const Array& a, const Array& b) {
  HONE_CHECK(a.shape() == b.shape(), "comparing arrays of different shapes");
  double largest = 0;
  for (std::int64_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, relative_difference(a.float_at(i), b.float_at(i)));
  return largest;
}

}  // namespace hone::ir
