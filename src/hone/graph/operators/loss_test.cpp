#include <cmath>

#include "hone/graph/testing.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;

Attributes reduction(const std::string& how) { return attributes({{"reduction", how}}); }

TEST(Loss, NegativeLogLikelihoodPicksTheTargetAndReduces) {
  const Tensor x = floats({2, 3}, {-1, -2, -3, -4, -5, -6});
  const Tensor target = Tensor::of<std::int32_t>({2}, {2, 0}), weight = floats({3}, {1, 1, 3});
  const std::string op = "NegativeLogLikelihoodLoss";
  expect_tensor(apply_one(op, {x, target}, reduction("none")), floats({2}, {3, 4}));
  expect_tensor(apply_one(op, {x, target}, reduction("sum")), floats({}, {7}));
  expect_tensor(apply_one(op, {x, target}), floats({}, {3.5f}));
  expect_tensor(apply_one(op, {x, target, weight}), floats({}, {13 / 4.f}));
  expect_tensor(apply_one(op, {x, target, weight}, attributes({{"ignore_index", 2}})), floats({}, {4}));
}

TEST(Loss, TargetsMayHaveFurtherAxesAndBadOnesDoNotCrash) {
  const Tensor x = floats({1, 2, 2}, {-1, -2, -3, -4});
  expect_tensor(
      apply_one("NegativeLogLikelihoodLoss", {x, Tensor::of<std::int64_t>({1, 2}, {1, 0})}, reduction("none")),
      floats({1, 2}, {3, 2}));
  EXPECT_TRUE(apply("NegativeLogLikelihoodLoss", {x, Tensor::of<std::int64_t>({1, 2}, {-100, 77})}));
  EXPECT_EQ(message_of("NegativeLogLikelihoodLoss", {x, Tensor::of<std::int64_t>({2}, {1, 0})}),
            "NegativeLogLikelihoodLoss: input 1 has shape [2], allowed is [1, 2]");
  EXPECT_EQ(message_of("NegativeLogLikelihoodLoss", {x, Tensor::of<std::int64_t>({1, 2}, {1, 0})}, reduction("max")),
            "NegativeLogLikelihoodLoss: attribute 'reduction' is 'max', allowed are none, sum and mean");
}

TEST(Loss, CrossEntropyIsTheLogLikelihoodOfASoftmax) {
  const std::vector<float> scores = {1, 2, 3, 1000, 0, -1000};
  const Tensor labels = Tensor::of<std::int64_t>({2}, {0, 1});
  const auto results = apply("SoftmaxCrossEntropyLoss", {floats({2, 3}, scores), labels}, reduction("none"), 2);
  ASSERT_TRUE(results) << results.error().message;
  const auto total = static_cast<float>(std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0)));
  const Tensor log_prob = floats({2, 3}, {1 - total, 2 - total, 3 - total, 0, -1000, -2000});
  expect_tensor(*results->at(1).tensor(), log_prob, 1e-6);
  expect_tensor(*results->at(0).tensor(), floats({2}, {total - 1, 1000}), 1e-6);
  expect_tensor(
      apply_one("SoftmaxCrossEntropyLoss", {floats({2, 3}, scores), labels}, attributes({{"ignore_index", 1}})),
      floats({}, {total - 1}), 1e-6);
}

TEST(Training, OptimizersMakeTheStepOfTheSpecification) {
  const Tensor rate = floats({}, {0.1f}), x = floats({2}, {1, 2}), g = floats({2}, {-1, -3}), v = floats({2}, {2, 3});
  const auto step = [&](const std::string& op, std::int64_t t, const Attributes& given,
                        std::vector<runtime::Value> states) {
    std::vector<runtime::Value> inputs = {rate, Tensor::scalar<std::int64_t>(t), x, g};
    inputs.insert(inputs.end(), states.begin(), states.end());
    auto results = apply(op, std::move(inputs), given, 1 + states.size(), 1, "ai.onnx.preview.training");
    EXPECT_TRUE(results) << results.error().message;
    return std::move(*results);
  };
  const auto momentum =
      step("Momentum", 0, attributes({{"alpha", 0.5f}, {"beta", 0.25f}, {"mode", std::string("standard")}}), {v});
  expect_tensor(*momentum[1].tensor(), floats({2}, {0, -1.5f}));
  expect_tensor(*momentum[0].tensor(), floats({2}, {1, 2.15f}), 1e-6);
  const auto nesterov =
      step("Momentum", 1, attributes({{"alpha", 0.5f}, {"beta", 0.25f}, {"mode", std::string("nesterov")}}), {v});
  expect_tensor(*nesterov[1].tensor(), floats({2}, {0.75f, 0.75f}));
  expect_tensor(*nesterov[0].tensor(), floats({2}, {1 - 0.1f * (-1 + 0.375f), 2 - 0.1f * (-3 + 0.375f)}), 1e-6);
  const auto adagrad = step("Adagrad", 1, attributes({{"decay_factor", 1.f}, {"epsilon", 0.5f}}), {v});
  expect_tensor(*adagrad[1].tensor(), floats({2}, {3, 12}));
  expect_tensor(*adagrad[0].tensor(),
                floats({2}, {1 + 0.05f / (std::sqrt(3.f) + 0.5f), 2 + 0.15f / (std::sqrt(12.f) + 0.5f)}), 1e-6);
  const auto adam = step("Adam", 1, attributes({{"alpha", 0.5f}, {"beta", 0.75f}, {"epsilon", 0.5f}}), {v, v});
  expect_tensor(*adam[1].tensor(), floats({2}, {0.5f, 0}));
  expect_tensor(*adam[2].tensor(), floats({2}, {1.75f, 4.5f}));
  expect_tensor(*adam[0].tensor(), floats({2}, {1 - 0.1f * (0.5f / (std::sqrt(1.75f) + 0.5f)), 2}), 1e-6);
}

TEST(Training, DropoutPassesTheInputOnUnlessItTrains) {
  const Tensor x = iota({2, 3}), half = floats({}, {0.5f});
  const auto rest = apply("Dropout", {x, half}, {}, 2);
  ASSERT_TRUE(rest) << rest.error().message;
  expect_tensor(*rest->at(0).tensor(), x);
  expect_tensor(*rest->at(1).tensor(), Tensor::of<bool>({2, 3}, {true, true, true, true, true, true}));
  const auto drops = apply("Dropout", {x, half, Tensor::scalar<bool>(true)}, attributes({{"seed", 0}}), 2);
  ASSERT_TRUE(drops) << drops.error().message;
  // numpy.random.RandomState(0).uniform(size=6) is 0.549, 0.715, 0.603, 0.545, 0.424, 0.646
  expect_tensor(*drops->at(1).tensor(), Tensor::of<bool>({2, 3}, {true, true, true, true, false, true}));
  expect_tensor(*drops->at(0).tensor(), floats({2, 3}, {0, 2, 4, 6, 0, 10}));
  const auto refused = apply("Dropout", {x, floats({}, {1}), Tensor::scalar<bool>(true)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "Dropout: the ratio is 1, allowed are [0, 1)");
}

}  // namespace
}  // namespace hone::graph
