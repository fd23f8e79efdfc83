#include "hone/runtime/small_float.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace hone::runtime {
namespace {

constexpr ElementType kSigned[] = {
    ElementType::F16,        ElementType::BF16,   ElementType::F8E4M3FN, ElementType::F8E4M3FNUZ, ElementType::F8E5M2,
    ElementType::F8E5M2FNUZ, ElementType::F6E2M3, ElementType::F6E3M2,   ElementType::F4E2M1,
};
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(SmallFloat, EveryPatternSurvivesTheWayToFloatAndBack) {
  for (const ElementType type : kSigned) {
    const std::uint32_t count = 1u << small_float_format(type).width();
    for (std::uint32_t bits = 0; bits < count; ++bits) {
      const float value = small_float_to_float(type, static_cast<std::uint16_t>(bits));
      const std::uint16_t back = float_to_small_float(type, value);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(small_float_to_float(type, back))) << name_of(type) << " " << bits;
      else
        ASSERT_EQ(back, bits) << name_of(type);
    }
  }
  for (std::uint16_t bits = 0; bits < 256; ++bits)
    EXPECT_EQ(float_to_small_float(ElementType::F8E8M0, small_float_to_float(ElementType::F8E8M0, bits)), bits);
}

TEST(SmallFloat, EveryFloatBecomesTheNearestPatternAndTiesBecomeEven) {
  for (const ElementType type : kSigned) {
    const SmallFloatFormat format = small_float_format(type);
    for (std::uint32_t bits = 0; bits < format.largest(); bits += type == ElementType::F16 ? 7 : 1) {
      const float low = small_float_to_float(type, static_cast<std::uint16_t>(bits));
      const float high = small_float_to_float(type, static_cast<std::uint16_t>(bits + 1));
      const auto middle = static_cast<float>((static_cast<double>(low) + static_cast<double>(high)) / 2);
      ASSERT_LT(low, high) << name_of(type) << " " << bits;
      EXPECT_EQ(float_to_small_float(type, middle), bits % 2 == 0 ? bits : bits + 1) << name_of(type) << " " << bits;
      EXPECT_EQ(float_to_small_float(type, std::nextafter(middle, 0.f)), bits) << name_of(type) << " " << bits;
      EXPECT_EQ(float_to_small_float(type, std::nextafter(middle, kInf)), bits + 1) << name_of(type) << " " << bits;
    }
  }
}

struct Fact {
  ElementType type;
  float value;
  std::uint16_t bits;
};

