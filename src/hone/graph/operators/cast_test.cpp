#include <cmath>
#include <limits>

#include "hone/graph/testing.h"
#include "hone/runtime/small_float.h"
#include "hone/support/rng.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;

constexpr ElementType kNarrow[] = {
    ElementType::F8E4M3FN, ElementType::F8E4M3FNUZ, ElementType::F8E5M2, ElementType::F8E5M2FNUZ,
    ElementType::F8E8M0,   ElementType::F6E2M3,     ElementType::F6E3M2, ElementType::F4E2M1,
};

Attributes to(ElementType type, std::int64_t saturate = 1) {
  return attributes({{"to", static_cast<std::int64_t>(type)}, {"saturate", saturate}});
}

Tensor cast(const Tensor& x, ElementType type, std::int64_t saturate = 1) {
  return apply_one("Cast", {x}, to(type, saturate));
}

int patterns_of(ElementType type) {
  if (type == ElementType::F4E2M1) return 16;
  return type == ElementType::F6E2M3 || type == ElementType::F6E3M2 ? 64 : 256;
}

TEST(Cast, NarrowFloatsBecomeTheNumbersTheyStandFor) {
  for (const ElementType type : kNarrow) {
    std::vector<std::uint8_t> bits;
    std::vector<float> expected;
    for (int i = 0; i < patterns_of(type); ++i) {
      bits.push_back(static_cast<std::uint8_t>(i));
      expected.push_back(runtime::small_float_to_float(type, static_cast<std::uint16_t>(i)));
    }
    expect_tensor(cast(vec(bits).reinterpreted(type), ElementType::F32), vec(expected));
  }
}

/// Numbers of all sizes around what narrow floats hold, ties and specials among them.
std::vector<float> many_numbers() {
  std::vector<float> numbers = {0.f,
                                -0.f,
                                std::nanf(""),
                                -std::nanf(""),
                                std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::max(),
                                std::numeric_limits<float>::denorm_min(),
                                -std::numeric_limits<float>::denorm_min()};
  for (int exponent = -20; exponent < 20; ++exponent)
    for (int sixteenth = 16; sixteenth < 32; ++sixteenth)
      for (const float sign : {1.f, -1.f})
        for (const int step : {-1, 0, 1})
          numbers.push_back(sign * std::ldexp(static_cast<float>(sixteenth * 1024 + step), exponent - 14));
  return numbers;
}

TEST(Cast, NumbersRoundToNarrowFloatsAsTheRuntimeRoundsThem) {
  const std::vector<float> numbers = many_numbers();
  for (const ElementType type : kNarrow) {
    if (type == ElementType::F8E8M0) continue;  // rounds up by default: see below
    for (const auto overflow : {runtime::Overflow::Saturate, runtime::Overflow::Infinity}) {
      const Tensor found = cast(vec(numbers), type, overflow == runtime::Overflow::Saturate ? 1 : 0);
      for (std::size_t i = 0; i < numbers.size(); ++i)
        ASSERT_EQ(found.as<std::uint8_t>()[i], runtime::float_to_small_float(type, numbers[i], overflow))
            << numbers[i] << " to " << runtime::name_of(type);
    }
  }
}

TEST(Cast, DoublesRoundToNarrowFloatsOnce) {
  // just above half way between 1 and 1.125: rounding to f32 first would make it a tie
  const double above_tie = 1.0625 + 1e-12;
  expect_tensor(cast(vec<double>({above_tie, -1e300, 1e-300}), ElementType::F8E4M3FN).reinterpreted(ElementType::U8),
                vec<std::uint8_t>({0x39, 0xfe, 0x00}));
}

TEST(Cast, PowersOfTwoRoundAsTheModeSays) {
  const Tensor x = vec<float>({0, 0.124f, 1.1f, 1.5f, 1.75f, 4, 3e38f, std::nanf(""),
                               std::numeric_limits<float>::infinity(), std::ldexp(1.f, -127), std::ldexp(1.f, -149)});
  const auto bits = [&](const std::string& mode, std::int64_t saturate) {
    Attributes given = to(ElementType::F8E8M0, saturate);
    given.set("round_mode", mode);
    return apply_one("Cast", {x}, given).reinterpreted(ElementType::U8);
  };
  expect_tensor(bits("up", 1), vec<std::uint8_t>({0, 124, 128, 128, 128, 129, 254, 255, 254, 0, 0}));
  expect_tensor(bits("down", 1), vec<std::uint8_t>({0, 123, 127, 127, 127, 129, 254, 255, 254, 0, 0}));
  expect_tensor(bits("nearest", 1), vec<std::uint8_t>({0, 124, 127, 128, 128, 129, 254, 255, 254, 0, 0}));
  expect_tensor(bits("nearest", 0), vec<std::uint8_t>({255, 124, 127, 128, 128, 129, 255, 255, 255, 0, 0}));
  Attributes given = to(ElementType::F8E8M0);
  given.set("round_mode", std::string("sideways"));
  EXPECT_EQ(message_of("Cast", {x}, given),
            "Cast: attribute 'round_mode' is 'sideways', allowed are up, down and nearest");
}

