/// Helpers for tests of definitions: run one in the interpreter, and compare each element with a plain C++ function.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/ir/interpret.h"
#include "hone/tensor/lower.h"

namespace hone::tensor {

using Index = std::vector<std::int64_t>;

/// Calls `f` on every index of a shape, in row-major order.
inline void for_each_index(const Shape& shape, FunctionRef<void(const Index&)> f) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  for (std::int64_t flat = 0; flat < size; ++flat) {
    Index index(shape.size());
    std::int64_t rest = flat;
    for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) index[axis] = rest % shape[axis];
    f(index);
  }
}

/// The element at an index.
inline double at(const ir::Array& array, const Index& index) {
  std::int64_t flat = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) flat = flat * array.shape()[axis] + index[axis];
  return array.float_at(flat);
}

/// The element at an index, or 0 outside the array.
inline double at_or_zero(const ir::Array& array, const Index& index) {
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    if (index[axis] < 0 || index[axis] >= array.shape()[axis]) return 0;
  return at(array, index);
}

/// An option of one axis, or its default where the list is left out.
inline std::int64_t entry(const std::vector<std::int64_t>& list, std::size_t axis, std::int64_t other) {
  return list.empty() ? other : list[axis];
}

/// Fills the inputs with small whole numbers, runs the definition of `outputs`, and gives inputs, then outputs.
inline std::vector<ir::Array> run_on_whole_numbers(const std::vector<Tensor>& inputs,
                                                   const std::vector<Tensor>& outputs) {
  Rng rng(/*seed=*/7);
  std::vector<ir::Array> arrays;
  for (const Tensor& input : inputs) arrays.push_back(random_whole(rng, input.type(), input.shape()));
  for (const Tensor& output : outputs) arrays.emplace_back(output.type(), output.shape());
  const Result<void> done = ir::interpret(lower("test", inputs, outputs), arrays);
  EXPECT_TRUE(done) << done.error().message;
  return arrays;
}

/// Checks that each element of the output is `reference(inputs, index)`, with a relative tolerance.
inline void expect_values(const std::vector<Tensor>& inputs, const Result<Tensor>& output,
                          FunctionRef<double(const std::vector<ir::Array>&, const Index&)> reference,
                          double tolerance = 0) {
  ASSERT_TRUE(output) << output.error().message;
  const std::vector<ir::Array> arrays = run_on_whole_numbers(inputs, {*output});
  ir::Array expected(output->type(), output->shape());
  std::int64_t flat = 0;
  for_each_index(output->shape(), [&](const Index& index) { expected.set(flat++, reference(arrays, index)); });
  EXPECT_LE(max_difference(arrays.back(), expected), tolerance);
}

/// The message of a definition that must be refused.
template <typename T>
std::string message_of(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

}  // namespace hone::tensor
