#include "hone/runtime/kernels/fourier.h"

#include <gtest/gtest.h>
#include <numbers>

namespace hone::runtime {
namespace {

TEST(Fourier, FastTransformsAgreeWithTheSum) {
  for (const int count : {1, 2, 3, 4, 7, 16, 30, 97, 128}) {
    std::vector<std::complex<double>> x;
    for (int n = 0; n < count; ++n) x.emplace_back(n * n % 11 - 5, n % 4);
    for (const bool is_inverse : {false, true}) {
      const auto fast = fourier(x, is_inverse);
      ASSERT_EQ(fast.size(), x.size());
      for (int k = 0; k < count; ++k) {
        std::complex<double> sum = 0;
        for (int n = 0; n < count; ++n)
          sum += x[static_cast<std::size_t>(n)] *
                 std::polar(1.0, (is_inverse ? 2 : -2) * std::numbers::pi * n * k / count);
        EXPECT_NEAR(std::abs(sum - fast[static_cast<std::size_t>(k)]), 0, 1e-9 * count) << count;
      }
    }
  }
  EXPECT_TRUE(fourier({}, false).empty());
}

}  // namespace
}  // namespace hone::runtime
