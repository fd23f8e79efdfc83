#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

/// A batch normalisation of `x` with random statistics.
ValueId batch_norm(Builder& b, Rng& rng, ValueId x, std::int64_t channels, ElementType type = ElementType::F32) {
  const auto constant = [&](double offset) { return b.constant(random_tensor(rng, type, {channels}, offset)); };
  return b.add("BatchNormalization", {x, constant(1), constant(0), constant(0), constant(2)},
               attributes({{"epsilon", 1e-3F}}));
}

TEST(FoldBatchNorms, ConvolutionsTakeThemIn) {
  Rng rng(1);
  for (const std::int64_t groups : {1, 2})
    for (const bool has_bias : {false, true}) {
      const std::vector<Tensor> inputs = {random_floats(rng, {2, 4, 5, 3})};
      const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
        std::vector<ValueId> operands = {x[0], b.constant(random_floats(rng, {6, 4 / groups, 3, 3}))};
        if (has_bias) operands.push_back(b.constant(random_floats(rng, {6})));
        return std::vector{batch_norm(b, rng, b.add("Conv", operands, attributes({{"group", groups}})), 6)};
      });
      EXPECT_THAT(operators_of(after_loading(fold_batch_norms, graph, inputs)), ElementsAre("Conv"));
    }
}

TEST(FoldBatchNorms, TransposedConvolutionsOfGroupsScaleTheirOwnChannels) {
  Rng rng(2);
  const std::vector<Tensor> inputs = {random_floats(rng, {1, 4, 5})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const ValueId y = b.add("ConvTranspose", {x[0], b.constant(random_floats(rng, {4, 3, 2}))},
                            attributes({{"group", std::int64_t{2}}}));
    return std::vector{batch_norm(b, rng, y, 6)};
  });
  EXPECT_THAT(operators_of(after_loading(fold_batch_norms, graph, inputs)), ElementsAre("ConvTranspose"));
}

TEST(FoldBatchNorms, GemmTakesThemInWhicheverWayItsWeightLies) {
  Rng rng(3);
  for (const std::int64_t transposed : {0, 1}) {
    const std::vector<Tensor> inputs = {random_floats(rng, {3, 5})};
    const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
      const Tensor weight = random_floats(rng, transposed != 0 ? Shape{7, 5} : Shape{5, 7});
      const ValueId y = b.add("Gemm", {x[0], b.constant(weight), b.constant(random_floats(rng, {1, 7}))},
                              attributes({{"transB", transposed}, {"alpha", 0.5F}, {"beta", 2.F}}));
      return std::vector{batch_norm(b, rng, y, 7)};
    });
    EXPECT_THAT(operators_of(after_loading(fold_batch_norms, graph, inputs)), ElementsAre("Gemm"));
  }
}

TEST(FoldBatchNorms, MatMulTakesThemInOnceItsRankIsKnown) {
  Rng rng(4);
  const std::vector<Tensor> inputs = {random_floats(rng, {3, 5})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const ValueId y = b.add("MatMul", {x[0], b.constant(random_floats(rng, {5, 7}))});
    const ValueId sum = b.add("Add", {b.constant(random_floats(rng, {7})), y});
    return std::vector{batch_norm(b, rng, sum, 7)};
  });
  EXPECT_THAT(operators_of(after_loading(fold_batch_norms, graph, inputs)),
              ElementsAre("MatMul", "Add", "BatchNormalization"));
  EXPECT_THAT(operators_of(after_specializing(fold_batch_norms, graph, inputs)), ElementsAre("MatMul", "Add"));

  const std::vector<Tensor> batches = {random_floats(rng, {2, 7, 5})};  // channels are not what MatMul gives last
  EXPECT_THAT(operators_of(after_specializing(fold_batch_norms, graph, batches)),
              ElementsAre("MatMul", "Add", "Mul", "Add"));
}

TEST(FoldBatchNorms, FactorsAndSumsPerChannelAreTakenIn) {
  Rng rng(5);
  const std::vector<Tensor> inputs = {random_floats(rng, {1, 3, 4, 4})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    ValueId y = b.add("Conv", {x[0], b.constant(random_floats(rng, {4, 3, 2, 2}))});
    y = b.add("Mul", {b.constant(random_floats(rng, {4, 1, 1})), y});
    y = b.add("Add", {y, b.constant(random_floats(rng, {1, 4, 1, 1}))});
    y = b.add("Div", {y, b.scalar(ElementType::F32, 3)});
    return std::vector{b.add("Sub", {b.scalar(ElementType::F32, 0.5), y})};
  });
  EXPECT_THAT(operators_of(after_loading(fold_batch_norms, graph, inputs)), ElementsAre("Conv"));
}