TEST(Cast, IntegersBelowEightBitsKeepTheirLowestBits) {
  const Tensor x = vec<float>({-9, -8, -1, 0, 7, 8, 15, 16});
  expect_tensor(cast(x, ElementType::U4).reinterpreted(ElementType::U8), vec<std::uint8_t>({7, 8, 15, 0, 7, 8, 15, 0}));
  expect_tensor(cast(x, ElementType::I4).reinterpreted(ElementType::I8),
                vec<std::int8_t>({7, -8, -1, 0, 7, -8, -1, 0}));
  expect_tensor(apply_one("Cast", {x}, to(ElementType::I4), 21).reinterpreted(ElementType::I8),
                vec<std::int8_t>({-8, -8, -1, 0, 7, 7, 7, 7}));
  expect_tensor(cast(vec<std::int32_t>({-3, 5}), ElementType::I2).reinterpreted(ElementType::I8),
                vec<std::int8_t>({1, 1}));
  expect_tensor(cast(vec<std::int8_t>({-2, 1}).reinterpreted(ElementType::I2), ElementType::F32), vec<float>({-2, 1}));
}

TEST(Cast, NumbersConvertAsTheSpecificationSays) {
  expect_tensor(cast(vec<std::int16_t>({200}), ElementType::I8), vec<std::int8_t>({-56}));
  expect_tensor(cast(vec<float>({-1.7f, 1.7f}), ElementType::I32), vec<std::int32_t>({-1, 1}));
  expect_tensor(cast(vec<float>({0, -0.f, 0.5f, std::nanf("")}), ElementType::Bool),
                vec<bool>({false, false, true, true}));
  expect_tensor(cast(vec<bool>({true, false}), ElementType::F64), vec<double>({1, 0}));
  expect_tensor(cast(vec<float>({65520, 1e9f}), ElementType::F16), cast(vec<double>({1e9, 1e9}), ElementType::F16));
  EXPECT_EQ(message_of("Cast", {vec<float>({1})}, attributes({{"to", 99}})),
            "Cast: attribute 'to' is 99, allowed are the types 1 to 28");
}

TEST(Cast, CastLikeTakesTheTypeOfItsSecondInput) {
  expect_tensor(apply_one("CastLike", {vec<float>({2.5f}), vec<std::int64_t>({})}), vec<std::int64_t>({2}));
  const Tensor narrow = vec<std::uint8_t>({}).reinterpreted(ElementType::F8E5M2);
  EXPECT_EQ(apply_one("CastLike", {vec<float>({1}), narrow}).type(), ElementType::F8E5M2);
  expect_tensor(apply_one("CastLike", {vec<float>({2.5f}), Tensor::of_strings({0}, {})}),
                Tensor::of_strings({1}, {"2.5"}));
}

TEST(Cast, StringsAreTheShortestTextOfNumbers) {
  const float inf = std::numeric_limits<float>::infinity();
  expect_tensor(
      cast(vec<float>({0.47892547f, 1, -0.f, 1e-5f, 1e16f, 123456.f, std::nanf(""), -inf}), ElementType::String),
      Tensor::of_strings({8}, {"0.47892547", "1.0", "-0.0", "1e-05", "1e+16", "123456.0", "nan", "-inf"}));
  expect_tensor(cast(vec<std::uint16_t>({0x3266, 0x7c00}).reinterpreted(ElementType::F16), ElementType::String),
                Tensor::of_strings({2}, {"0.2", "inf"}));
  expect_tensor(cast(vec<std::int64_t>({-12}), ElementType::String), Tensor::of_strings({1}, {"-12"}));
}

TEST(Cast, StringsAreReadAsNumbers) {
  const Tensor x = Tensor::of_strings({5}, {"3.5", "-1e-5", "+INF", " nan ", "100"});
  const float inf = std::numeric_limits<float>::infinity();
  expect_tensor(cast(x, ElementType::F32), vec<float>({3.5f, -1e-5f, inf, std::nanf(""), 100}));
  expect_tensor(cast(Tensor::of_strings({3}, {"9223372036854775807", "-7", "100.5"}), ElementType::I64),
                vec<std::int64_t>({std::numeric_limits<std::int64_t>::max(), -7, 100}));
  EXPECT_EQ(message_of("Cast", {Tensor::of_strings({1}, {"Hello"})}, to(ElementType::F32)),
            "Cast: 'Hello' is not a number");
  EXPECT_EQ(message_of("Cast", {Tensor::of_strings({1}, {"300"})}, to(ElementType::U8)),
            "Cast: '300' is outside 0 to 255");
}

TEST(BitCast, KeepsTheBits) {
  const auto bit_cast = [](const Tensor& x, ElementType type) {
    return apply_one("BitCast", {x}, attributes({{"to", static_cast<std::int64_t>(type)}}));
  };
  expect_tensor(bit_cast(vec<float>({1, -0.f}), ElementType::U32), vec<std::uint32_t>({0x3f800000u, 0x80000000u}));
  expect_tensor(bit_cast(vec<std::int64_t>({0x3ff0000000000000}), ElementType::F64), vec<double>({1}));
  expect_tensor(bit_cast(vec<std::int8_t>({-1, 7}).reinterpreted(ElementType::I4), ElementType::U4)
                    .reinterpreted(ElementType::U8),
                vec<std::uint8_t>({15, 7}));
  expect_tensor(bit_cast(vec<bool>({true, false}), ElementType::I8), vec<std::int8_t>({1, 0}));
  EXPECT_EQ(message_of("BitCast", {vec<float>({1})}, attributes({{"to", 7}})),
            "BitCast: float has 32 bits, int64 must have as many");
}

}  // namespace
}  // namespace hone::graph
