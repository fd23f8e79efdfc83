#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

using Order = std::vector<std::int64_t>;

ValueId transposed(Builder& b, ValueId x, const Order& order) {
  return b.add("Transpose", {x}, attributes({{"perm", order}}));
}

ValueId attention(Builder& b, const std::vector<ValueId>& operands) {
  return b.add_node("hone", "FusedAttention", operands, 1, attributes({{"scale", 0.5F}}))[0];
}

using Make = std::function<std::vector<ValueId>(Builder&, const std::vector<ValueId>&)>;

Graph after(const std::vector<Tensor>& inputs, const Make& make) {
  return after_specializing(absorb_head_transposes, graph_of(inputs, make), inputs);
}

std::vector<Tensor> operands(const Shape& q, const Shape& k, const Shape& v) {
  Rng rng(1);
  return {random_floats(rng, q), random_floats(rng, k), random_floats(rng, v)};
}

TEST(AbsorbHeadTransposes, OperandsAndResultMayHavePositionsFirst) {
  const Graph graph =
      after(operands({2, 5, 3, 4}, {2, 7, 3, 4}, {2, 7, 3, 6}), [](Builder& b, const std::vector<ValueId>& x) {
        std::vector<ValueId> swapped;
        for (const ValueId id : x) swapped.push_back(transposed(b, id, {0, 2, 1, 3}));
        return std::vector{transposed(b, attention(b, swapped), {0, 2, 1, 3})};
      });
  EXPECT_THAT(operators_of(graph), ElementsAre("FusedAttention"));
  EXPECT_EQ(graph.nodes[0].attributes.integer("positions_first", 0), 15);
}

TEST(AbsorbHeadTransposes, EachOperandForItself) {
  const Graph graph =
      after(operands({2, 3, 5, 4}, {2, 7, 3, 4}, {2, 3, 7, 6}), [](Builder& b, const std::vector<ValueId>& x) {
        return std::vector{attention(b, {x[0], transposed(b, x[1], {0, 2, 1, 3}), x[2]})};
      });
  EXPECT_THAT(operators_of(graph), ElementsAre("FusedAttention"));
  EXPECT_EQ(graph.nodes[0].attributes.integer("positions_first", 0), 2);
}

TEST(AbsorbHeadTransposes, OfOneBatchInAnyPlace) {
  const Graph graph =
      after(operands({5, 3, 4}, {1, 3, 7, 4}, {1, 3, 7, 6}), [](Builder& b, const std::vector<ValueId>& x) {
        const ValueId q = b.add("Reshape", {transposed(b, x[0], {1, 0, 2}), b.ints({1, 3, 5, 4})});
        return std::vector{transposed(b, attention(b, {q, x[1], x[2]}), {2, 0, 1, 3})};
      });
  EXPECT_THAT(operators_of(graph), ElementsAre("Reshape", "FusedAttention", "Reshape"));
}

TEST(AbsorbHeadTransposes, OtherOrdersAndReadersStay) {
  const auto same = ElementsAre("FusedAttention", "Transpose");
  const std::vector<Tensor> inputs = operands({2, 3, 5, 4}, {2, 3, 7, 4}, {2, 3, 7, 6});
  EXPECT_THAT(operators_of(after(inputs,
                                 [](Builder& b, const std::vector<ValueId>& x) {
                                   return std::vector{transposed(b, attention(b, x), {2, 0, 1, 3})};
                                 })),
              same);
  EXPECT_THAT(operators_of(after(inputs,
                                 [](Builder& b, const std::vector<ValueId>& x) {
                                   const ValueId y = attention(b, x);
                                   return std::vector{transposed(b, y, {0, 2, 1, 3}), y};
                                 })),
              same);
}

}  // namespace
}  // namespace hone::graph
