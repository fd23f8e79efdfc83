/// Helpers for tests of operators: apply one to concrete tensors in the reference evaluator.
#pragma once

#include <gtest/gtest.h>

#include "hone/graph/evaluate.h"

namespace hone::graph::testing {

/// Applies an operator of ai.onnx to the inputs (absent ones included).
Result<std::vector<runtime::Value>> apply(const std::string& op, std::vector<runtime::Value> inputs,
                                          const Attributes& attributes = {}, std::size_t outputs = 1,
                                          std::int64_t opset = kNewestOpset, const std::string& domain = "");

/// The first output, which must be a tensor; an empty one if there is an error, which fails the test.
runtime::Tensor apply_one(const std::string& op, std::vector<runtime::Value> inputs, const Attributes& attributes = {},
                          std::int64_t opset = kNewestOpset);

/// Applies an operator of com.microsoft.
Result<std::vector<runtime::Value>> microsoft(const std::string& op, std::vector<runtime::Value> inputs,
                                              const Attributes& attributes = {}, std::size_t outputs = 1);

/// The message of an application that must be refused.
std::string message_of(const std::string& op, std::vector<runtime::Value> inputs, const Attributes& attributes = {},
                       std::size_t outputs = 1);

/// Attributes from a list: `attributes({{"axis", 1}})`.
Attributes attributes(const std::vector<std::pair<std::string, Attribute>>& entries);

/// A vector of i64, as axes and shapes are.
runtime::Tensor ints(const std::vector<std::int64_t>& numbers);

/// An i64 tensor of indices.
runtime::Tensor index_matrix(const Shape& shape, const std::vector<std::int64_t>& numbers);

/// A tensor of strings.
runtime::Tensor strings(const Shape& shape, const std::vector<std::string>& texts);

/// A vector.
template <typename T>
runtime::Tensor vec(const std::vector<T>& elements) {
  return runtime::Tensor::of<T>({static_cast<std::int64_t>(elements.size())}, elements);
}

/// A tensor of f32.
runtime::Tensor floats(const Shape& shape, const std::vector<float>& numbers);

/// f32 elements 0, 1, 2, …
runtime::Tensor iota(const Shape& shape);

/// Compares type, shape and elements.
void expect_tensor(const runtime::Tensor& found, const runtime::Tensor& expected, double tolerance = 0);

}  // namespace hone::graph::testing
