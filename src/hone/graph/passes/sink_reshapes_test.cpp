#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

using MakeChain = std::function<std::vector<ValueId>(Builder&, const std::vector<ValueId>&)>;

std::vector<std::string> left_of(const std::vector<Tensor>& inputs, const MakeChain& make) {
  return operators_of(after_specializing(sink_reshapes, graph_of(inputs, make), inputs));
}

TEST(SinkReshapes, ElementwiseOperatorsStandNextToTheirProduct) {
  Rng rng(1);
  const std::vector<Tensor> inputs = {random_floats(rng, {6, 4}), random_floats(rng, {2, 3, 5}),
                                      random_floats(rng, {})};
  EXPECT_THAT(left_of(inputs,
                      [&](Builder& b, const std::vector<ValueId>& x) {
                        ValueId y = b.add("Gemm", {x[0], b.constant(random_floats(rng, {4, 5}))});
                        y = b.add("Reshape", {y, b.ints({2, 3, 5})});
                        y = b.add("Gelu", {b.add("Add", {b.constant(random_floats(rng, {1, 5})), y})});
                        y = b.add("Mul", {b.add("Add", {x[1], y}), x[2]});
                        y = b.add("Sub", {b.constant(random_floats(rng, {2, 3, 5})), y});
                        return std::vector{b.add("Clip", {y, b.constant(floats({}, {-1}))})};
                      }),
              ElementsAre("Gemm", "Add", "Gelu", "Reshape", "Add", "Mul", "Sub", "Clip", "Reshape"));
}

TEST(SinkReshapes, OperandsThatRepeatInAnotherWayStay) {
  Rng rng(2);
  const std::vector<Tensor> inputs = {random_floats(rng, {6, 4}), random_floats(rng, {3, 1})};
  const auto reshaped = [&](Builder& b, ValueId x, const std::vector<std::int64_t>& shape) {
    return b.add("Reshape", {b.add("Exp", {x}), b.ints(shape)});
  };
  const auto left = [&](const std::function<ValueId(Builder&, const std::vector<ValueId>&)>& make) {
    return left_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) { return std::vector{make(b, x)}; });
  };
  const auto same = ElementsAre("Exp", "Reshape", "Add");
  EXPECT_THAT(left([&](Builder& b, const std::vector<ValueId>& x) {  // one for each row
                return b.add("Add", {reshaped(b, x[0], {2, 3, 4}), x[1]});
              }),
              same);
  EXPECT_THAT(left([&](Builder& b, const std::vector<ValueId>& x) {  // the last axis is another one
                return b.add("Add", {reshaped(b, x[0], {2, 12}), b.constant(random_floats(rng, {12}))});
              }),
              same);
  EXPECT_THAT(left([&](Builder& b, const std::vector<ValueId>& x) {  // the sum is larger
                return b.add("Add", {reshaped(b, x[0], {1, 24}), b.constant(random_floats(rng, {2, 24}))});
              }),
              same);
  EXPECT_THAT(left_of(inputs,
                      [&](Builder& b, const std::vector<ValueId>& x) {  // both shapes are read
                        const ValueId y = reshaped(b, x[0], {24});
                        return std::vector{b.add("Exp", {y}), y};
                      }),
              ElementsAre("Exp", "Reshape", "Exp"));
  EXPECT_THAT(left([&](Builder& b, const std::vector<ValueId>& x) {  // there is nothing to join
                return b.add("Exp", {b.add("Reshape", {x[0], b.ints({24})})});
              }),
              ElementsAre("Reshape", "Exp"));
}

}  // namespace
}  // namespace hone::graph
