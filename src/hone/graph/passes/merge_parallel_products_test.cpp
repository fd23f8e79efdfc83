#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

TEST(MergeParallelProducts, QueryKeyAndValueAreOneMatMul) {
  Rng rng(1);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 4})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    std::vector<ValueId> parts;
    for (const std::int64_t size : {5, 1, 7}) {
      const ValueId y = b.add("MatMul", {x[0], b.constant(random_floats(rng, {4, size}))});
      parts.push_back(b.add("Add", {y, b.constant(random_floats(rng, {size}))}));
    }
    return parts;
  });
  EXPECT_THAT(operators_of(after_loading(merge_parallel_products, graph, inputs)),
              ElementsAre("MatMul", "Split", "Add", "Add", "Add"));
}

TEST(MergeParallelProducts, GemmsAndConvolutionsAreMergedWithTheirBiases) {
  Rng rng(2);
  for (const std::int64_t transposed : {0, 1}) {
    const std::vector<Tensor> inputs = {random_floats(rng, {3, 4})};
    const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
      std::vector<ValueId> parts;
      for (const std::int64_t size : {2, 3})
        parts.push_back(b.add("Gemm",
                              {x[0], b.constant(random_floats(rng, transposed != 0 ? Shape{size, 4} : Shape{4, size})),
                               b.constant(random_floats(rng, {size}))},
                              attributes({{"transB", transposed}, {"beta", 2.F}})));
      return parts;
    });
    EXPECT_THAT(operators_of(after_loading(merge_parallel_products, graph, inputs)),
                ElementsAre("Gemm", "Split", "Identity", "Identity"));
  }
  const std::vector<Tensor> images = {random_floats(rng, {2, 3, 4, 4})};
  const Graph graph = graph_of(images, [&](Builder& b, const std::vector<ValueId>& x) {
    const auto conv = [&](std::int64_t outputs, std::int64_t kernel) {
      return b.add("Conv", {x[0], b.constant(random_floats(rng, {outputs, 3, kernel, kernel}))});
    };
    const ValueId first = conv(2, 1), wide = conv(2, 3), second = conv(5, 1);
    return std::vector{b.add("Relu", {first}), wide, b.add("Relu", {second})};
  });
  EXPECT_THAT(operators_of(after_loading(merge_parallel_products, graph, images)),
              ElementsAre("Conv", "Split", "Conv", "Relu", "Relu"));
}

TEST(MergeParallelProducts, WhatDiffersStaysApart) {
  Rng rng(3);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 4, 4}), random_floats(rng, {2, 4, 4}),
                                      random_floats(rng, {4, 4})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const auto weight = [&](const Shape& shape) { return b.constant(random_floats(rng, shape)); };
    return std::vector{b.add("MatMul", {x[0], weight({4, 4})}),
                       b.add("MatMul", {x[1], weight({4, 4})}),  // another input
                       b.add("MatMul", {x[0], x[2]}),            // weights that change
                       b.add("MatMul", {weight({4, 4}), x[0]}),  // on the other side
                       b.add("MatMul", {x[0], weight({2, 4, 4})}),
                       b.add("Gemm", {x[2], weight({4, 4})}),
                       b.add("Gemm", {x[2], weight({4, 4})}, attributes({{"alpha", 2.F}})),
                       b.add("Gemm", {x[2], weight({4, 4}), weight({4})}),
                       b.add("Gemm", {x[2], weight({4, 4}), weight({4, 1})}),
                       b.add("Conv", {x[0], weight({4, 2, 1})}, attributes({{"group", std::int64_t{2}}})),
                       b.add("Conv", {x[0], weight({4, 2, 1})}, attributes({{"group", std::int64_t{2}}}))};
  });
  EXPECT_EQ(operators_of(after_loading(merge_parallel_products, graph, inputs)), operators_of(graph));
}

}  // namespace
}  // namespace hone::graph
