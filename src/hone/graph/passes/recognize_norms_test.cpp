#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

/// How a norm is written.
struct WrittenNorm {
  bool is_centred = true;
  std::vector<std::int64_t> axes = {-1};
  std::string square = "Pow";
  std::string root = "Div";  ///< "Div" by the root, or "Mul" with "Reciprocal", "Quotient" or "Pow" of it
  std::int64_t keepdims = 1;
  ElementType type = ElementType::F32;
};

ValueId write_norm(Builder& b, ValueId x, const WrittenNorm& form) {
  const Attributes keeps = attributes({{"keepdims", form.keepdims}});
  const auto scalar = [&](double number) { return b.scalar(form.type, number); };
  if (form.is_centred) x = b.add("Sub", {x, b.add("ReduceMean", {x, b.ints(form.axes)}, keeps)});
  const ValueId square = form.square == "Pow" ? b.add("Pow", {x, scalar(2)}) : b.add("Mul", {x, x});
  const ValueId mean = b.add("ReduceMean", {square, b.ints(form.axes)}, keeps);
  const ValueId sum = b.add("Add", {scalar(0.125), mean});
  if (form.root == "Pow") return b.add("Mul", {x, b.add("Pow", {sum, scalar(-0.5)})});
  const ValueId root = b.add("Sqrt", {sum});
  if (form.root == "Div") return b.add("Div", {x, root});
  if (form.root == "Reciprocal") return b.add("Mul", {x, b.add("Reciprocal", {root})});
  return b.add("Mul", {b.add("Div", {scalar(1), root}), x});
}

std::vector<std::string> left_of(const WrittenNorm& form, bool knows_shapes = false, const Shape& shape = {2, 3, 5}) {
  Rng rng(1);
  const std::vector<Tensor> inputs = {random_tensor(rng, form.type, shape)};
  const Graph graph = graph_of(
      inputs, [&](Builder& b, const std::vector<ValueId>& x) { return std::vector{write_norm(b, x[0], form)}; });
  const double tolerance = form.type == ElementType::F16 ? 1e-2 : 1e-5;
  return operators_of(knows_shapes ? after_specializing(recognize_norms, graph, inputs, tolerance)
                                   : after_loading(recognize_norms, graph, inputs, tolerance));
}

TEST(RecognizeNorms, HoweverTheyAreWritten) {
  for (const char* square : {"Pow", "Mul"})
    for (const char* root : {"Div", "Reciprocal", "Quotient", "Pow"})
      for (const ElementType type : {ElementType::F32, ElementType::F16, ElementType::F64}) {
        EXPECT_THAT(left_of({.square = square, .root = root, .type = type}), ElementsAre("LayerNormalization"));
        EXPECT_THAT(left_of({.is_centred = false, .square = square, .root = root, .type = type}),
                    ElementsAre("RMSNormalization"));
      }
}

TEST(RecognizeNorms, OverTheLastAxes) {
  EXPECT_THAT(left_of({.axes = {-1, -2}}), ElementsAre("LayerNormalization"));
  EXPECT_THAT(left_of({.axes = {2}}, true), ElementsAre("LayerNormalization"));
  EXPECT_THAT(left_of({.axes = {1, 2}}, true), ElementsAre("LayerNormalization"));
  EXPECT_EQ(left_of({.axes = {2}}).size(), 7U);  // the rank is not known
  EXPECT_EQ(left_of({.axes = {1}}, true).size(), 7U);
  EXPECT_EQ(left_of({.axes = {-2}}).size(), 7U);
  EXPECT_EQ(left_of({.axes = {0, 2}}, true).size(), 7U);
}

TEST(RecognizeNorms, MeansThatDropTheirAxisStay) {
  EXPECT_EQ(left_of({.axes = {-1}, .keepdims = 0}, true, {5, 5, 5}).size(), 7U);
}

