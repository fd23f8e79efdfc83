#include <cmath>

#include "hone/graph/testing.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;
using Values = std::vector<runtime::Value>;

void expect_first(const Result<std::vector<runtime::Value>>& results, const Tensor& expected, double tolerance = 1e-5) {
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), expected, tolerance);
}

TEST(Microsoft, FusedOperatorsEndInAnActivation) {
  const Attribute relu = std::string("Relu");
  expect_first(
      microsoft("FusedConv",
                {floats({1, 1, 2}, {1, -1}), floats({1, 1, 1}, {2}), floats({1}, {-1}), floats({1, 1, 2}, {0, 5})},
                attributes({{"activation", relu}})),
      floats({1, 1, 2}, {1, 2}));
  expect_first(microsoft("FusedGemm", {floats({1, 2}, {1, 2}), floats({2, 2}, {1, 0, 0, -1})},
                         attributes({{"activation", relu}, {"alpha", 2.0F}})),
               floats({1, 2}, {2, 0}));
  expect_first(microsoft("FusedMatMul", {floats({2, 1}, {1, 2}), floats({3, 2}, {1, 0, 0, 1, 1, 1})},
                         attributes({{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}, {"alpha", 0.5F}})),
               floats({1, 3}, {0.5, 1, 1.5}));
  const auto refused =
      microsoft("FusedConv", {iota({1, 1, 2}), iota({1, 1, 1})}, attributes({{"activation", std::string("Sine")}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "FusedConv: activation 'Sine', known are Relu, Tanh, Sigmoid, LeakyRelu, Clip and HardSigmoid");
}

TEST(Microsoft, SkipNormsGiveTheSumToo) {
  const Tensor ones = floats({2}, {1, 1});
  const auto results =
      microsoft("SkipLayerNormalization",
                {floats({1, 1, 2}, {1, 2}), floats({1, 2}, {0, 1}), ones, floats({2}, {10, 20}), floats({2}, {0, 1})},
                attributes({{"epsilon", 0.0F}}), 4);
  expect_first(results, floats({1, 1, 2}, {9, 21}));
  expect_tensor(*results->at(3).tensor(), floats({1, 1, 2}, {1, 4}));
  expect_first(microsoft("SkipSimplifiedLayerNormalization",
                         {floats({1, 1, 2}, {1, 2}), floats({1, 1, 2}, {2, 2}), ones}, attributes({{"epsilon", 0.0F}})),
               floats({1, 1, 2}, {0.848528F, 1.131371F}));
}

TEST(Microsoft, EmbeddingsAreSummedNormalisedAndCounted) {
  const Tensor ids = Tensor::of<std::int32_t>({1, 2}, {1, 99}), mask = Tensor::of<std::int32_t>({1, 2}, {1, 0});
  const auto results = microsoft("EmbedLayerNormalization",
                                 {ids, runtime::Value(), floats({2, 2}, {0, 0, 1, 3}), floats({2, 2}, {0, 0, 1, 1}),
                                  runtime::Value(), floats({2}, {1, 1}), floats({2}, {0, 0}), mask},
                                 attributes({{"epsilon", 0.0F}}), 3);
  expect_first(results, floats({1, 2, 2}, {-1, 1, -1, 1}));
  expect_tensor(*results->at(1).tensor(), Tensor::of<std::int32_t>({1}, {1}));
  expect_tensor(*results->at(2).tensor(), floats({1, 2, 2}, {1, 3, 2, 4}));
}

TEST(Microsoft, AttentionTakesLengthsAndRawMasks) {
  const Tensor x = floats({1, 3, 1}, {3, 6, 12}), weights = floats({1, 3}, {0, 0, 1});  // values are the input itself
  const auto attend = [&](const runtime::Value& mask) {
    return microsoft("Attention", {x, weights, floats({3}, {0, 0, 0}), mask},
                     attributes({{"num_heads", std::int64_t{1}}}));
  };
  expect_first(attend({}), floats({1, 3, 1}, {7, 7, 7}));
  expect_first(attend(Tensor::of<std::int32_t>({1}, {2})), floats({1, 3, 1}, {4.5, 4.5, 4.5}));
  expect_first(attend(Tensor::of<std::int32_t>({2}, {3, 1})), floats({1, 3, 1}, {9, 9, 9}));
  expect_first(attend(Tensor::of<std::int32_t>({1, 3}, {1, 0, 1})), floats({1, 3, 1}, {7.5, 7.5, 7.5}));
}

TEST(Microsoft, GroupQueryAttentionAppendsBehindWhatIsThere) {
  const Tensor zero = floats({1, 1, 1}, {0});
  const auto results =
      microsoft("GroupQueryAttention",
                {zero, zero, floats({1, 1, 1}, {4}), floats({1, 1, 3, 1}, {0, 0, 0}), floats({1, 1, 3, 1}, {2, 99, 99}),
                 Tensor::of<std::int32_t>({1}, {1}), Tensor::scalar<std::int32_t>(2)},
                attributes({{"num_heads", std::int64_t{1}}, {"kv_num_heads", std::int64_t{1}}}), 3);
  expect_first(results, floats({1, 1, 1}, {3}));  // the mean of what was there and what is new
  expect_tensor(*results->at(2).tensor(), floats({1, 1, 3, 1}, {2, 4, 0}));
}

TEST(Microsoft, SinksOfHeadsTakeAPartOfTheWeights) {
  const Tensor q = floats({1, 1, 2}, {0, 0}), k = floats({1, 1, 1}, {0}), v = floats({1, 1, 1}, {6});
  const auto attended = [&](const runtime::Value& sink, std::int64_t smooth) {
    const runtime::Value none;
    return microsoft(
        "GroupQueryAttention",
        {q, k, v, none, none, Tensor::of<std::int32_t>({1}, {0}), Tensor::scalar<std::int32_t>(1), none, none, none,
         none, sink},
        attributes({{"num_heads", std::int64_t{2}}, {"kv_num_heads", std::int64_t{1}}, {"smooth_softmax", smooth}}));
  };
  expect_first(attended({}, 0), floats({1, 1, 2}, {6, 6}));
  expect_first(attended({}, 1), floats({1, 1, 2}, {3, 3}));
  expect_first(attended(floats({2}, {0, std::log(2.0F)}), 0), floats({1, 1, 2}, {3, 2}));
  expect_first(attended(floats({2}, {-100, 100}), 1), floats({1, 1, 2}, {6, 0}));
}

TEST(Microsoft, WeightsOfFourBitsAreUnpacked) {
  // one column of 16 weights: 0x98 is 8 (which stands for 0), then 9 (for 1), lowest bits first
  std::vector<std::uint8_t> bytes(8, 0x88);
  bytes[0] = 0x98;
  bytes[7] = 0x0F;
  std::vector<float> a(16, 0);
  a[1] = 10;
  a[14] = 1;
  const Attributes sizes = attributes(
      {{"K", std::int64_t{16}}, {"N", std::int64_t{1}}, {"bits", std::int64_t{4}}, {"block_size", std::int64_t{16}}});
  const Tensor b = Tensor::of<std::uint8_t>({1, 1, 8}, bytes), scale = floats({1}, {0.5});
  expect_first(microsoft("MatMulNBits", {floats({1, 16}, a), b, scale}, sizes), floats({1, 1}, {8.5}));
  const Tensor zero = Tensor::of<std::uint8_t>({1}, {0x09});
  expect_first(microsoft("MatMulNBits", {floats({1, 16}, a), b, scale, zero}, sizes), floats({1, 1}, {3}));
}

TEST(Microsoft, IntegerProductsAreScaled) {
  const Tensor a = Tensor::of<std::uint8_t>({1, 2}, {3, 5}), b = Tensor::of<std::int8_t>({2, 2}, {1, 2, 3, 4});
  expect_first(
      microsoft("MatMulIntegerToFloat", {a, b, Tensor::scalar<float>(0.5), floats({2}, {1, 2}),
                                         Tensor::scalar<std::uint8_t>(1), runtime::Value(), floats({2}, {100, 200})}),
      floats({1, 2}, {107, 220}));
  const auto quantised =
      microsoft("QGemm", {a, Tensor::scalar<float>(1), Tensor::scalar<std::uint8_t>(0), b, Tensor::scalar<float>(1),
                          Tensor::scalar<std::int8_t>(0), Tensor::of<std::int32_t>({2}, {0, 1000}),
                          Tensor::scalar<float>(2), Tensor::scalar<std::uint8_t>(7)});
  expect_first(quantised, Tensor::of<std::uint8_t>({1, 2}, {16, 255}));
}

}  // namespace
}  // namespace hone::graph
