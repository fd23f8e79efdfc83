#include <cmath>

#include "hone/graph/testing.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;

TEST(Quantize, RoundsHalvesToEvenAndSaturates) {
  const Tensor x = vec<float>({0, 2, 3, 1000, -254, -1000, 5, INFINITY, -INFINITY});
  expect_tensor(apply_one("QuantizeLinear", {x, floats({}, {2}), Tensor::scalar<std::uint8_t>(128)}),
                vec<std::uint8_t>({128, 129, 130, 255, 1, 0, 130, 255, 0}));
  expect_tensor(apply_one("QuantizeLinear", {x, floats({}, {2})}), vec<std::uint8_t>({0, 1, 2, 255, 0, 0, 2, 255, 0}));
}

TEST(Quantize, ScalesMayDifferAlongAnAxis) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 10, 20, 30}), scale = vec<float>({1, 2, 4});
  expect_tensor(apply_one("QuantizeLinear", {x, scale, vec<std::int8_t>({0, 1, -1})}),
                Tensor::of<std::int8_t>({2, 3}, {1, 2, 0, 10, 11, 7}));
  expect_tensor(apply_one("QuantizeLinear", {x, vec<float>({1, 10})}, attributes({{"axis", -2}})),
                Tensor::of<std::uint8_t>({2, 3}, {1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(message_of("QuantizeLinear", {x, vec<float>({1, 10})}),
            "QuantizeLinear: input 1 has shape [2], allowed are one element and [3]");
}

TEST(Quantize, BlocksOfAnAxisShareAScaleAndTheLastMayBeShort) {
  const Tensor x = floats({2, 5}, {1, 2, 3, 4, 5, 10, 20, 30, 40, 50});
  const Tensor scale = floats({2, 3}, {1, 2, 5, 10, 10, 50});
  const Attributes blocks = attributes({{"block_size", 2}, {"axis", 1}});
  const Tensor y = apply_one("QuantizeLinear", {x, scale}, blocks);
  expect_tensor(y, Tensor::of<std::uint8_t>({2, 5}, {1, 2, 2, 2, 1, 1, 2, 3, 4, 1}));
  expect_tensor(apply_one("DequantizeLinear", {y, scale}, blocks), floats({2, 5}, {1, 2, 4, 4, 5, 10, 20, 30, 40, 50}));
  EXPECT_EQ(message_of("QuantizeLinear", {x, floats({2, 2}, {1, 2, 3, 4})}, blocks),
            "QuantizeLinear: input 1 has shape [2, 2], allowed is [2, 3] for blocks of 2");
}

TEST(Quantize, OutputDtypeNamesTypesOfAnyWidth) {
  const Tensor x = vec<float>({-100, -2, 0, 1.4f, 100});
  const auto quantize = [&](ElementType type) {
    return apply_one("QuantizeLinear", {x, floats({}, {1})},
                     attributes({{"output_dtype", static_cast<std::int64_t>(type)}}));
  };
  const Tensor four = quantize(ElementType::I4);
  EXPECT_EQ(four.type(), ElementType::I4);
  expect_tensor(four.reinterpreted(ElementType::I8), vec<std::int8_t>({-8, -2, 0, 1, 7}));
  expect_tensor(quantize(ElementType::U2).reinterpreted(ElementType::U8), vec<std::uint8_t>({0, 0, 0, 1, 3}));
  expect_tensor(quantize(ElementType::I16), vec<std::int16_t>({-100, -2, 0, 1, 100}));
  expect_tensor(apply_one("DequantizeLinear", {quantize(ElementType::F8E5M2), floats({}, {2})}),
                vec<float>({-192, -4, 0, 3, 192}));
  expect_tensor(apply_one("DequantizeLinear", {quantize(ElementType::F4E2M1), floats({}, {1})}),
                vec<float>({-6, -2, 0, 1.5f, 6}));
  EXPECT_EQ(message_of("QuantizeLinear", {x, floats({}, {1}), Tensor::scalar<std::uint8_t>(0)},
                       attributes({{"output_dtype", 3}})),
            "QuantizeLinear: output_dtype is int8, but the zero point has uint8");
}

TEST(Quantize, DequantizeSubtractsTheZeroPointExactly) {
  expect_tensor(apply_one("DequantizeLinear",
                          {vec<std::uint8_t>({0, 3, 128, 255}), floats({}, {2}), Tensor::scalar<std::uint8_t>(128)}),
                vec<float>({-256, -250, 0, 254}));
  expect_tensor(apply_one("DequantizeLinear", {vec<std::int32_t>({-7, 16777217}), floats({}, {1})}),
                vec<float>({-7, 16777216}));
  const Tensor half =
      apply_one("DequantizeLinear", {vec<std::int8_t>({3}), floats({}, {0.5f})}, attributes({{"output_dtype", 10}}));
  EXPECT_EQ(half.type(), ElementType::F16);
  EXPECT_EQ(half.as<std::uint16_t>()[0], 0x3e00);
  EXPECT_EQ(message_of("DequantizeLinear", {vec<std::int8_t>({3}), floats({}, {1}), Tensor::scalar<std::uint8_t>(0)}),
            "DequantizeLinear: the zero point has type uint8, allowed is the input's, int8");
}

TEST(Quantize, DynamicQuantizationCoversZeroAndTheExtremes) {
  const auto run = [](const Tensor& x) {
    auto results = apply("DynamicQuantizeLinear", {x}, {}, 3);
    EXPECT_TRUE(results) << results.error().message;
    return std::move(*results);
  };
  // the example of the specification
  const auto results = run(vec<float>({0, 2, -3, -2.5f, 1.34f, 0.5f}));
  expect_tensor(*results[0].tensor(), vec<std::uint8_t>({153, 255, 0, 26, 221, 179}));
  expect_tensor(*results[1].tensor(), floats({}, {0.0196078438f}), 1e-9);
  expect_tensor(*results[2].tensor(), Tensor::scalar<std::uint8_t>(153));
  expect_tensor(*run(vec<float>({0, 0}))[0].tensor(), vec<std::uint8_t>({0, 0}));
}

Tensor one_microsoft(const std::string& op, std::vector<runtime::Value> inputs, const Attributes& given = {}) {
  const auto results = microsoft(op, std::move(inputs), given);
  EXPECT_TRUE(results) << results.error().message;
  return results ? *results->at(0).tensor() : Tensor();
}

TEST(Quantize, MicrosoftArithmeticWorksOnTheNumbersMeant) {
  const Tensor a = vec<std::uint8_t>({0, 100, 255}), b = vec<std::uint8_t>({10, 20, 30});
  const Tensor half = floats({}, {0.5f}), one = floats({}, {1}), two = floats({}, {2});
  const Tensor ten = Tensor::scalar<std::uint8_t>(10), none = Tensor::scalar<std::uint8_t>(0);
  expect_tensor(one_microsoft("QLinearAdd", {a, half, none, b, one, ten, two, ten}),
                vec<std::uint8_t>({10, 40, 84}));  // 0, 60, 147.5
  expect_tensor(one_microsoft("QLinearMul", {a, half, none, b, one, ten, two, ten}),
                vec<std::uint8_t>({10, 255, 255}));  // 0, 500, 2550
  expect_tensor(one_microsoft("QLinearLeakyRelu", {a, one, Tensor::scalar<std::uint8_t>(100), one, none},
                              attributes({{"alpha", 0.5f}})),
                vec<std::uint8_t>({0, 0, 155}));
  expect_tensor(
      one_microsoft("QLinearSigmoid", {a, one, Tensor::scalar<std::uint8_t>(100), floats({}, {1 / 256.f}), none}),
      vec<std::uint8_t>({0, 128, 255}));
}

TEST(Quantize, MicrosoftOperatorsChooseJoinAndAverage) {
  const Tensor one = floats({}, {1}), two = floats({}, {2});
  const Tensor ten = Tensor::scalar<std::int8_t>(10), none = Tensor::scalar<std::int8_t>(0);
  const Tensor x = vec<std::int8_t>({1, 2, -3}), y = vec<std::int8_t>({4, 5, 6});
  expect_tensor(one_microsoft("QLinearWhere", {vec<bool>({true, false, true}), x, two, none, y, one, ten, one, ten}),
                vec<std::int8_t>({12, 5, 4}));
  expect_tensor(one_microsoft("QLinearConcat", {one, none, x, two, none, y, one, ten}, attributes({{"axis", 0}})),
                vec<std::int8_t>({2, 4, -6, -6, -5, -4}));
  const Tensor image = Tensor::of<std::int8_t>({1, 2, 3}, {1, 2, 3, 40, 50, 60});
  expect_tensor(one_microsoft("QLinearGlobalAveragePool", {image, two, none, one, ten}),
                Tensor::of<std::int8_t>({1, 2, 1}, {14, 110}));
  expect_tensor(
      one_microsoft("QLinearGlobalAveragePool", {image, two, none, one, ten}, attributes({{"channels_last", 1}})),
      Tensor::of<std::int8_t>({1, 1, 3}, {51, 62, 73}));
}

TEST(Quantize, AveragesOfPoolsAreExactSoThatHalvesGoToEven) {
  std::vector<std::int8_t> elements, expected;
  for (int i = -60; i < 60; ++i) {
    elements.push_back(static_cast<std::int8_t>(i));
    // of i and i + 1, less the zero point 3: i - 2.5, plus the other zero point
    if (i < 59) expected.push_back(static_cast<std::int8_t>(std::nearbyint(i - 2.5) + 5));
  }
  const Tensor x = Tensor::of<std::int8_t>({1, 1, 120}, elements), scale = Tensor::scalar(0.1F);
  const Tensor before = Tensor::scalar(std::int8_t{3}), after = Tensor::scalar(std::int8_t{5});
  const Attributes window = attributes({{"kernel_shape", std::vector<std::int64_t>{2}}});
  expect_tensor(one_microsoft("QLinearAveragePool", {x, scale, before, scale, after}, window),
                Tensor::of<std::int8_t>({1, 1, 119}, expected));
  const Attributes last = attributes({{"kernel_shape", std::vector<std::int64_t>{2}}, {"channels_last", 1}});
  expect_tensor(one_microsoft("QLinearAveragePool", {x.reshaped({1, 120, 1}), scale, before, scale, after}, last),
                Tensor::of<std::int8_t>({1, 119, 1}, expected));
}

}  // namespace
}  // namespace hone::graph
