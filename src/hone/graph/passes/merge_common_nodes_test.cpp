#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

TEST(MergeCommonNodes, EqualNodesAreComputedOnce) {
  Rng rng(1);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3})};
  const Graph graph = graph_of(inputs, [](Builder& b, const std::vector<ValueId>& x) {
    const auto branch = [&] {  // the scalars are constants of their own
      return b.add("Exp", {b.add("Mul", {x[0], b.scalar(ElementType::F32, 3)})});
    };
    const ValueId first = branch(), second = branch();
    return std::vector{b.add("Add", {first, second})};
  });
  EXPECT_THAT(operators_of(after_loading(merge_common_nodes, graph, inputs, 0)), ElementsAre("Mul", "Exp", "Add"));
}

TEST(MergeCommonNodes, DifferentAttributesConstantsAndVersionsAreKeptApart) {
  const std::vector<Tensor> inputs = {iota({2, 2})};
  const Graph graph = graph_of(inputs, [](Builder& b, const std::vector<ValueId>& x) {
    std::vector<ValueId> made = {
        b.add("LeakyRelu", {x[0]}, attributes({{"alpha", 0.1F}})),
        b.add("LeakyRelu", {x[0]}, attributes({{"alpha", 0.2F}})),
        b.add("Mul", {x[0], b.scalar(ElementType::F32, 2)}),
        b.add("Mul", {x[0], b.constant(floats({1}, {2}))}),
        b.add("Softmax", {x[0]}),
        b.add("Softmax", {x[0]}),
    };
    b.nodes().back().opset = 12;
    return made;
  });
  EXPECT_EQ(operators_of(after_loading(merge_common_nodes, graph, inputs, 0)), operators_of(graph));
}

TEST(MergeCommonNodes, RandomNodesAreKeptApart) {
  const std::vector<Tensor> inputs = {iota({2, 2})};
  const Graph graph = graph_of(inputs, [](Builder& b, const std::vector<ValueId>& x) {
    return std::vector{b.add("RandomNormalLike", {x[0]}), b.add("RandomNormalLike", {x[0]})};
  });
  EXPECT_EQ(merge_common_nodes({graph}).graph.nodes.size(), 2U);
}

TEST(MergeCommonNodes, AllOutputsOfANodeAreShared) {
  const std::vector<Tensor> inputs = {iota({2, 6})};
  const Graph graph = graph_of(inputs, [](Builder& b, const std::vector<ValueId>& x) {
    const Attributes thirds = attributes({{"axis", std::int64_t{1}}, {"num_outputs", std::int64_t{3}}});
    const Attributes halves = attributes({{"axis", std::int64_t{1}}, {"num_outputs", std::int64_t{2}}});
    const auto first = b.add_node("", "Split", {x[0]}, 3, thirds), second = b.add_node("", "Split", {x[0]}, 3, thirds);
    const auto other = b.add_node("", "Split", {x[0]}, 2, halves);
    return std::vector{b.add("Sub", {first[0], second[2]}), b.add("Neg", {second[1]}), second[0], other[1]};
  });
  EXPECT_THAT(operators_of(after_loading(merge_common_nodes, graph, inputs, 0)),
              ElementsAre("Split", "Identity", "Split", "Sub", "Neg"));  // the Identity makes the third output
}

}  // namespace
}  // namespace hone::graph
