#include "hone/graph/passes/passes_test.h"

namespace hone::graph {
namespace {

using namespace testing;
using ::testing::ElementsAre;

/// How an attention is written.
struct WrittenAttention {
  std::string scale = "Mul";  ///< of the scores by "Mul" or "Div", of "query", of "both" query and keys, or "none"
  std::string mask = "none";  ///< "Add", "Where" with the lowest number, or "infinity"
  std::vector<std::int64_t> order = {0, 1, 3, 2};  ///< how the keys are transposed
};

constexpr float kLowest = std::numeric_limits<float>::lowest();

ValueId write_attention(Builder& b, std::vector<ValueId> x, const WrittenAttention& form) {
  const auto scalar = [&](double number) { return b.scalar(ElementType::F32, number); };
  ValueId q = x[0], keys = b.add("Transpose", {x[1]}, attributes({{"perm", form.order}}));
  if (form.scale == "query" || form.scale == "both") q = b.add("Mul", {q, scalar(0.5)});
  if (form.scale == "both") keys = b.add("Mul", {scalar(0.25), keys});
  ValueId scores = b.add("MatMul", {q, keys});
  if (form.scale == "Mul") scores = b.add("Mul", {scalar(0.5), scores});
  if (form.scale == "Div") scores = b.add("Div", {scores, scalar(3)});
  if (form.mask == "Add") scores = b.add("Add", {x[3], scores});
  if (form.mask == "Where") scores = b.add("Where", {x[3], scores, scalar(kLowest)});
  if (form.mask == "infinity")
    scores = b.add("Where", {x[3], scores, scalar(-std::numeric_limits<double>::infinity())});
  return b.add("MatMul", {b.add("Softmax", {scores}), x[2]});
}

std::vector<std::string> left_of(const WrittenAttention& form, const std::vector<Tensor>& inputs) {
  const Graph graph = graph_of(
      inputs, [&](Builder& b, const std::vector<ValueId>& x) { return std::vector{write_attention(b, x, form)}; });
  return operators_of(after_specializing(recognize_attention, graph, inputs));
}

TEST(RecognizeAttention, WhereverTheScaleStands) {
  Rng rng(1);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 8, 4}), random_floats(rng, {2, 3, 7, 4}),
                                      random_floats(rng, {2, 3, 7, 6})};
  for (const char* scale : {"Mul", "Div", "query", "both", "none"})
    EXPECT_THAT(left_of({.scale = scale}, inputs), ElementsAre("FusedAttention"));
}

TEST(RecognizeAttention, HeadsThatStandAfterPositionsAreTransposedOnce) {
  Rng rng(2);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 8, 4}), random_floats(rng, {2, 7, 3, 4}),
                                      random_floats(rng, {2, 3, 7, 6})};
  EXPECT_THAT(left_of({.order = {0, 2, 3, 1}}, inputs), ElementsAre("Transpose", "FusedAttention"));
}

TEST(RecognizeAttention, WithoutAnAxisOfHeads) {
  Rng rng(3);
  const std::vector<Tensor> inputs = {random_floats(rng, {6, 9, 4}), random_floats(rng, {6, 7, 4}),
                                      random_floats(rng, {6, 7, 3}), random_floats(rng, {6, 1, 7})};
  EXPECT_THAT(left_of({.mask = "Add", .order = {0, 2, 1}}, inputs),
              ElementsAre("Reshape", "Reshape", "Reshape", "FusedAttention", "Reshape"));
}

TEST(RecognizeAttention, MasksGiveWhatSoftmaxMakesOfThemEvenIfNoKeyIsSeen) {
  Rng rng(4);
  std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 9, 4}), random_floats(rng, {2, 3, 3, 4}),
                                random_floats(rng, {2, 3, 3, 2})};
  inputs.push_back(floats({2, 1, 1, 3}, {0, kLowest, 0, kLowest, kLowest, kLowest}));
  EXPECT_THAT(left_of({.mask = "Add"}, inputs), ElementsAre("FusedAttention"));
  inputs[3] = Tensor::of<bool>({2, 1, 1, 3}, {true, false, true, false, false, false});
  EXPECT_THAT(left_of({.mask = "Where"}, inputs), ElementsAre("Where", "FusedAttention"));
  inputs[3] = Tensor::of<bool>({2, 1, 1, 3}, {true, false, true, true, false, false});
  EXPECT_THAT(left_of({.mask = "infinity"}, inputs),
              ElementsAre("Transpose", "MatMul", "Mul", "Where", "Softmax", "MatMul"));  // NaN if no key is seen
}

