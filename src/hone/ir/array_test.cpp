#include "hone/ir/array.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "hone/ir/value.h"

namespace hone::ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Numbers, EveryF16PatternSurvivesTheWayToDoubleAndBack) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(to_f16_bits(from_f16_bits(pattern)), pattern);
  }
}

TEST(Numbers, EveryBf16PatternSurvivesTheWayToDoubleAndBack) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(to_bf16_bits(from_bf16_bits(pattern)), pattern);
  }
}

TEST(Numbers, KnownHalfAndBrainPatterns) {
  EXPECT_EQ(from_f16_bits(0x3c00), 1.0);
  EXPECT_EQ(from_f16_bits(0xc000), -2.0);
  EXPECT_EQ(from_f16_bits(0x0001), 0x1p-24);
  EXPECT_EQ(from_f16_bits(0x7bff), 65504.0);
  EXPECT_EQ(from_f16_bits(0xfc00), -kInfinity);
  EXPECT_EQ(from_bf16_bits(0x3f80), 1.0);
  EXPECT_EQ(from_bf16_bits(0x0001), 0x1p-133);
  EXPECT_EQ(from_bf16_bits(0x7f80), kInfinity);
  EXPECT_TRUE(std::isnan(from_bf16_bits(0x7f81)));
  EXPECT_TRUE(std::signbit(from_f16_bits(0x8000)));
}

TEST(Numbers, DoublesRoundToTheNearestEvenPattern) {
  EXPECT_EQ(to_f16_bits(1 + 0x1p-11), 0x3c00) << "a tie goes to the even mantissa";
  EXPECT_EQ(to_f16_bits(1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(to_f16_bits(65520), 0x7c00) << "the tie above the largest number is infinity";
  EXPECT_EQ(to_f16_bits(65519), 0x7bff);
  EXPECT_EQ(to_f16_bits(0x1p-14 - 0x1p-26), 0x0400) << "the largest denormal rounds up to a normal number";
  EXPECT_EQ(to_f16_bits(-0.0), 0x8000);
}

TEST(Numbers, FloatsAreCutAndHeldWithinIntegerTypes) {
  const auto to_int = [](double value, DType type) { return convert(of_float(value), kF64, type).i; };
  EXPECT_EQ(to_int(-2.9, kI32), -2);
  EXPECT_EQ(to_int(300, kI8), 127);
  EXPECT_EQ(to_int(-300, kI8), -128);
  EXPECT_EQ(to_int(-0.5, kU8), 0);
  EXPECT_EQ(to_int(-7, kU64), 0);
  EXPECT_EQ(to_int(kInfinity, kI64), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(to_int(0x1p63, kU64), std::numeric_limits<std::int64_t>::min()) << "the bits of 2^63";
  EXPECT_EQ(to_int(1e30, kU64), -1) << "the bits of the largest u64";
  EXPECT_EQ(to_int(std::nan(""), kI16), 0);
  EXPECT_EQ(to_int(0.25, kBool), 1);
  EXPECT_EQ(to_int(127.9, kI8), 127);
}

TEST(Numbers, IntegersWrapAndRoundOnceIntoFloats) {
  EXPECT_EQ(convert(of_int(-1), kI8, kU16).i, 65535);
  EXPECT_EQ(convert(of_int(511), kI32, kI8).i, -1);
  EXPECT_EQ(convert(of_int(-1), kU64, kF64).f, 0x1p64);
  // Just above the middle of two f32 values, by less than a double can show: rounding twice would go down.
  const std::int64_t value = (std::int64_t{1} << 62) + (std::int64_t{1} << 38) + 1;
  EXPECT_EQ(convert(of_int(value), kI64, kF32).f, static_cast<double>(static_cast<float>(value)));
  EXPECT_EQ(convert(of_int(-value), kI64, kF32).f, static_cast<double>(static_cast<float>(-value)));
  EXPECT_EQ(convert(of_int((std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1), kI64, kBF16).f, 0x1p62 + 0x1p55);
}

TEST(Arrays, HoldZerosAlignedAndConvertOnAccess) {
  Array array(kF16, {2, 3});
  EXPECT_EQ(array.size(), 6);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0u);
  EXPECT_EQ(array.float_at(5), 0.0);
  array.set(5, 2049.0);
  EXPECT_EQ(array.float_at(5), 2048.0);
  array.set(4, std::int64_t{-3});
  EXPECT_EQ(array.int_at(4), -3);
  EXPECT_THROW(array.float_at(6), InternalError);
}

TEST(Arrays, CopiesAreIndependent) {
  Array a(kI32, {4});
  Array b = a;
  b.set(0, std::int64_t{7});
  EXPECT_EQ(a.int_at(0), 0);
  a = std::move(b);
  EXPECT_EQ(a.int_at(0), 7);
}

TEST(Arrays, EmptyAndScalarShapes) {
  EXPECT_EQ(Array(kF32, {3, 0, 2}).size(), 0);
  EXPECT_EQ(Array(kF32, {}).size(), 1);
}

TEST(Arrays, RandomWholeNumbersAreSmallAndSeeded) {
  Rng rng(1), again(1);
  const Array a = random_whole(rng, kF32, {100}), b = random_whole(again, kF32, {100});
  EXPECT_EQ(max_difference(a, b), 0);
  for (std::int64_t i = 0; i < a.size(); ++i) EXPECT_LE(std::abs(a.float_at(i)), 4);
  const Array u = random_whole(rng, kU8, {100});
  for (std::int64_t i = 0; i < u.size(); ++i) EXPECT_LE(u.int_at(i), 4);
}

TEST(Arrays, DifferenceIsRelativeAndKnowsSpecialValues) {
  Array a(kF64, {3}), b(kF64, {3});
  a.set(0, 1010.0), b.set(0, 1000.0);
  a.set(1, kInfinity), b.set(1, kInfinity);
  a.set(2, std::nan("")), b.set(2, std::nan(""));
  EXPECT_DOUBLE_EQ(max_difference(a, b), 0.01);
  b.set(2, 0.0);
  EXPECT_EQ(max_difference(a, b), kInfinity);
}

}  // namespace
}  // namespace hone::ir
