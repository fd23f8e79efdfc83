#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Order = std::vector<std::int64_t>;

ValueId transpose(Builder& b, ValueId x, const Order& order) {
  return b.add("Transpose", {x}, attributes({{"perm", order}}));
}

TEST(CancelTransposes, TwoBecomeOneOrNone) {
  Rng rng(1);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 4})};
  for (const Order& first : {Order{1, 2, 0}, Order{2, 1, 0}})
    for (const Order& second : {Order{2, 0, 1}, Order{0, 2, 1}}) {
      const auto left = left_between(cancel_transposes, inputs, false, [&](Builder& b, const std::vector<ValueId>& x) {
        return transpose(b, transpose(b, x[0], first), second);
      });
      if (first == Order{1, 2, 0} && second == Order{2, 0, 1})
        EXPECT_THAT(left, IsEmpty());
      else
        EXPECT_THAT(left, ElementsAre("Transpose"));
    }
  EXPECT_THAT(left_between(cancel_transposes, inputs, true,
                           [](Builder& b, const std::vector<ValueId>& x) {
                             return b.add("Transpose", {b.add("Transpose", {x[0]})});  // both reverse all axes
                           }),
              IsEmpty());
}

TEST(CancelTransposes, ElementwiseOperatorsMoveOut) {
  Rng rng(2);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 4, 5}), random_floats(rng, {2, 3, 4, 5}),
                                      random_floats(rng, {})};
  const Order forth = {0, 2, 3, 1}, back = {0, 3, 1, 2};
  const auto chain = [&](const Order& last) {
    return [&, last](Builder& b, const std::vector<ValueId>& x) {
      ValueId y = b.add("Add", {transpose(b, x[0], forth), transpose(b, x[1], forth)});
      y = b.add("Mul", {y, b.constant(random_floats(rng, {3}))});  // per channel, which stands last here
      y = b.add("Clip", {y, b.scalar(ElementType::F32, -0.5), b.scalar(ElementType::F32, 0.5)});
      y = b.add("Div", {b.add("Sigmoid", {y}), x[2]});
      return transpose(b, y, last);
    };
  };
  EXPECT_THAT(left_between(cancel_transposes, inputs, true, chain(back)),
              ElementsAre("Add", "Reshape", "Mul", "Clip", "Sigmoid", "Div"));  // of the constant
  EXPECT_THAT(left_between(cancel_transposes, inputs, true, chain(forth)),
              ElementsAre("Add", "Reshape", "Mul", "Clip", "Sigmoid", "Div", "Transpose"));
}

TEST(CancelTransposes, ThatWouldOnlyMoveStay) {
  Rng rng(3);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 4}), random_floats(rng, {4, 3, 2})};
  const Order order = {2, 1, 0};
  const auto left = [&](const std::function<ValueId(Builder&, std::vector<ValueId>)>& make) {
    return left_between(cancel_transposes, inputs, true, make);
  };
  // another operand that is not transposed
  EXPECT_THAT(left([&](Builder& b, const std::vector<ValueId>& x) {
                return transpose(b, b.add("Add", {transpose(b, x[0], order), x[1]}), order);
              }),
              ElementsAre("Transpose", "Add", "Transpose"));
  // operands transposed in different ways
  EXPECT_THAT(left([&](Builder& b, const std::vector<ValueId>& x) {
                const ValueId other = transpose(b, transpose(b, x[1], {1, 0, 2}), {1, 0, 2});
                return transpose(b, b.add("Add", {transpose(b, x[0], order), b.add("Abs", {other})}), order);
              }),
              ElementsAre("Transpose", "Abs", "Add", "Transpose"));
  // a constant that adds an axis
  EXPECT_THAT(left([&](Builder& b, const std::vector<ValueId>& x) {
                const ValueId sum = b.add("Add", {transpose(b, x[0], order), b.constant(iota({1, 4, 1, 1}))});
                return transpose(b, sum, {3, 2, 1, 0});
              }),
              ElementsAre("Transpose", "Add", "Transpose"));
  // a softmax, which is over an axis
  EXPECT_THAT(left([&](Builder& b, const std::vector<ValueId>& x) {
                return transpose(b, b.add("Softmax", {transpose(b, x[0], order)}), order);
              }),
              ElementsAre("Transpose", "Softmax", "Transpose"));
}

TEST(CancelTransposes, WhatIsReadElsewhereIsNotComputedTwice) {
  Rng rng(4);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3})};
  const Graph graph = graph_of(inputs, [](Builder& b, const std::vector<ValueId>& x) {
    const ValueId y = b.add("Exp", {transpose(b, x[0], {1, 0})});
    return std::vector{transpose(b, y, {1, 0}), y};
  });
  EXPECT_THAT(operators_of(after_loading(cancel_transposes, graph, inputs)),
              ElementsAre("Transpose", "Exp", "Transpose"));
}

