#include "hone/frontend/large_tensors.h"

#include <cstring>
#include <gtest/gtest.h>
#include <onnx/onnx-ml.pb.h>

#include "hone/support/rng.h"

namespace hone::frontend {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

void add_initializer(onnx::ModelProto& model, const std::string& name, std::size_t bytes) {
  onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT8);
  tensor.add_dims(static_cast<std::int64_t>(bytes));
  std::string content(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) content[i] = static_cast<char>(i * 31 + name.size());
  tensor.set_raw_data(content);
  tensor.set_doc_string("after the content");
}

onnx::ModelProto model_with(const std::vector<std::size_t>& sizes) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  model.mutable_graph()->set_name("g");
  for (std::size_t i = 0; i < sizes.size(); ++i) add_initializer(model, "w" + std::to_string(i), sizes[i]);
  model.set_producer_name("a test");
  return model;
}

constexpr std::size_t kBig = 300'000;

TEST(LargeTensors, OnlyTheirRawDataIsSetAside) {
  const onnx::ModelProto model = model_with({5, kBig, 100, kBig + 1});
  const std::string text = model.SerializeAsString();
  const std::optional<LightModel> light = set_large_tensors_aside(bytes_of(text));
  ASSERT_TRUE(light);
  EXPECT_LT(light->bytes.size(), 1000u);
  onnx::ModelProto rest;
  ASSERT_TRUE(rest.ParseFromString(light->bytes));
  ASSERT_EQ(light->large.size(), 2u);
  EXPECT_EQ(light->large[0].initializer, 1);
  EXPECT_EQ(light->large[1].initializer, 3);
  for (const LargeTensor& tensor : light->large) {
    const std::string& content = model.graph().initializer(tensor.initializer).raw_data();
    ASSERT_EQ(tensor.content.size(), content.size());
    EXPECT_EQ(std::memcmp(tensor.content.data(), content.data(), content.size()), 0);
    onnx::TensorProto& left = *rest.mutable_graph()->mutable_initializer(tensor.initializer);
    EXPECT_FALSE(left.has_raw_data());
    left.set_raw_data(content);
  }
  EXPECT_EQ(rest.SerializeAsString(), text);
}

TEST(LargeTensors, OtherModelsStayAsTheyAre) {
  EXPECT_FALSE(set_large_tensors_aside({}));
  EXPECT_FALSE(set_large_tensors_aside(bytes_of(model_with({5, 100}).SerializeAsString())));
  // many small ones
  EXPECT_FALSE(set_large_tensors_aside(bytes_of(model_with({kBig / 3, kBig / 3, kBig / 3}).SerializeAsString())));
  // a graph that is written in two parts: numbers of initializers would be wrong
  const std::string text = model_with({kBig}).SerializeAsString();
  EXPECT_FALSE(set_large_tensors_aside(bytes_of(text + text)));
}

TEST(LargeTensors, WhatIsNoModelIsLeftToTheParser) {
  const std::string text = model_with({7, kBig, kBig}).SerializeAsString();
  Rng rng(3);
  for (int i = 0; i < 300; ++i) {
    std::string broken = text;
    if (i % 2 == 0) broken.resize(static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(text.size()) - 1)));
    for (int k = 0; k < i % 5 && !broken.empty(); ++k) {
      const bool is_early = k % 2 == 0;  // where keys and sizes are
      const auto last =
          static_cast<std::int64_t>(is_early ? std::min<std::size_t>(broken.size(), 100) : broken.size()) - 1;
      broken[static_cast<std::size_t>(rng.uniform(0, last))] = static_cast<char>(rng.uniform(0, 255));
    }
    const std::optional<LightModel> light = set_large_tensors_aside(bytes_of(broken));
    if (!light) continue;
    for (const LargeTensor& tensor : light->large) {  // inside of what there is
      EXPECT_GE(tensor.content.data(), bytes_of(broken).data());
      EXPECT_LE(tensor.content.data() + tensor.content.size(), bytes_of(broken).data() + broken.size());
    }
    // Both ways agree on whether it is a model.
    onnx::ModelProto whole, rest;
    EXPECT_EQ(whole.ParseFromString(broken), rest.ParseFromString(light->bytes)) << i;
    if (rest.has_graph() && whole.has_graph()) {
      EXPECT_EQ(rest.graph().initializer_size(), whole.graph().initializer_size()) << i;
    }
  }
}

}  // namespace
}  // namespace hone::frontend
