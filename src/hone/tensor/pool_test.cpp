#include <cmath>
#include <limits>

#include "hone/tensor/definitions.h"
#include "hone/tensor/testing.h"

namespace hone::tensor {
namespace {

using Arrays = std::vector<ir::Array>;

struct PoolCase {
  Shape x;
  PoolOptions options;
};

const std::vector<PoolCase>& pool_cases() {
  static const std::vector<PoolCase> cases = {
      {{1, 2, 7}, {.kernel = {3}}},
      {{2, 1, 5, 7}, {.kernel = {2, 3}, .strides = {2, 2}}},
      {{1, 3, 5, 5}, {.kernel = {3, 3}, .strides = {2, 1}, .padding_before = {1, 1}, .padding_after = {1, 0}}},
      {{1, 1, 9}, {.kernel = {2}, .strides = {5}, .padding_before = {1}, .padding_after = {3}, .dilations = {3}}},
      {{1, 1, 1}, {.kernel = {2}, .padding_before = {1}, .padding_after = {1}, .dilations = {2}}},
      {{1, 2, 3, 4, 2}, {.kernel = {2, 2, 1}}},
      {{0, 2, 4}, {.kernel = {2}}},
      {{1, 1, 1, 1}, {.kernel = {1, 1}}},
  };
  return cases;
}

/// Calls `f` with each element of a window that is not padding.
void for_each_element(const ir::Array& x, const PoolOptions& options, const Index& i, FunctionRef<void(double)> f) {
  for_each_index(options.kernel, [&](const Index& k) {
    Index from = {i[0], i[1]};
    for (std::size_t axis = 0; axis < k.size(); ++axis) {
      from.push_back(i[2 + axis] * entry(options.strides, axis, 1) + k[axis] * entry(options.dilations, axis, 1) -
                     entry(options.padding_before, axis, 0));
      if (from.back() < 0 || from.back() >= x.shape()[2 + axis]) return;
    }
    f(at(x, from));
  });
}

TEST(Pool, MaxIsTheLargestOfEachWindow) {
  for (const PoolCase& c : pool_cases())
    for (const ir::DType type : {ir::kF32, ir::kI8}) {
      const Tensor x = placeholder("X", c.x, type);
      expect_values({x}, max_pool(x, c.options), [&](const Arrays& a, const Index& i) {
        double largest = type.is_float() ? -std::numeric_limits<double>::infinity() : -128;
        for_each_element(a[0], c.options, i, [&](double value) { largest = std::max(largest, value); });
        return largest;
      });
    }
}

TEST(Pool, AverageCountsThePaddingOrNot) {
  for (PoolCase c : pool_cases())
    for (const PadCount pad_count : {PadCount::Included, PadCount::Excluded}) {
      c.options.pad_count = pad_count;
      const Tensor x = placeholder("X", c.x);
      expect_values(
          {x}, average_pool(x, c.options),
          [&](const Arrays& a, const Index& i) {
            double sum = 0, count = 0, all = 1;
            for_each_element(a[0], c.options, i, [&](double value) { sum += value, count += 1; });
            for (const std::int64_t extent : c.options.kernel) all *= static_cast<double>(extent);
            return sum / (pad_count == PadCount::Included ? all : std::max(count, 1.0));
          },
          1e-7);
    }
}

TEST(Pool, OptionsThatDoNotFitAreRefused) {
  const Tensor x = placeholder("X", {1, 1, 5}, ir::kI32);
  EXPECT_EQ(message_of(max_pool(x, {.kernel = {2, 2}})),
            "max pool: a kernel of 2 axes for a tensor of 3, allowed is 1 and more, 2 less than the tensor's");
  EXPECT_EQ(message_of(max_pool(x, {.kernel = {0}})), "max pool: kernel extents [0] contain 0, allowed is 1 and more");
  EXPECT_EQ(message_of(max_pool(x, {.kernel = {6}})),
            "max pool: the kernel spans 6 elements of axis 2, which has 5 with its padding, allowed are 1..5");
  EXPECT_EQ(message_of(average_pool(x, {.kernel = {2}})),
            "average pool: 'X' has type i32, allowed are f16, bf16, f32 and f64");
}

}  // namespace
}  // namespace hone::tensor
