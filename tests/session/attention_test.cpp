#include <gtest/gtest.h>

#include "hone/compile.h"
#include "hone/graph/evaluate.h"
#include "hone/graph/operator.h"
#include "hone/runner.h"
#include "hone/runtime/thread_pool.h"
#include "hone/support/rng.h"

namespace hone {
namespace {

using runtime::ElementType;
using runtime::Shape;
using runtime::Tensor;
using runtime::Value;

/// softmax(q · kᵀ / 2 + mask) · v, then a bias.
std::shared_ptr<const graph::Graph> attention_model(bool is_causal = false) {
  graph::Graph graph;
  for (const char* name : {"q", "k", "v", "mask", "bias"}) graph.inputs.push_back(graph.add_value(name));
  graph::Builder builder(graph);
  graph::Attributes attributes;
  attributes.set("scale", 0.5F);
  attributes.set("is_causal", std::int64_t{is_causal});
  attributes.set("past", std::int64_t{300});
  const std::vector<graph::ValueId>& x = graph.inputs;
  const graph::ValueId attended =
      builder.add_node("hone", "FusedAttention", {x[0], x[1], x[2], x[3]}, 1, std::move(attributes))[0];
  graph.outputs = {builder.add("Add", {attended, x[4]})};
  graph.nodes = builder.nodes();
  return std::make_shared<const graph::Graph>(std::move(graph));
}

std::vector<Shape> shapes_of(std::int64_t queries, std::int64_t keys) {
  return {{1, 2, queries, 8}, {1, 2, keys, 8}, {1, 2, keys, 8}, {1, 1, queries, keys}, {8}};
}

/// A machine with small caches, so that few keys are many.
codegen::Target small_target() {
  codegen::Target target = codegen::parse_target("cpu -threads=2").value();
  target.l2_bytes = 1 << 16;
  return target;
}

TEST(Attention, IsComputedByBlocksOfKeysWhereKeysAreMany) {
  const auto task_of = [&](std::int64_t keys) {
    std::vector<graph::Given> given;
    for (const Shape& shape : shapes_of(20, keys))
      given.push_back({graph::OutputSpec{ElementType::F32, shape}, std::nullopt});
    const auto stage = graph::specialize(*attention_model(), given, {});
    EXPECT_TRUE(stage) << stage.error().message;
    return tasks_of(*stage, small_target())->tasks.front();
  };
  const space::Task few = task_of(100), some = task_of(600), many = task_of(1500);
  EXPECT_EQ(few.algorithms.size(), 1U);
  ASSERT_EQ(some.algorithms.size(), 2U);
  EXPECT_EQ(some.likely, 0U);
  ASSERT_EQ(many.algorithms.size(), 2U);
  EXPECT_EQ(many.algorithms[1].name, "online256");
  EXPECT_EQ(many.likely, 1U);
}

TEST(Attention, AgreesWithTheReferenceWhateverItsAlgorithm) {
  Rng rng(/*seed=*/1);
  runtime::ThreadPool pool(2);
  for (const std::int64_t keys : {100, 600, 1500, 1536}) {
    const auto graph = attention_model(/*is_causal=*/keys != 1536);
    const Runner runner(graph, std::make_shared<RunnerContext>(small_target()));
    std::vector<Value> inputs;
    for (const Shape& shape : shapes_of(20, keys)) {
      Tensor tensor = *Tensor::allocate(ElementType::F32, shape);
      for (float& element : tensor.as<float>()) element = static_cast<float>(rng.uniform(-8, 8)) / 4;
      inputs.emplace_back(std::move(tensor));
    }
    const auto expected = graph::evaluate(*graph, inputs);
    ASSERT_TRUE(expected) << expected.error().message;
    std::vector<Value> found(1);
    const auto done = runner.run(inputs, found, &pool);
    ASSERT_TRUE(done) << done.error().message;
    const std::vector<double> a = *found[0].tensor()->to_doubles(), b = *(*expected)[0].tensor()->to_doubles();
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4) << keys << " keys, element " << i;
  }
}

}  // namespace
}  // namespace hone