TEST(RecognizeNorms, FactorAndBiasAreTakenInOnceTheShapeIsKnown) {
  Rng rng(2);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 5})};
  for (const bool is_centred : {true, false}) {
    const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
      const ValueId scaled =
          b.add("Mul", {b.constant(random_floats(rng, {5})), write_norm(b, x[0], {.is_centred = is_centred})});
      return std::vector{b.add("Add", {scaled, b.constant(random_floats(rng, {1, 5}))})};
    });
    if (is_centred) {
      EXPECT_THAT(operators_of(after_specializing(recognize_norms, graph, inputs)), ElementsAre("LayerNormalization"));
      EXPECT_THAT(operators_of(after_loading(recognize_norms, graph, inputs)),
                  ElementsAre("LayerNormalization", "Mul", "Add"));
    } else {
      EXPECT_THAT(operators_of(after_specializing(recognize_norms, graph, inputs)),
                  ElementsAre("RMSNormalization", "Add"));
    }
  }
}

TEST(RecognizeNorms, FactorsThatAreComputedOrWiderStay) {
  Rng rng(3);
  const std::vector<Tensor> inputs = {random_floats(rng, {3, 1}), random_floats(rng, {3, 1})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    return std::vector{b.add("Mul", {write_norm(b, x[0], {}), b.constant(random_floats(rng, {4}))}),
                       b.add("Mul", {write_norm(b, x[0], {}), x[1]})};
  });
  EXPECT_THAT(operators_of(after_specializing(recognize_norms, graph, inputs)),
              ElementsAre("LayerNormalization", "Mul", "LayerNormalization", "Mul"));
}

TEST(RecognizeNorms, WithFactorAndBiasRegrouped) {
  Rng rng(5);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 5}, 1)};
  const auto left = [&](const std::vector<std::int64_t>& axes, bool reads_mean) {
    const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
      const ValueId mean = b.add("ReduceMean", {x[0], b.ints(axes)});
      const ValueId centred = b.add("Sub", {x[0], mean});
      const ValueId variance = b.add("ReduceMean", {b.add("Mul", {centred, centred}), b.ints({-1})});
      const ValueId root = b.add("Sqrt", {b.add("Add", {variance, b.scalar(ElementType::F32, 0.125)})});
      const ValueId m = b.add("Mul", {b.add("Reciprocal", {root}), b.constant(random_floats(rng, {5}))});
      const ValueId shift = b.add("Sub", {b.constant(random_floats(rng, {5})), b.add("Mul", {mean, m})});
      std::vector<ValueId> outputs = {b.add("Add", {b.add("Mul", {x[0], m}), shift})};
      if (reads_mean) outputs.push_back(b.add("Neg", {mean}));
      return outputs;
    });
    return operators_of(after_specializing(recognize_norms, graph, inputs));
  };
  EXPECT_THAT(left({-1}, false), ElementsAre("LayerNormalization"));
  EXPECT_THAT(left({-1}, true), ElementsAre("ReduceMean", "LayerNormalization", "Neg"));
  EXPECT_EQ(left({-2, -1}, false).size(), 12U);  // another mean
}

TEST(RecognizeNorms, WhatIsReadElsewhereIsStillComputed) {
  Rng rng(4);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 5})};
  const Graph graph = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const ValueId y = write_norm(b, x[0], {});
    std::vector<ValueId> outputs = {y, b.nodes()[1].outputs[0]};  // what was centred
    return outputs;
  });
  EXPECT_THAT(operators_of(after_loading(recognize_norms, graph, inputs)),
              ElementsAre("ReduceMean", "Sub", "RMSNormalization"));
  const Graph variance = graph_of(inputs, [&](Builder& b, const std::vector<ValueId>& x) {
    const ValueId y = write_norm(b, x[0], {});
    return std::vector{y, b.nodes()[3].outputs[0]};
  });
  EXPECT_EQ(after_loading(recognize_norms, variance, inputs).nodes.size(), 7U);
}

}  // namespace
}  // namespace hone::graph
