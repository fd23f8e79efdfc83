#include "hone/frontend/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/frontend/import.h"

namespace hone::frontend {
namespace {

using ::testing::HasSubstr;

/// y = Relu(x · w), softmax along the last axis.
graph::Graph small_graph() {
  graph::Graph graph;
  graph.name = "small";
  graph.opsets[""] = 17;
  graph.metadata["language"] = "tlp2";
  graph::Type type{.element = runtime::ElementType::F32};
  type.dimensions = {graph::Dimension{{}, "batch"}, graph::Dimension{3, ""}};
  const graph::ValueId x = graph.add_value("x", type);
  const graph::ValueId w = graph.add_constant("w", runtime::Tensor::of<float>({3, 2}, {1, -1, 2, 0, 0, 3}));
  const graph::ValueId p = graph.add_value("p"), y = graph.add_value("y", {.element = runtime::ElementType::F32});
  graph.inputs = {x};
  graph.outputs = {y};
  graph.nodes.push_back({.name = "product", .op = "MatMul", .opset = 17, .inputs = {x, w}, .outputs = {p}});
  graph::Node softmax{.name = "softmax", .op = "Softmax", .opset = 17, .inputs = {p}, .outputs = {y}};
  softmax.attributes.set("axis", std::int64_t{-1});
  graph.nodes.push_back(std::move(softmax));
  return graph;
}

Result<graph::Graph> read_back(const graph::Graph& graph) {
  HONE_TRY(const std::string bytes, export_onnx(graph));
  return import_onnx(std::as_bytes(std::span(bytes)));
}

TEST(Export, WhatIsWrittenIsRead) {
  const Result<graph::Graph> read = read_back(small_graph());
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->nodes.size(), 2u);
  EXPECT_EQ(read->nodes[0].op, "MatMul");
  EXPECT_EQ(read->nodes[1].attributes.integer("axis", 7), -1);
  EXPECT_EQ(read->metadata.at("language"), "tlp2");
  EXPECT_EQ(graph::to_string(read->values[static_cast<std::size_t>(read->inputs[0])].type), "tensor(float)[batch, 3]");
  ASSERT_EQ(read->constants.size(), 1u);
  const runtime::Tensor& weight = *read->constants.begin()->second.tensor();
  EXPECT_EQ(weight.shape(), (runtime::Shape{3, 2}));
  EXPECT_EQ(weight.as<float>()[5], 3);
}

TEST(Export, RefusesWhatItDoesNotWrite) {
  graph::Graph graph = small_graph();
  graph.add_constant("words", runtime::Tensor::of_strings({1}, {"a"}));
  EXPECT_THAT(export_onnx(graph).error().message, HasSubstr("string"));
}

}  // namespace
}  // namespace hone::frontend