/// What the Python package ml_dtypes makes of these numbers.
TEST(SmallFloat, ConversionsAgreeWithMlDtypes) {
  const std::vector<Fact> facts = {
      {ElementType::F8E4M3FN, 0.3f, 0x2a},
      {ElementType::F8E4M3FN, -0.3f, 0xaa},
      {ElementType::F8E4M3FN, 1.0625f, 0x38},
      {ElementType::F8E4M3FN, 464.0f, 0x7e},
      {ElementType::F8E4M3FN, 465.0f, 0x7f},
      {ElementType::F8E4M3FN, 57344.0f, 0x7f},
      {ElementType::F8E4M3FN, 61440.0f, 0x7f},
      {ElementType::F8E4M3FN, 0.0001f, 0x0},
      {ElementType::F8E4M3FN, -1e-07f, 0x80},
      {ElementType::F8E4M3FN, 0.0009765625f, 0x0},
      {ElementType::F8E4M3FN, 7.25f, 0x4e},
      {ElementType::F8E4M3FN, 28.5f, 0x5e},
      {ElementType::F8E4M3FN, 65504.0f, 0x7f},
      {ElementType::F8E4M3FNUZ, 0.3f, 0x32},
      {ElementType::F8E4M3FNUZ, -0.3f, 0xb2},
      {ElementType::F8E4M3FNUZ, 1.0625f, 0x40},
      {ElementType::F8E4M3FNUZ, 464.0f, 0x80},
      {ElementType::F8E4M3FNUZ, 465.0f, 0x80},
      {ElementType::F8E4M3FNUZ, 57344.0f, 0x80},
      {ElementType::F8E4M3FNUZ, 61440.0f, 0x80},
      {ElementType::F8E4M3FNUZ, 0.0001f, 0x0},
      {ElementType::F8E4M3FNUZ, -1e-07f, 0x0},
      {ElementType::F8E4M3FNUZ, 0.0009765625f, 0x1},
      {ElementType::F8E4M3FNUZ, 7.25f, 0x56},
      {ElementType::F8E4M3FNUZ, 28.5f, 0x66},
      {ElementType::F8E4M3FNUZ, 65504.0f, 0x80},
      {ElementType::F8E5M2, 0.3f, 0x35},
      {ElementType::F8E5M2, -0.3f, 0xb5},
      {ElementType::F8E5M2, 1.0625f, 0x3c},
      {ElementType::F8E5M2, 464.0f, 0x5f},
      {ElementType::F8E5M2, 465.0f, 0x5f},
      {ElementType::F8E5M2, 57344.0f, 0x7b},
      {ElementType::F8E5M2, 61440.0f, 0x7c},
      {ElementType::F8E5M2, 0.0001f, 0x7},
      {ElementType::F8E5M2, -1e-07f, 0x80},
      {ElementType::F8E5M2, 0.0009765625f, 0x14},
      {ElementType::F8E5M2, 7.25f, 0x47},
      {ElementType::F8E5M2, 28.5f, 0x4f},
      {ElementType::F8E5M2, 65504.0f, 0x7c},
      {ElementType::F8E5M2FNUZ, 0.3f, 0x39},
      {ElementType::F8E5M2FNUZ, -0.3f, 0xb9},
      {ElementType::F8E5M2FNUZ, 1.0625f, 0x40},
      {ElementType::F8E5M2FNUZ, 464.0f, 0x63},
      {ElementType::F8E5M2FNUZ, 465.0f, 0x63},
      {ElementType::F8E5M2FNUZ, 57344.0f, 0x7f},
      {ElementType::F8E5M2FNUZ, 61440.0f, 0x80},
      {ElementType::F8E5M2FNUZ, 0.0001f, 0xb},
      {ElementType::F8E5M2FNUZ, -1e-07f, 0x0},
      {ElementType::F8E5M2FNUZ, 0.0009765625f, 0x18},
      {ElementType::F8E5M2FNUZ, 7.25f, 0x4b},
      {ElementType::F8E5M2FNUZ, 28.5f, 0x53},
      {ElementType::F8E5M2FNUZ, 65504.0f, 0x80},
      {ElementType::F6E2M3, 0.3f, 0x2},
      {ElementType::F6E2M3, -0.3f, 0x22},
      {ElementType::F6E2M3, 1.0625f, 0x8},
      {ElementType::F6E2M3, 464.0f, 0x1f},
      {ElementType::F6E2M3, 465.0f, 0x1f},
      {ElementType::F6E2M3, 57344.0f, 0x1f},
      {ElementType::F6E2M3, 61440.0f, 0x1f},
      {ElementType::F6E2M3, 0.0001f, 0x0},
      {ElementType::F6E2M3, -1e-07f, 0x20},
      {ElementType::F6E2M3, 0.0009765625f, 0x0},
      {ElementType::F6E2M3, 7.25f, 0x1e},
      {ElementType::F6E2M3, 28.5f, 0x1f},
      {ElementType::F6E2M3, 65504.0f, 0x1f},
      {ElementType::F6E3M2, 0.3f, 0x5},
      {ElementType::F6E3M2, -0.3f, 0x25},
      {ElementType::F6E3M2, 1.0625f, 0xc},
      {ElementType::F6E3M2, 464.0f, 0x1f},
      {ElementType::F6E3M2, 465.0f, 0x1f},
      {ElementType::F6E3M2, 57344.0f, 0x1f},
      {ElementType::F6E3M2, 61440.0f, 0x1f},
      {ElementType::F6E3M2, 0.0001f, 0x0},
      {ElementType::F6E3M2, -1e-07f, 0x20},
      {ElementType::F6E3M2, 0.0009765625f, 0x0},
      {ElementType::F6E3M2, 7.25f, 0x17},
      {ElementType::F6E3M2, 28.5f, 0x1f},
      {ElementType::F6E3M2, 65504.0f, 0x1f},
      {ElementType::F4E2M1, 0.3f, 0x1},
      {ElementType::F4E2M1, -0.3f, 0x9},
      {ElementType::F4E2M1, 1.0625f, 0x2},
      {ElementType::F4E2M1, 464.0f, 0x7},
      {ElementType::F4E2M1, 465.0f, 0x7},
      {ElementType::F4E2M1, 57344.0f, 0x7},
      {ElementType::F4E2M1, 61440.0f, 0x7},
      {ElementType::F4E2M1, 0.0001f, 0x0},
      {ElementType::F4E2M1, -1e-07f, 0x8},
      {ElementType::F4E2M1, 0.0009765625f, 0x0},
      {ElementType::F4E2M1, 7.25f, 0x7},
      {ElementType::F4E2M1, 28.5f, 0x7},
      {ElementType::F4E2M1, 65504.0f, 0x7},
      {ElementType::BF16, 0.3f, 0x3e9a},
      {ElementType::BF16, -0.3f, 0xbe9a},
      {ElementType::BF16, 1.0625f, 0x3f88},
      {ElementType::BF16, 464.0f, 0x43e8},
      {ElementType::BF16, 465.0f, 0x43e8},
      {ElementType::BF16, 57344.0f, 0x4760},
      {ElementType::BF16, 61440.0f, 0x4770},
      {ElementType::BF16, 0.0001f, 0x38d2},
      {ElementType::BF16, -1e-07f, 0xb3d7},
      {ElementType::BF16, 0.0009765625f, 0x3a80},
      {ElementType::BF16, 7.25f, 0x40e8},
      {ElementType::BF16, 28.5f, 0x41e4},
      {ElementType::BF16, 65504.0f, 0x4780},
      {ElementType::F16, 0.3f, 0x34cd},
      {ElementType::F16, -0.3f, 0xb4cd},
      {ElementType::F16, 1.0625f, 0x3c40},
      {ElementType::F16, 464.0f, 0x5f40},
      {ElementType::F16, 465.0f, 0x5f44},
      {ElementType::F16, 57344.0f, 0x7b00},
      {ElementType::F16, 61440.0f, 0x7b80},
      {ElementType::F16, 0.0001f, 0x68e},
      {ElementType::F16, -1e-07f, 0x8002},
      {ElementType::F16, 0.0009765625f, 0x1400},
      {ElementType::F16, 7.25f, 0x4740},
      {ElementType::F16, 28.5f, 0x4f20},
      {ElementType::F16, 65504.0f, 0x7bff},
  };
  for (const Fact& fact : facts)
    EXPECT_EQ(float_to_small_float(fact.type, fact.value), fact.bits) << name_of(fact.type) << " " << fact.value;
}

TEST(SmallFloat, SaturationTakesTheLargestFiniteNumber) {
  const std::vector<Fact> facts = {
      {ElementType::F8E4M3FN, 448, 0x7e},    {ElementType::F8E4M3FN, 465, 0x7e},
      {ElementType::F8E4M3FN, kInf, 0x7e},   {ElementType::F8E4M3FN, -kInf, 0xfe},
      {ElementType::F8E4M3FNUZ, 1e6f, 0x7f}, {ElementType::F8E4M3FNUZ, -1e6f, 0xff},
      {ElementType::F8E5M2, kInf, 0x7b},     {ElementType::F8E5M2, -1e6f, 0xfb},
      {ElementType::F8E5M2FNUZ, kInf, 0x7f}, {ElementType::F8E8M0, kInf, 254},
  };
  for (const Fact& fact : facts)
    EXPECT_EQ(float_to_small_float(fact.type, fact.value, Overflow::Saturate), fact.bits)
        << name_of(fact.type) << " " << fact.value;
}

}  // namespace
}  // namespace hone::runtime
