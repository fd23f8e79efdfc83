#include <numbers>

#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

using MakeActivation = std::function<ValueId(Builder&, ValueId, const std::function<ValueId(double)>&)>;

/// What is left of the function that `make` writes, given a value and scalars of a type.
std::vector<std::string> left_of(const MakeActivation& make, ElementType type = ElementType::F32,
                                 double tolerance = 1e-6) {
  Rng rng(1);
  const std::vector<Tensor> inputs = {random_tensor(rng, type, {3, 7})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    return std::vector{make(b, x[0], [&](double number) { return b.scalar(type, number); })};
  });
  return operators_of(after_loading(recognize_activations, graph, inputs, tolerance));
}

TEST(RecognizeActivations, GeluInEveryOrderOfItsFactors) {
  const auto gate = [](Builder& b, ValueId x, const auto& number) {
    return b.add("Add", {b.add("Erf", {b.add("Div", {x, number(std::numbers::sqrt2)})}), number(1)});
  };
  const std::vector<MakeActivation> forms = {
      [&](Builder& b, ValueId x, const auto& n) { return b.add("Mul", {b.add("Mul", {x, gate(b, x, n)}), n(0.5)}); },
      [&](Builder& b, ValueId x, const auto& n) { return b.add("Mul", {b.add("Mul", {n(0.5), x}), gate(b, x, n)}); },
      [&](Builder& b, ValueId x, const auto& n) { return b.add("Mul", {x, b.add("Mul", {n(0.5), gate(b, x, n)})}); },
      [&](Builder& b, ValueId x, const auto& n) { return b.add("Div", {b.add("Mul", {gate(b, x, n), x}), n(2)}); },
      [&](Builder& b, ValueId x, const auto& n) {
        const ValueId erf = b.add("Erf", {b.add("Mul", {n(0.7071067811865476), x})});
        return b.add("Mul", {b.add("Mul", {x, b.add("Add", {n(1), erf})}), n(0.5)});
      }};
  for (const MakeActivation& form : forms) {
    EXPECT_THAT(left_of(form), ElementsAre("Gelu"));
    EXPECT_THAT(left_of(form, ElementType::F16, 2e-3), ElementsAre("Gelu"));
    EXPECT_THAT(left_of(form, ElementType::F64, 1e-12), ElementsAre("Gelu"));
  }
}

TEST(RecognizeActivations, GeluByTanh) {
  const double scale = std::sqrt(2 / std::numbers::pi);
  const auto finish = [](Builder& b, ValueId x, const auto& n, ValueId inner) {
    return b.add("Mul", {b.add("Mul", {x, n(0.5)}), b.add("Add", {b.add("Tanh", {inner}), n(1)})});
  };
  const std::vector<MakeActivation> forms = {
      [&](Builder& b, ValueId x, const auto& n) {
        const ValueId cube = b.add("Mul", {b.add("Pow", {x, n(3)}), n(0.044715)});
        return finish(b, x, n, b.add("Mul", {b.add("Add", {x, cube}), n(scale)}));
      },
      [&](Builder& b, ValueId x, const auto& n) {
        const ValueId cube = b.add("Mul", {n(0.044715), b.add("Mul", {x, b.add("Mul", {x, x})})});
        return finish(b, x, n, b.add("Mul", {n(scale), b.add("Add", {cube, x})}));
      },
      [&](Builder& b, ValueId x, const auto& n) {
        const ValueId square = b.add("Mul", {b.add("Mul", {n(0.044715), x}), x});
        return finish(b, x, n, b.add("Mul", {b.add("Mul", {n(scale), x}), b.add("Add", {n(1), square})}));
      }};
  for (const MakeActivation& form : forms) EXPECT_THAT(left_of(form), ElementsAre("Gelu"));
}

TEST(RecognizeActivations, SwishHardSwishAndMish) {
  EXPECT_THAT(left_of([](Builder& b, ValueId x, const auto&) { return b.add("Mul", {x, b.add("Sigmoid", {x})}); }),
              ElementsAre("Swish"));
  EXPECT_THAT(left_of([](Builder& b, ValueId x, const auto& n) {
                return b.add("Mul", {b.add("Sigmoid", {b.add("Mul", {x, n(1.702F)})}), x});
              }),
              ElementsAre("Swish"));
  EXPECT_THAT(left_of([](Builder& b, ValueId x, const auto&) {
                return b.add("Mul", {x, b.add("HardSigmoid", {x}, attributes({{"alpha", 1.F / 6}}))});
              }),
              ElementsAre("HardSwish"));
  EXPECT_THAT(left_of([](Builder& b, ValueId x, const auto& n) {
                const ValueId clipped = b.add("Clip", {b.add("Add", {x, n(3)}), n(0), n(6)});
                return b.add("Div", {b.add("Mul", {x, clipped}), n(6)});
              }),
              ElementsAre("HardSwish"));
  EXPECT_THAT(left_of([](Builder& b, ValueId x, const auto&) {
                return b.add("Mul", {x, b.add("Tanh", {b.add("Softplus", {x})})});
              }),
              ElementsAre("Mish"));
}

TEST(RecognizeActivations, OtherNumbersAndOtherValuesStay) {
  const auto gelu = [](double root, double one, double half) {
    return [=](Builder& b, ValueId x, const auto& n) {
      const ValueId gate = b.add("Add", {b.add("Erf", {b.add("Div", {x, n(root)})}), n(one)});
      return b.add("Mul", {b.add("Mul", {x, gate}), n(half)});
    };
  };
  for (const auto& form : {gelu(1.4, 1, 0.5), gelu(std::numbers::sqrt2, 2, 0.5), gelu(std::numbers::sqrt2, 1, 0.25)})
    EXPECT_THAT(left_of(form), ElementsAre("Div", "Erf", "Add", "Mul", "Mul"));
  EXPECT_THAT(left_of([](Builder& b, ValueId x, const auto&) {
                return b.add("Mul", {x, b.add("Sigmoid", {b.add("Neg", {x})})});
              }),
              ElementsAre("Neg", "Sigmoid", "Mul"));
  EXPECT_THAT(left_of([](Builder& b, ValueId x, const auto&) { return b.add("Mul", {x, b.add("HardSigmoid", {x})}); }),
              ElementsAre("HardSigmoid", "Mul"));
  EXPECT_THAT(left_of([](Builder& b, ValueId x, const auto&) {  // a constant that adds an axis
                const ValueId half = b.constant(floats({1, 1, 1}, {0.5F}));
                const ValueId root = b.scalar(ElementType::F32, std::numbers::sqrt2);
                const ValueId erf = b.add("Erf", {b.add("Div", {x, root})});
                const ValueId gate = b.add("Add", {erf, b.scalar(ElementType::F32, 1)});
                return b.add("Mul", {b.add("Mul", {x, gate}), half});
              }),
              ElementsAre("Div", "Erf", "Add", "Mul", "Mul"));
}

TEST(RecognizeActivations, WhatIsReadElsewhereStays) {
  const std::vector<Tensor> inputs = {iota({5})};
  const Graph graph = graph_of(inputs, [](Builder& b, const std::vector<ValueId>& x) {
    const ValueId gate = b.add("Sigmoid", {x[0]});
    return std::vector{b.add("Mul", {x[0], gate}), gate};
  });
  EXPECT_THAT(operators_of(after_loading(recognize_activations, graph, inputs, 0)), ElementsAre("Sigmoid", "Mul"));
}

}  // namespace
}  // namespace hone::graph