TEST(RecognizeAttention, HeadsThatShareKeysAreNotRepeated) {
  Rng rng(5);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 6, 8, 4}), random_floats(rng, {2, 3, 7, 4}),
                                      random_floats(rng, {2, 3, 7, 4})};
  const Graph graph = graph_of(inputs, [&](Builder& b, std::vector<ValueId> x) {
    for (const std::size_t i : {1, 2}) {
      const ValueId spread = b.add("Unsqueeze", {x[i], b.ints({2})});
      x[i] = b.add("Reshape", {b.add("Expand", {spread, b.ints({2, 3, 2, 7, 4})}), b.ints({2, 6, 7, 4})});
    }
    return std::vector{write_attention(b, x, {})};
  });
  EXPECT_THAT(operators_of(after_specializing(recognize_attention, graph, inputs)), ElementsAre("FusedAttention"));
}

TEST(RecognizeAttention, FewQueriesStay) {
  Rng rng(7);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 7, 4}), random_floats(rng, {2, 3, 7, 4}),
                                      random_floats(rng, {2, 3, 7, 4})};
  EXPECT_THAT(left_of({.scale = "none"}, inputs), ElementsAre("Transpose", "MatMul", "Softmax", "MatMul"));
}

TEST(RecognizeAttention, OtherAxesTypesAndReadersStay) {
  Rng rng(6);
  const std::vector<Tensor> inputs = {random_floats(rng, {2, 3, 8, 4}), random_floats(rng, {2, 3, 7, 4}),
                                      random_floats(rng, {2, 3, 7, 6}), random_floats(rng, {1, 3, 7, 6})};
  const auto left = [&](const std::function<std::vector<ValueId>(Builder&, const std::vector<ValueId>&)>& make) {
    return operators_of(after_specializing(recognize_attention, graph_of(inputs, make), inputs));
  };
  const auto scores = [](Builder& b, const std::vector<ValueId>& x) {
    const ValueId keys = b.add("Transpose", {x[1]}, attributes({{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}}));
    return b.add("MatMul", {x[0], keys});
  };
  EXPECT_THAT(left([&](Builder& b, const std::vector<ValueId>& x) {
                const ValueId weights = b.add("Softmax", {scores(b, x)}, attributes({{"axis", std::int64_t{1}}}));
                return std::vector{b.add("MatMul", {weights, x[2]})};
              }),
              ElementsAre("Transpose", "MatMul", "Softmax", "MatMul"));
  EXPECT_THAT(left([&](Builder& b, const std::vector<ValueId>& x) {
                const ValueId weights = b.add("Softmax", {scores(b, x)});
                return std::vector{b.add("MatMul", {weights, x[2]}), weights};
              }),
              ElementsAre("Transpose", "MatMul", "Softmax", "MatMul"));
  EXPECT_THAT(left([&](Builder& b, const std::vector<ValueId>& x) {  // values that both of the batch share
                return std::vector{b.add("MatMul", {b.add("Softmax", {scores(b, x)}), x[3]})};
              }),
              ElementsAre("Transpose", "MatMul", "Softmax", "MatMul"));

  const std::vector<Tensor> narrow = {random_tensor(rng, ElementType::F16, {1, 1, 8, 2}),
                                      random_tensor(rng, ElementType::F16, {1, 1, 8, 2}),
                                      random_tensor(rng, ElementType::F16, {1, 1, 8, 2})};
  EXPECT_THAT(left_of({.scale = "none"}, narrow), ElementsAre("Transpose", "MatMul", "Softmax", "MatMul"));
}

}  // namespace
}  // namespace hone::graph
