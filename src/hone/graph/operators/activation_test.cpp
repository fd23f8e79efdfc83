#include <cmath>
#include <functional>

#include "hone/graph/testing.h"
#include "hone/runtime/small_float.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;

const std::vector<double> kNumbers = {-100, -3.5, -1, -0.25, 0, 0.25, 1, 3.5, 100};

using Scalar = std::function<double(double)>;

void expect_function(const std::string& op, const Attributes& given, const Scalar& f) {
  std::vector<double> expected;
  for (const double x : kNumbers) expected.push_back(f(x));
  expect_tensor(apply_one(op, {vec(kNumbers)}, given), vec(expected), 1e-7);
}

TEST(Activation, FormulasOfTheSpecificationHold) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const auto gelu = [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); };
  expect_function("Relu", {}, [](double x) { return std::max(x, 0.0); });
  expect_function("Sigmoid", {}, sigmoid);
  expect_function("Tanh", {}, [](double x) { return std::tanh(x); });
  expect_function("Softplus", {}, softplus);
  expect_function("Softsign", {}, [](double x) { return x / (1 + std::fabs(x)); });
  expect_function("Mish", {}, [&](double x) { return x * std::tanh(softplus(x)); });
  expect_function("HardSwish", {}, [](double x) { return x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); });
  expect_function("Gelu", {}, gelu);
  expect_function("Gelu", attributes({{"approximate", std::string("tanh")}}),
                  [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); });
  expect_function("LeakyRelu", attributes({{"alpha", 0.5f}}), [](double x) { return x < 0 ? 0.5 * x : x; });
  expect_function("LeakyRelu", {}, [](double x) { return x < 0 ? 0.01f * x : x; });
  expect_function("Elu", attributes({{"alpha", 2.f}}), [](double x) { return x < 0 ? 2 * std::expm1(x) : x; });
  expect_function("Selu", attributes({{"alpha", 2.f}, {"gamma", 3.f}}),
                  [](double x) { return x > 0 ? 3 * x : 3 * (2 * std::exp(x) - 2); });
  expect_function("Celu", attributes({{"alpha", 2.f}}),
                  [](double x) { return std::max(0.0, x) + std::min(0.0, 2 * (std::exp(x / 2) - 1)); });
  expect_function("HardSigmoid", attributes({{"alpha", 0.5f}, {"beta", 0.25f}}),
                  [](double x) { return std::max(0.0, std::min(1.0, 0.5 * x + 0.25)); });
  expect_function("ThresholdedRelu", attributes({{"alpha", 0.25f}}), [](double x) { return x > 0.25 ? x : 0; });
  expect_function("Swish", attributes({{"alpha", 2.f}}), [&](double x) { return x * sigmoid(2 * x); });
  expect_function("Shrink", attributes({{"lambd", 0.5f}, {"bias", 0.25f}}), [](double x) {
    return x < -0.5 ? x + 0.25 : x > 0.5 ? x - 0.25 : 0;
  });
}

TEST(Activation, NarrowFloatsAreRoundedOnce) {
  for (const ElementType type : {ElementType::F16, ElementType::BF16}) {
    std::vector<std::uint16_t> bits, expected;
    for (const float x : {-2.f, -0.3f, 0.7f, 3.f}) {
      bits.push_back(runtime::float_to_small_float(type, x));
      const double exact = runtime::small_float_to_float(type, bits.back());
      const double result = 0.5 * exact * (1 + std::erf(exact / std::sqrt(2.0)));
      expected.push_back(runtime::float_to_small_float(type, static_cast<float>(result)));
    }
    const Tensor x = Tensor::of<std::uint16_t>({4}, bits).reinterpreted(type);
    expect_tensor(apply_one("Gelu", {x}), Tensor::of<std::uint16_t>({4}, expected).reinterpreted(type));
  }
}

TEST(Activation, PReluBroadcastsTheSlopeButNotTheInput) {
  const Tensor x = floats({2, 3}, {-1, 2, -3, 4, -5, 6});
  expect_tensor(apply_one("PRelu", {x, floats({3}, {1, 2, 3})}), floats({2, 3}, {-1, 2, -9, 4, -10, 6}));
  EXPECT_EQ(message_of("PRelu", {floats({1}, {1}), floats({3}, {1, 2, 3})}),
            "PRelu: the slope has shape [3], which does not broadcast to [1]");
}

TEST(Activation, OldPReluHasASlopePerChannel) {
  const Tensor x = floats({1, 2, 3}, {-1, -1, -1, -1, 2, -1});
  expect_tensor(apply_one("PRelu", {x, floats({2}, {1, 2})}, {}, 6), floats({1, 2, 3}, {-1, -1, -1, -2, 2, -2}));
}

TEST(Activation, SwigluMultipliesGateAndValue) {
  const Tensor gate = vec<double>({-1, 0, 2}), value = vec<double>({3, 4, 5});
  expect_tensor(apply_one("SwiGLU", {gate, value}),
                vec<double>({-3 / (1 + std::exp(1.0)), 0, 10 / (1 + std::exp(-2.0))}), 1e-9);
  EXPECT_EQ(message_of("SwiGLU", {gate, vec<double>({1})}), "SwiGLU: shapes [3] and [1], they must be equal");
}

TEST(Activation, ShrinkTakesIntegers) {
  const Tensor x = Tensor::of<std::int32_t>({4}, {-5, 0, 1, 5});
  expect_tensor(apply_one("Shrink", {x}, attributes({{"lambd", 1.5f}, {"bias", 1.5f}})),
                Tensor::of<std::int32_t>({4}, {-3, 0, 0, 3}));
}

TEST(Activation, MicrosoftGelusTakeABias) {
  const auto run = [](const std::string& op, std::vector<runtime::Value> inputs) {
    const auto results = apply(op, std::move(inputs), {}, 1, 1, "com.microsoft");
    EXPECT_TRUE(results) << results.error().message;
    return *results->at(0).tensor();
  };
  const Tensor x = floats({2, 2}, {0, 1, 2, 3}), bias = floats({2}, {1, -1}), sum = floats({2, 2}, {1, 0, 3, 2});
  expect_tensor(run("BiasGelu", {x, bias}), apply_one("Gelu", {sum}));
  expect_tensor(run("Gelu", {x}), apply_one("Gelu", {x}));
  const Attributes by_tanh = attributes({{"approximate", std::string("tanh")}});
  expect_tensor(run("FastGelu", {x, bias}), apply_one("Gelu", {sum}, by_tanh));
  expect_tensor(run("FastGelu", {x}), apply_one("Gelu", {x}, by_tanh));
  expect_tensor(run("QuickGelu", {x}), apply_one("Swish", {x}, attributes({{"alpha", 1.702f}})));
}

}  // namespace
}  // namespace hone::graph
