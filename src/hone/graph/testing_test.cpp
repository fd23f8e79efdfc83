// What the tests of operators share, compiled once.
#include "hone/graph/testing.h"

#include <gmock/gmock.h>

namespace hone::graph::testing {

Result<std::vector<runtime::Value>> apply(const std::string& op, std::vector<runtime::Value> inputs,
                                          const Attributes& attributes, std::size_t outputs, std::int64_t opset,
                                          const std::string& domain) {
  Graph graph;
  Node node;
  node.op = op;
  node.domain = domain;
  node.opset = opset;
  node.attributes = attributes;
  for (const runtime::Value& input : inputs)
    node.inputs.push_back(input.is_absent() ? kAbsent : graph.add_value("input"));
  for (std::size_t i = 0; i < outputs; ++i) node.outputs.push_back(graph.add_value("output"));
  return evaluate(graph, node, inputs);
}

runtime::Tensor apply_one(const std::string& op, std::vector<runtime::Value> inputs, const Attributes& attributes,
                          std::int64_t opset) {
  const auto results = apply(op, std::move(inputs), attributes, 1, opset);
  EXPECT_TRUE(results) << results.error().message;
  if (!results || !results->at(0).tensor()) return runtime::Tensor();
  return *results->at(0).tensor();
}

Result<std::vector<runtime::Value>> microsoft(const std::string& op, std::vector<runtime::Value> inputs,
                                              const Attributes& attributes, std::size_t outputs) {
  return apply(op, std::move(inputs), attributes, outputs, 1, "com.microsoft");
}

std::string message_of(const std::string& op, std::vector<runtime::Value> inputs, const Attributes& attributes,
                       std::size_t outputs) {
  const auto results = apply(op, std::move(inputs), attributes, outputs);
  return results ? "no error" : results.error().message;
}

Attributes attributes(const std::vector<std::pair<std::string, Attribute>>& entries) {
  Attributes made;
  for (const auto& [name, value] : entries) made.set(name, value);
  return made;
}

runtime::Tensor ints(const std::vector<std::int64_t>& numbers) {
  return runtime::Tensor::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers);
}

runtime::Tensor index_matrix(const Shape& shape, const std::vector<std::int64_t>& numbers) {
  return runtime::Tensor::of<std::int64_t>(shape, numbers);
}

runtime::Tensor strings(const Shape& shape, const std::vector<std::string>& texts) {
  return runtime::Tensor::of_strings(shape, texts);
}

runtime::Tensor floats(const Shape& shape, const std::vector<float>& numbers) {
  return runtime::Tensor::of<float>(shape, numbers);
}

runtime::Tensor iota(const Shape& shape) {
  std::vector<float> numbers(static_cast<std::size_t>(*runtime::element_count(shape)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  return floats(shape, numbers);
}

void expect_tensor(const runtime::Tensor& found, const runtime::Tensor& expected, double tolerance) {
  ASSERT_EQ(runtime::describe(found.type(), found.shape()), runtime::describe(expected.type(), expected.shape()));
  if (found.type() == ElementType::String) {
    EXPECT_THAT(std::vector<std::string>(found.strings().begin(), found.strings().end()),
                ::testing::ElementsAreArray(expected.strings().begin(), expected.strings().end()));
    return;
  }
  const std::vector<double> a = *found.to_doubles(), b = *expected.to_doubles();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]))) { ASSERT_NEAR(a[i], b[i], tolerance) << "element " << i; }
}

}  // namespace hone::graph::testing
