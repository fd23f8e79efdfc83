#include <gtest/gtest.h>
#include <thread>

#include "hone/graph/evaluate.h"
#include "hone/graph/operator.h"
#include "hone/runner.h"
#include "hone/runtime/thread_pool.h"
#include "hone/support/rng.h"

namespace hone {
namespace {

using graph::Builder;
using graph::Graph;
using graph::ValueId;
using runtime::ElementType;
using runtime::Shape;
using runtime::Tensor;
using runtime::Value;

Value random_tensor(Rng& rng, Shape shape) {
  Tensor tensor = *Tensor::allocate(ElementType::F32, std::move(shape));
  for (float& element : tensor.as<float>()) element = static_cast<float>(rng.uniform(-8, 8)) / 4;
  return tensor;
}

template <typename Make>
std::shared_ptr<const Graph> graph_of(std::size_t inputs, Make make) {
  Graph graph;
  for (std::size_t i = 0; i < inputs; ++i) graph.inputs.push_back(graph.add_value("input"));
  Builder builder(graph);
  graph.outputs = make(builder, graph.inputs);
  graph.nodes = builder.nodes();
  return std::make_shared<const Graph>(std::move(graph));
}

std::shared_ptr<RunnerContext> new_context() {
  return std::make_shared<RunnerContext>(codegen::parse_target("cpu -threads=2").value());
}

void expect_equal(const Value& found, const Value& expected) {
  ASSERT_TRUE(found.tensor() && expected.tensor());
  ASSERT_EQ(found.describe(), expected.describe());
  const std::vector<double> a = *found.tensor()->to_doubles(), b = *expected.tensor()->to_doubles();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4) << "element " << i;
}

/// A little of everything: a product, a tail that fuses, a view, and a result whose size depends on the content.
std::shared_ptr<const Graph> small_model() {
  return graph_of(2, [](Builder& b, const std::vector<ValueId>& x) {
    const ValueId product = b.add("MatMul", {x[0], x[1]});
    const ValueId flat = b.add("Reshape", {b.add("Relu", {product}), b.ints({-1})});
    const ValueId places = b.add("NonZero", {flat});
    return std::vector<ValueId>{flat, b.add("Neg", {places}), b.add("Softmax", {product})};
  });
}

TEST(Runner, AgreesWithTheReferenceAtEveryShape) {
  Rng rng(/*seed=*/1);
  const auto graph = small_model();
  const Runner runner(graph, new_context());
  runtime::ThreadPool pool(2);
  for (const Shape& sizes : {Shape{3, 4, 5}, Shape{1, 1, 1}, Shape{17, 31, 13}, Shape{0, 3, 2}, Shape{3, 4, 5}}) {
    const std::vector<Value> inputs = {random_tensor(rng, {sizes[0], sizes[1]}),
                                       random_tensor(rng, {sizes[1], sizes[2]})};
    const auto expected = graph::evaluate(*graph, inputs);
    ASSERT_TRUE(expected) << expected.error().message;
    std::vector<Value> found(3);
    const auto done = runner.run(inputs, found, &pool);
    ASSERT_TRUE(done) << done.error().message;
    for (std::size_t i = 0; i < found.size(); ++i) expect_equal(found[i], (*expected)[i]);
  }
}

TEST(Runner, SeveralThreadsMayRunOne) {
  const auto graph = small_model();
  const Runner runner(graph, new_context());
  runtime::ThreadPool pool(2);
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    threads.emplace_back([&, seed] {
      Rng rng(seed);
      for (int round = 0; round < 20; ++round) {
        const std::int64_t rows = rng.uniform(1, 4);
        const std::vector<Value> inputs = {random_tensor(rng, {rows, 6}), random_tensor(rng, {6, 3})};
        const auto expected = graph::evaluate(*graph, inputs);
        std::vector<Value> found(3);
        ASSERT_TRUE(runner.run(inputs, found, &pool));
        for (std::size_t i = 0; i < found.size(); ++i) expect_equal(found[i], (*expected)[i]);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Runner, FillsTheOutputsItIsGiven) {
  Rng rng(/*seed=*/1);
  const auto graph =
      graph_of(1, [](Builder& b, const std::vector<ValueId>& x) { return std::vector<ValueId>{b.add("Neg", {x[0]})}; });
  const Runner runner(graph, new_context());
  const std::vector<Value> inputs = {random_tensor(rng, {5})};
  Tensor memory = *Tensor::allocate(ElementType::F32, {5});
  std::vector<Value> outputs = {memory};
  ASSERT_TRUE(runner.run(inputs, outputs, nullptr));
  EXPECT_EQ(outputs[0].tensor()->data(), memory.data());
  EXPECT_EQ(memory.as<float>()[2], -inputs[0].tensor()->as<float>()[2]);
}

TEST(Runner, KeepsNoMoreSpecializationsThanAllowed) {
  Rng rng(/*seed=*/1);
  const auto context = new_context();
  context->max_specializations = 2;
  const auto graph =
      graph_of(1, [](Builder& b, const std::vector<ValueId>& x) { return std::vector<ValueId>{b.add("Exp", {x[0]})}; });
  const Runner runner(graph, context);
  for (std::int64_t size = 1; size < 6; ++size) {
    const std::vector<Value> inputs = {random_tensor(rng, {size})};
    std::vector<Value> outputs(1);
    ASSERT_TRUE(runner.run(inputs, outputs, nullptr));
    EXPECT_EQ(outputs[0].tensor()->shape(), Shape{size});
  }
}

}  // namespace
}  // namespace hone
