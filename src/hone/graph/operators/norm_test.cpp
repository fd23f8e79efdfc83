#include "hone/graph/testing.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;

TEST(Norm, BatchStatisticsAreGivenOrTakenAndMixed) {
  const Tensor x = floats({2, 1, 2}, {1, 3, 5, 7}), one = floats({1}, {1}), zero = floats({1}, {0});
  const Attributes exact = attributes({{"epsilon", 0.0F}});
  expect_tensor(apply_one("BatchNormalization", {x, one, zero, floats({1}, {3}), floats({1}, {4})}, exact),
                floats({2, 1, 2}, {-1, 0, 1, 2}));
  const auto trained =
      apply("BatchNormalization", {x, one, zero, zero, one},
            attributes({{"epsilon", 0.0F}, {"training_mode", std::int64_t{1}}, {"momentum", 0.5F}}), 3);
  ASSERT_TRUE(trained) << trained.error().message;
  expect_tensor(*trained->at(0).tensor(), floats({2, 1, 2}, {-1.341641F, -0.447214F, 0.447214F, 1.341641F}), 1e-5);
  expect_tensor(*trained->at(1).tensor(), floats({1}, {2}));
  expect_tensor(*trained->at(2).tensor(), floats({1}, {3}));
}

TEST(Norm, LayersGiveMeanAndInverseDeviation) {
  const auto results =
      apply("LayerNormalization", {floats({1, 4}, {1, 3, 5, 7}), floats({4}, {1, 2, 1, 1}), floats({4}, {0, 0, 0, 10})},
            attributes({{"epsilon", 0.0F}}), 3);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({1, 4}, {-1.341641F, -0.894427F, 0.447214F, 11.341641F}), 1e-5);
  expect_tensor(*results->at(1).tensor(), floats({1, 1}, {4}));
  expect_tensor(*results->at(2).tensor(), floats({1, 1}, {0.447214F}), 1e-5);
}

TEST(Norm, GroupsHaveScalesPerChannelAndBeforeOpset21PerGroup) {
  const Tensor x = floats({1, 2, 2}, {1, 3, 5, 7}), zero = floats({2}, {0, 0});
  const Attributes two = attributes({{"num_groups", std::int64_t{2}}, {"epsilon", 0.0F}});
  expect_tensor(apply_one("GroupNormalization", {x, floats({2}, {1, 2}), zero}, two), floats({1, 2, 2}, {-1, 1, -2, 2}),
                1e-5);
  const Attributes one = attributes({{"num_groups", std::int64_t{1}}, {"epsilon", 0.0F}});
  expect_tensor(apply_one("GroupNormalization", {x, floats({1}, {1}), floats({1}, {0})}, one, 18),
                floats({1, 2, 2}, {-1.341641F, -0.447214F, 0.447214F, 1.341641F}), 1e-5);
  EXPECT_EQ(message_of("GroupNormalization", {x, zero, zero}, attributes({{"num_groups", std::int64_t{3}}})),
            "GroupNormalization: num_groups 3, allowed are divisors of the 2 channels");
}

TEST(Norm, RootMeanSquareAndOthers) {
  expect_tensor(
      apply_one("RMSNormalization", {floats({1, 2}, {3, 4}), floats({2}, {1, 2})}, attributes({{"epsilon", 0.0F}})),
      floats({1, 2}, {0.848528F, 2.262742F}), 1e-5);
  expect_tensor(apply_one("LpNormalization", {floats({2, 2}, {3, 4, 0, 0})}), floats({2, 2}, {0.6F, 0.8F, 0, 0}), 1e-6);
  expect_tensor(apply_one("InstanceNormalization", {floats({1, 1, 2}, {1, 3}), floats({1}, {2}), floats({1}, {5})},
                          attributes({{"epsilon", 0.0F}})),
                floats({1, 1, 2}, {3, 7}), 1e-5);
  expect_tensor(apply_one("LRN", {floats({1, 2, 1}, {1, 2})},
                          attributes({{"size", std::int64_t{3}}, {"alpha", 3.0F}, {"beta", 1.0F}})),
                floats({1, 2, 1}, {1.0F / 6, 2.0F / 6}), 1e-5);
}

}  // namespace
}  // namespace hone::graph
