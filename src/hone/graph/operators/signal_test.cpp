#include <cmath>
#include <numbers>

#include "hone/graph/testing.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;

TEST(Signal, TransformsAreTheirDefinition) {
  for (const std::int64_t n : {1, 2, 5, 8, 13}) {
    std::vector<float> x;
    for (std::int64_t i = 0; i < 2 * n; ++i) x.push_back(static_cast<float>(i * i % 7) - 3);
    std::vector<float> expected;
    for (std::int64_t k = 0; k < n; ++k) {
      double real = 0, imaginary = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const double angle = -2 * std::numbers::pi * static_cast<double>(i * k) / static_cast<double>(n);
        const double re = x[static_cast<std::size_t>(2 * i)], im = x[static_cast<std::size_t>(2 * i + 1)];
        real += re * std::cos(angle) - im * std::sin(angle);
        imaginary += re * std::sin(angle) + im * std::cos(angle);
      }
      expected.push_back(static_cast<float>(real));
      expected.push_back(static_cast<float>(imaginary));
    }
    const Tensor y = apply_one("DFT", {floats({1, n, 2}, x)});
    expect_tensor(y, floats({1, n, 2}, expected), 1e-4);
    expect_tensor(apply_one("DFT", {y}, attributes({{"inverse", std::int64_t{1}}})), floats({1, n, 2}, x), 1e-4);
  }
}

TEST(Signal, HalfASpectrumGivesRealNumbersBack) {
  const Tensor x = floats({5, 1}, {1, -2, 3, 0, 2}), length = Tensor::scalar<std::int64_t>(5);
  const Attribute one = std::int64_t{1};
  const Tensor half = apply_one("DFT", {x, length, Tensor::scalar<std::int64_t>(0)}, attributes({{"onesided", one}}));
  EXPECT_EQ(half.shape(), (Shape{3, 2}));
  expect_tensor(apply_one("DFT", {half, length, Tensor::scalar<std::int64_t>(0)},
                          attributes({{"onesided", one}, {"inverse", one}})),
                x, 1e-5);
}

TEST(Signal, FramesAreWeighedAndTransformed) {
  const Tensor signal = floats({1, 6, 1}, {1, 2, 3, 4, 5, 6}), step = Tensor::scalar<std::int64_t>(2);
  const Tensor y = apply_one("STFT", {signal, step, floats({2}, {1, 2})});
  expect_tensor(y, floats({1, 3, 2, 2}, {5, 0, -3, 0, 11, 0, -5, 0, 17, 0, -7, 0}), 1e-5);
  EXPECT_EQ(message_of("STFT", {signal, step, floats({7}, {1, 1, 1, 1, 1, 1, 1})}),
            "STFT: frames of 7 every 2 in a signal of 6");
}

TEST(Signal, WindowsArePeriodicOrSymmetric) {
  const Tensor four = Tensor::scalar<std::int64_t>(4), five = Tensor::scalar<std::int32_t>(5);
  expect_tensor(apply_one("HannWindow", {four}), floats({4}, {0, 0.5, 1, 0.5}), 1e-6);
  expect_tensor(apply_one("HannWindow", {five}, attributes({{"periodic", std::int64_t{0}}})),
                floats({5}, {0, 0.5, 1, 0.5, 0}), 1e-6);
  expect_tensor(apply_one("BlackmanWindow", {four}), floats({4}, {0, 0.34F, 1, 0.34F}), 1e-6);
  expect_tensor(apply_one("HammingWindow", {four}), floats({4}, {4.0F / 46, 25.0F / 46, 1, 25.0F / 46}), 1e-6);
}

}  // namespace
}  // namespace hone::graph
