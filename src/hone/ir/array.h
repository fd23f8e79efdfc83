/// Array: a tensor of concrete numbers in host memory, for the interpreter, tests and examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hone/ir/dtype.h"
#include "hone/support/rng.h"

namespace hone::ir {

/// Row-major elements of one scalar type, 64-byte aligned; new arrays hold zeros.
class Array {
 public:
  Array(DType element, std::vector<std::int64_t> shape);

  DType type() const { return type_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t size() const { return size_; }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }

  /// The element at a flat index as a float or an integer, converted as Cast does.
  double float_at(std::int64_t index) const;
  std::int64_t int_at(std::int64_t index) const;
  void set(std::int64_t index, double value);
  void set(std::int64_t index, std::int64_t value);

  Array(const Array& other);
  Array(Array&& other) noexcept;
  Array& operator=(Array other) noexcept;
  ~Array();

 private:
  DType type_;
  std::vector<std::int64_t> shape_;
  std::int64_t size_ = 0;
  std::byte* data_ = nullptr;
};

/// Small whole numbers (in [-4, 4], or [0, 4] for unsigned types): sums of their products are exact in f32, so that
/// reordered reductions can be compared for equality.
Array random_whole(Rng& rng, DType element, std::vector<std::int64_t> shape);
/// Uniform values in [-1, 1] for floats, the full range for integers.
Array random_values(Rng& rng, DType element, std::vector<std::int64_t> shape);

/// The largest |a - b| / max(1, |b|) over all elements; equal infinities and two NaNs count as 0, shapes must agree.
double max_difference(const Array& a, const Array& b);

}  // namespace hone::ir