TEST(CancelTransposes, OfAxesOfExtentOneAreReshapes) {
  const std::vector<Tensor> inputs = {iota({1, 3, 1, 4})};
  const auto left = [&](const Order& order) {
    return left_between(cancel_transposes, inputs, true,
                        [&](Builder& b, const std::vector<ValueId>& x) { return transpose(b, x[0], order); });
  };
  EXPECT_THAT(left({1, 0, 2, 3}), ElementsAre("Reshape"));
  EXPECT_THAT(left({2, 1, 3, 0}), ElementsAre("Reshape"));
  EXPECT_THAT(left({0, 3, 2, 1}), ElementsAre("Transpose"));
}

TEST(CancelTransposes, GemmReadsMatricesEitherWay) {
  Rng rng(5);
  const std::vector<Tensor> inputs = {random_floats(rng, {4, 3}), random_floats(rng, {5, 4})};
  EXPECT_THAT(left_between(cancel_transposes, inputs, false,
                           [](Builder& b, const std::vector<ValueId>& x) {
                             return b.add("Gemm", {transpose(b, x[0], {1, 0}), transpose(b, x[1], {1, 0})});
                           }),
              ElementsAre("Gemm"));
  EXPECT_THAT(left_between(cancel_transposes, inputs, false,
                           [](Builder& b, const std::vector<ValueId>& x) {
                             const ValueId y = b.add("Gemm", {transpose(b, x[0], {1, 0}), x[1]},
                                                     attributes({{"transB", std::int64_t{1}}, {"alpha", 2.F}}));
                             return b.add("Gemm", {transpose(b, y, {1, 0}), y});
                           }),
              ElementsAre("Gemm", "Gemm"));
}

TEST(CancelTransposes, MatMulOfFewRowsReadsColumnsAsRows) {
  Rng rng(6);
  const auto left = [&](std::int64_t rows, bool knows_shapes, const Order& order) {
    const std::vector<Tensor> inputs = {random_floats(rng, {2, rows, 4}), random_floats(rng, {2, 5, 4}),
                                        random_floats(rng, {5, 2, 4})};
    return left_between(cancel_transposes, inputs, knows_shapes, [&](Builder& b, const std::vector<ValueId>& x) {
      return b.add("MatMul", {x[0], transpose(b, x[order[0] == 0 ? 1 : 2], order)});
    });
  };
  EXPECT_THAT(left(2, true, {0, 2, 1}), ElementsAre("FusedMatMul"));
  EXPECT_THAT(left(2, false, {0, 2, 1}), ElementsAre("Transpose", "MatMul"));
  EXPECT_THAT(left(9, true, {0, 2, 1}), ElementsAre("Transpose", "MatMul"));
  EXPECT_THAT(left(2, true, {1, 2, 0}), ElementsAre("Transpose", "MatMul"));  // batches move, too
}

TEST(CancelTransposes, SingleEntriesArePickedFirst) {
  Rng rng(7);
  const std::vector<Tensor> inputs = {random_floats(rng, {4, 3, 5})};
  const auto entry = [&](const Order& order, std::int64_t axis, const Tensor& place) {
    return left_between(cancel_transposes, inputs, false, [&](Builder& b, const std::vector<ValueId>& x) {
      return b.add("Gather", {transpose(b, x[0], order), b.constant(place)}, attributes({{"axis", axis}}));
    });
  };
  const Tensor one = Tensor::scalar<std::int64_t>(1);
  EXPECT_THAT(entry({1, 0, 2}, 0, one), ElementsAre("Gather"));
  EXPECT_THAT(entry({2, 1, 0}, -2, one), ElementsAre("Gather", "Transpose"));
  EXPECT_THAT(entry({1, 0, 2}, 0, ints({1})), ElementsAre("Transpose", "Gather"));
  const auto through = [&](const std::vector<std::int64_t>& shape) {
    return left_between(cancel_transposes, inputs, true, [&](Builder& b, const std::vector<ValueId>& x) {
      const ValueId view = b.add("Reshape", {transpose(b, x[0], {1, 0, 2}), b.ints(shape)});
      return b.add("Gather", {view, b.constant(one)});
    });
  };
  EXPECT_THAT(through({3, 2, 10}), ElementsAre("Gather", "Reshape"));
  EXPECT_THAT(through({6, 10}), ElementsAre("Transpose", "Reshape", "Gather"));
}

TEST(MergeReshapes, TheLastOneCounts) {
  const std::vector<Tensor> inputs = {iota({2, 3, 4})};
  const Graph graph = graph_of(inputs, [](Builder& b, const std::vector<ValueId>& x) {
    const ValueId rows = b.add("Reshape", {x[0], b.ints({-1, 4})});
    const ValueId more = b.add("Unsqueeze", {b.add("Reshape", {rows, b.ints({3, 0, 2})}), b.ints({0})});
    const ValueId back = b.add("Reshape", {b.add("Flatten", {rows}), b.ints({2, 3, 4})});
    return std::vector{b.add("Neg", {more}), b.add("Neg", {back})};
  });
  const Graph after = after_specializing(merge_reshapes, graph, inputs, 0);
  EXPECT_THAT(operators_of(after), ElementsAre("Reshape", "Neg", "Neg"));
  EXPECT_EQ(operators_of(after_loading(merge_reshapes, graph, inputs, 0)), operators_of(graph));
}

}  // namespace
}  // namespace hone::graph
