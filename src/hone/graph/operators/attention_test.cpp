#include "hone/graph/testing.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;

const Tensor kNothing = floats({1, 1, 3, 1}, {0, 0, 0});  // scores are equal, so weights are too
const Tensor kValues = floats({1, 1, 3, 1}, {3, 6, 12});

TEST(Attention, WeighsAllKeysOrThoseBefore) {
  expect_tensor(apply_one("Attention", {kNothing, kNothing, kValues}), floats({1, 1, 3, 1}, {7, 7, 7}), 1e-5);
  expect_tensor(apply_one("Attention", {kNothing, kNothing, kValues}, attributes({{"is_causal", std::int64_t{1}}})),
                floats({1, 1, 3, 1}, {3, 4.5, 7}), 1e-5);
  expect_tensor(apply_one("Attention", {kNothing, kNothing, kValues},
                          attributes({{"is_causal", std::int64_t{1}}, {"left_window_size", std::int64_t{1}}})),
                floats({1, 1, 3, 1}, {3, 4.5, 9}), 1e-5);
}

TEST(Attention, MasksMayBeShortAndLeaveNothing) {
  const Tensor mask = Tensor::of<bool>({3, 2}, {true, true, false, true, false, false});
  expect_tensor(apply_one("Attention", {kNothing, kNothing, kValues, mask}), floats({1, 1, 3, 1}, {4.5, 6, 0}), 1e-5);
}

TEST(Attention, KeepsKeysAndValuesForTheNextStep) {
  const Tensor past = floats({1, 1, 1, 1}, {0}), one = floats({1, 1, 1}, {0});
  const auto results = apply(
      "Attention", {one, one, floats({1, 1, 1}, {4}), runtime::Value(), past, floats({1, 1, 1, 1}, {2})},
      attributes({{"q_num_heads", std::int64_t{1}}, {"kv_num_heads", std::int64_t{1}}, {"is_causal", std::int64_t{1}}}),
      3);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({1, 1, 1}, {3}));
  expect_tensor(*results->at(2).tensor(), floats({1, 1, 2, 1}, {2, 4}));
}

TEST(Attention, HeadsShareKeysInGroups) {
  const Tensor q = floats({1, 4, 1, 1}, {0, 0, 0, 0}), k = floats({1, 2, 1, 1}, {0, 0});
  expect_tensor(apply_one("Attention", {q, k, floats({1, 2, 1, 1}, {5, 7})}), floats({1, 4, 1, 1}, {5, 5, 7, 7}));
  EXPECT_EQ(message_of("Attention", {floats({1, 3, 1, 1}, {0, 0, 0}), k, k}),
            "Attention: 3 heads with 2 for keys and 2 for values, allowed are multiples of equal counts");
}

TEST(Attention, RotatesPairsByPosition) {
  const Tensor x = floats({1, 1, 2, 2}, {1, 2, 1, 2});                          // two positions
  const Tensor cosine = floats({2, 1}, {1, 0}), sine = floats({2, 1}, {0, 1});  // by nothing, by a quarter turn
  const Tensor positions = Tensor::of<std::int64_t>({1, 2}, {0, 1});
  expect_tensor(apply_one("RotaryEmbedding", {x, cosine, sine, positions}), floats({1, 1, 2, 2}, {1, 2, -2, 1}));
  const Tensor far = Tensor::of<std::int64_t>({1, 2}, {-7, 1000});  // what is outside the cache is brought inside
  expect_tensor(apply_one("RotaryEmbedding", {x, cosine, sine, far}), floats({1, 1, 2, 2}, {1, 2, -2, 1}));
}

TEST(Attention, LinearStateIsASumOfOuterProducts) {
  const auto results =
      apply("LinearAttention", {floats({1, 2, 1}, {1, 2}), floats({1, 2, 1}, {1, 1}), floats({1, 2, 2}, {1, 2, 3, 4})},
            attributes({{"q_num_heads", std::int64_t{1}},
                        {"kv_num_heads", std::int64_t{1}},
                        {"update_rule", std::string("linear")},
                        {"scale", 1.0F}}),
            2);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({1, 2, 2}, {1, 2, 8, 12}));
  expect_tensor(*results->at(1).tensor(), floats({1, 1, 1, 2}, {4, 6}));
}

TEST(Attention, CausalConvolutionRemembersItsInput) {
  const auto results = apply(
      "CausalConvWithState",
      {floats({1, 1, 2}, {1, 2}), floats({1, 1, 3}, {1, 10, 100}), runtime::Value(), floats({1, 1, 2}, {5, 6})}, {}, 2);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({1, 1, 2}, {165, 216}));
  expect_tensor(*results->at(1).tensor(), floats({1, 1, 2}, {1, 2}));
}

}  // namespace
}  // namespace hone::graph