TEST(FoldBatchNorms, ALinearLayerIsScaledWithItsBias) {
  Rng rng(6);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 5})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const ValueId y = b.add("MatMul", {x[0], b.constant(random_floats(rng, {5, 4}))});
    const ValueId sum = b.add("Add", {y, b.constant(random_floats(rng, {4}))});
    return std::vector{b.add("Mul", {sum, b.scalar(ElementType::F32, 0.125)})};
  });
  EXPECT_THAT(operators_of(after_loading(fold_batch_norms, graph, inputs)), ElementsAre("MatMul", "Add"));
}

TEST(FoldBatchNorms, NarrowTypesAreRoundedOnce) {
  Rng rng(7);
  for (const ElementType type : {ElementType::F16, ElementType::BF16, ElementType::F64}) {
    const std::vector<Tensor> inputs = {random_tensor(rng, type, {1, 2, 3, 3})};
    const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
      return std::vector{
          batch_norm(b, rng, b.add("Conv", {x[0], b.constant(random_tensor(rng, type, {3, 2, 2, 2}))}), 3, type)};
    });
    const double tolerance = type == ElementType::F64 ? 1e-12 : type == ElementType::F16 ? 1e-2 : 1e-1;
    EXPECT_THAT(operators_of(after_loading(fold_batch_norms, graph, inputs, tolerance)), ElementsAre("Conv"));
  }
}

TEST(FoldBatchNorms, WithNothingBeforeThemTheyAreAProductAndASum) {
  Rng rng(8);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 4})};
  const Graph graph = graph_of(
      inputs, [&](Builder& b, const std::vector<ValueId>& x) { return std::vector{batch_norm(b, rng, x[0], 3)}; });
  EXPECT_THAT(operators_of(after_specializing(fold_batch_norms, graph, inputs)), ElementsAre("Mul", "Add"));
  EXPECT_THAT(operators_of(after_loading(fold_batch_norms, graph, inputs)), ElementsAre("BatchNormalization"));
}

TEST(FoldBatchNorms, WhatIsReadElsewhereStaysAsItIs) {
  Rng rng(9);
  const std::vector<Tensor> inputs = {random_floats(rng, {1, 3, 4, 4})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const ValueId y = b.add("Conv", {x[0], b.constant(random_floats(rng, {4, 3, 2, 2}))});
    return std::vector{batch_norm(b, rng, y, 4), y};
  });
  EXPECT_THAT(operators_of(after_loading(fold_batch_norms, graph, inputs)), ElementsAre("Conv", "BatchNormalization"));
}

TEST(FoldBatchNorms, OtherAxesChangingWeightsAndStatisticsStayAsTheyAre) {
  Rng rng(10);
  const std::vector<Tensor> inputs = {random_floats(rng, {1, 3, 4, 4}), random_floats(rng, {4, 3, 2, 2}),
                                      random_floats(rng, {4}, 2)};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const ValueId weight = b.constant(random_floats(rng, {4, 3, 2, 2}));
    const ValueId one = b.constant(random_floats(rng, {4}));
    return std::vector{
        b.add("Mul", {b.add("Conv", {x[0], weight}), b.constant(random_floats(rng, {3, 1}))}),        // rows
        b.add("Mul", {b.add("Conv", {x[0], weight}), b.constant(random_floats(rng, {2, 4, 1, 1}))}),  // a batch of two
        b.add("Div", {b.scalar(ElementType::F32, 1), b.add("Conv", {x[0], weight})}),
        b.add("Mul", {b.add("Conv", {x[0], x[1]}), b.scalar(ElementType::F32, 2)}),
        b.add("BatchNormalization", {b.add("Conv", {x[0], weight}), one, one, one, x[2]}),
    };
  });
  EXPECT_EQ(operators_of(after_loading(fold_batch_norms, graph, inputs, 1e-3)), operators_of(graph));
}

TEST(FoldBatchNorms, WeightsThatWouldOverflowStayAsTheyAre) {
  Rng rng(11);
  const std::vector<Tensor> inputs = {random_tensor(rng, ElementType::F16, {1, 1, 2, 2})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const ValueId y = b.add("Conv", {x[0], b.constant(*rounded(ElementType::F16, {1, 1, 1, 1}, {60000}))});
    return std::vector{b.add("Mul", {y, b.scalar(ElementType::F16, 2)})};
  });
  EXPECT_THAT(operators_of(fold_batch_norms({graph}).graph), ElementsAre("Conv", "Mul"));
}

}  // namespace
}  // namespace hone::graph
