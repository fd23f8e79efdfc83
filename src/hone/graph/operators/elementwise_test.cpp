#include <cmath>
#include <limits>

#include "hone/graph/testing.h"

namespace hone::graph {
namespace {

using namespace testing;
using runtime::Tensor;

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

TEST(Elementwise, FloatFunctionsAreThoseOfTheCLibrary) {
  using Function = double (*)(double);
  const std::vector<std::pair<std::string, Function>> functions = {
      {"Exp", std::exp},   {"Sin", std::sin},     {"Cos", std::cos},   {"Tan", std::tan},     {"Asin", std::asin},
      {"Acos", std::acos}, {"Atan", std::atan},   {"Sinh", std::sinh}, {"Cosh", std::cosh},   {"Asinh", std::asinh},
      {"Erf", std::erf},   {"Floor", std::floor}, {"Ceil", std::ceil}, {"Atanh", std::atanh}, {"Abs", std::fabs},
  };
  const std::vector<double> x = {-0.75, -0.5, 0, 0.25, 0.875};
  for (const auto& [name, function] : functions) {
    std::vector<double> expected;
    for (const double element : x) expected.push_back(function(element));
    expect_tensor(apply_one(name, {vec(x)}), vec(expected), 1e-12);
  }
  expect_tensor(apply_one("Log", {vec<double>({0.5, 1})}), vec<double>({std::log(0.5), 0}), 1e-12);
  expect_tensor(apply_one("Acosh", {vec<double>({1, 3})}), vec<double>({0, std::acosh(3.0)}), 1e-12);
  expect_tensor(apply_one("Sqrt", {vec<float>({4, 0})}), vec<float>({2, 0}));
  expect_tensor(apply_one("Reciprocal", {vec<float>({4, -0.5f})}), vec<float>({0.25f, -2}));
  expect_tensor(apply_one("Round", {vec<float>({0.5f, 1.5f, 2.5f, -2.5f, 2.7f})}), vec<float>({0, 2, 2, -2, 3}));
}

TEST(Elementwise, SignKeepsNanAndTakesUnsignedNumbers) {
  expect_tensor(apply_one("Sign", {vec<float>({-3, 0, 7, kNan})}), vec<float>({-1, 0, 1, kNan}));
  expect_tensor(apply_one("Sign", {vec<std::uint8_t>({0, 200})}), vec<std::uint8_t>({0, 1}));
}

TEST(Elementwise, ArithmeticBroadcastsOverScalarsAndEmptyAxes) {
  expect_tensor(apply_one("Add", {floats({2, 1}, {1, 2}), floats({3}, {10, 20, 30})}),
                floats({2, 3}, {11, 21, 31, 12, 22, 32}));
  expect_tensor(apply_one("Mul", {floats({0, 3}, {}), floats({1, 3}, {1, 2, 3})}), floats({0, 3}, {}));
  expect_tensor(apply_one("Sub", {floats({}, {1}), floats({}, {3})}), floats({}, {-2}));
  EXPECT_EQ(message_of("Add", {floats({2}, {1, 2}), floats({3}, {1, 2, 3})}),
            "Add: shapes [2] and [3] do not broadcast");
  EXPECT_EQ(message_of("Add", {floats({1}, {1}), vec<std::int32_t>({1})}),
            "Add (makes 'output~2'): input 1 ('B') has type int32, but another input of type T has float");
}

TEST(Elementwise, OldBroadcastingBeginsAtAnAxis) {
  const Tensor a = floats({2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0}), b = floats({2}, {1, 2});
  const auto at = [&](std::int64_t axis) {
    return apply_one("Add", {a, b}, attributes({{"broadcast", 1}, {"axis", axis}}), 6);
  };
  expect_tensor(at(0), floats({2, 2, 2}, {1, 1, 1, 1, 2, 2, 2, 2}));
  expect_tensor(at(1), floats({2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2}));
  expect_tensor(at(2), floats({2, 2, 2}, {1, 2, 1, 2, 1, 2, 1, 2}));
}

TEST(Elementwise, IntegersWrapAndDivideTowardsZeroAndByZeroWithoutACrash) {
  expect_tensor(apply_one("Add", {vec<std::uint8_t>({250}), vec<std::uint8_t>({10})}), vec<std::uint8_t>({4}));
  expect_tensor(apply_one("Div", {vec<std::int32_t>({-7, 7, 5}), vec<std::int32_t>({2, -2, 0})}),
                vec<std::int32_t>({-3, -3, 0}));
  expect_tensor(
      apply_one("Div", {vec<std::int64_t>({std::numeric_limits<std::int64_t>::min()}), vec<std::int64_t>({-1})}),
      vec<std::int64_t>({std::numeric_limits<std::int64_t>::min()}));
  expect_tensor(apply_one("Mod", {vec<std::int32_t>({-7, 7, 5}), vec<std::int32_t>({3, -3, 0})}),
                vec<std::int32_t>({2, -2, 0}));
  expect_tensor(apply_one("Mod", {vec<std::int32_t>({-7, 7}), vec<std::int32_t>({3, -3})}, attributes({{"fmod", 1}})),
                vec<std::int32_t>({-1, 1}));
}

TEST(Elementwise, ModOfFloatsHasTheSignOfTheDivisorEvenAtZeroAndInfinity) {
  const Tensor a = vec<float>({-4.3f, 5, 0, -1, 1, kInf, 3}), b = vec<float>({2.1f, -3, -2, kInf, kInf, 2, 0});
  const Tensor result = apply_one("Mod", {a, b});
  expect_tensor(result, vec<float>({2.0f, -1, -0.0f, kInf, 1, kNan, kNan}), 1e-6);
  EXPECT_TRUE(std::signbit(result.as<float>()[2]));
  expect_tensor(apply_one("Mod", {a, b}, attributes({{"fmod", 1}})), vec<float>({-0.1f, 2, 0, -1, 1, kNan, kNan}),
                1e-6);
}

TEST(Elementwise, PowMixesTypesAndGivesThatOfTheBase) {
  expect_tensor(apply_one("Pow", {vec<float>({1, 2, 3}), vec<std::int64_t>({4, 5, 6})}), vec<float>({1, 32, 729}));
  expect_tensor(apply_one("Pow", {vec<std::int64_t>({1, 2, 3}), vec<float>({4, 5, 6})}),
                vec<std::int64_t>({1, 32, 729}));
  expect_tensor(apply_one("Pow", {vec<std::int32_t>({-3}), vec<std::uint8_t>({3})}), vec<std::int32_t>({-27}));
  for (const float exponent : {1.f, 2.f, 3.f, -1.f, 0.5f})
    expect_tensor(apply_one("Pow", {vec<float>({1.5f, 4}), floats({}, {exponent})}),
                  vec<float>({std::pow(1.5f, exponent), std::pow(4.f, exponent)}), 1e-6);
  expect_tensor(apply_one("Pow", {floats({}, {3}), floats({1, 1}, {2})}), floats({1, 1}, {9}));
}

TEST(Elementwise, VariadicOperatorsRefuseInputsOfTwoTypes) {
  for (const char* op : {"Max", "Min", "Sum", "Mean", "Concat"})
    EXPECT_TRUE(message_of(op, {vec<float>({1}), vec<std::int32_t>({2})})
                    .ends_with("') has type int32, but another input of type T has float"))
        << op;
}

TEST(Elementwise, VariadicOperatorsRefuseInputsThatAreLeftOut) {
  for (const char* op : {"Max", "Min", "Sum", "Mean", "Concat"})
    EXPECT_TRUE(message_of(op, {vec<float>({1}), runtime::Value(), vec<float>({2})}).ends_with("') is missing")) << op;
  for (const char* op : {"Max", "Min", "Sum", "Mean", "Concat", "Einsum", "SequenceConstruct"})
    EXPECT_TRUE(message_of(op, {}).ends_with("0 inputs, at least 1 needed")) << op;
}

TEST(Elementwise, PowOfIntegersIsExactAndWraps) {
  const auto wide = [](std::vector<std::int64_t> numbers) { return vec<std::int64_t>(std::move(numbers)); };
  // 3^39 has 62 bits, more than a double holds; 3^64 and 5^100 wrap
  expect_tensor(apply_one("Pow", {wide({3, -3, 7, 2, 3, 5, 10, 2}), wide({39, 39, 22, 63, 64, 100, 0, 64})}),
                wide({4052555153018976267, -4052555153018976267, 3909821048582988049, INT64_MIN, 8733086111712066817,
                      -3842938066129721103, 1, 0}));
  expect_tensor(apply_one("Pow", {vec<std::int32_t>({7, -2, 3}), vec<std::int64_t>({11, 31, 21})}),
                vec<std::int32_t>({1977326743, INT32_MIN, 1870418611}));
  expect_tensor(apply_one("Pow", {vec<std::uint8_t>({3, 255}), vec<std::uint8_t>({5, 2})}),
                vec<std::uint8_t>({243, 1}));
  for (const double exponent : {4.0, 5.0, 63.0, 0.0})
    expect_tensor(apply_one("Pow", {wide({3, -2}), vec<double>({exponent}).reshaped({})}),
                  apply_one("Pow", {wide({3, -2}), wide(std::vector<std::int64_t>(2, static_cast<int>(exponent)))}));
  // the inverse is cut
  expect_tensor(apply_one("Pow", {wide({1, -1, -1, 2, 0, -5}), wide({-3, -3, -2, -1, -1, -7})}),
                wide({1, -1, 1, 0, 0, 0}));
}

TEST(Elementwise, VariadicOperatorsTakeOneInputOrMany) {
  const Tensor a = floats({2, 1}, {1, 5}), b = floats({2}, {4, 2}), c = floats({}, {3});
  expect_tensor(apply_one("Max", {a}), a);
  expect_tensor(apply_one("Max", {a, b, c}), floats({2, 2}, {4, 3, 5, 5}));
  expect_tensor(apply_one("Min", {a, b, c}), floats({2, 2}, {1, 1, 3, 2}));
  expect_tensor(apply_one("Sum", {a, b, c}), floats({2, 2}, {8, 6, 12, 10}));
  expect_tensor(apply_one("Mean", {a, b, c}), floats({2, 2}, {8 / 3.f, 2, 4, 10 / 3.f}), 1e-6);
  expect_tensor(apply_one("Max", {vec<float>({kNan}), vec<float>({1})}), vec<float>({kNan}));
}

TEST(Elementwise, BitShiftMovesOutEverythingBeyondTheWidth) {
  const auto shift = [](const std::string& direction) { return attributes({{"direction", direction}}); };
  expect_tensor(apply_one("BitShift", {vec<std::uint8_t>({16, 4, 1}), vec<std::uint8_t>({1, 2, 8})}, shift("RIGHT")),
                vec<std::uint8_t>({8, 1, 0}));
  expect_tensor(apply_one("BitShift", {vec<std::uint8_t>({16, 130}), vec<std::uint8_t>({1, 1})}, shift("LEFT")),
                vec<std::uint8_t>({32, 4}));
  expect_tensor(
      apply_one("BitShift", {vec<std::int32_t>({-8, -8, 8, -8}), vec<std::int32_t>({1, 40, 40, -1})}, shift("RIGHT")),
      vec<std::int32_t>({-4, -1, 0, -1}));
  EXPECT_EQ(message_of("BitShift", {vec<std::uint8_t>({1}), vec<std::uint8_t>({1})}, shift("UP")),
            "BitShift: attribute 'direction' is 'UP', allowed are LEFT and RIGHT");
}

TEST(Elementwise, BitwiseOperatorsActOnAllBits) {
  const Tensor a = vec<std::int16_t>({12, -1}), b = vec<std::int16_t>({10, 5});
  expect_tensor(apply_one("BitwiseAnd", {a, b}), vec<std::int16_t>({8, 5}));
  expect_tensor(apply_one("BitwiseOr", {a, b}), vec<std::int16_t>({14, -1}));
  expect_tensor(apply_one("BitwiseXor", {a, b}), vec<std::int16_t>({6, -6}));
  expect_tensor(apply_one("BitwiseNot", {a}), vec<std::int16_t>({-13, 0}));
}

TEST(Elementwise, ClipHasOptionalBoundsAndTheUpperOneWins) {
  const Tensor x = vec<float>({-2, 0, 2});
  expect_tensor(apply_one("Clip", {x}), x);
  expect_tensor(apply_one("Clip", {x, floats({}, {-1})}), vec<float>({-1, 0, 2}));
  expect_tensor(apply_one("Clip", {x, runtime::Value(), floats({}, {1})}), vec<float>({-2, 0, 1}));
  expect_tensor(apply_one("Clip", {x, floats({}, {2}), floats({}, {1})}), vec<float>({1, 1, 1}));
  expect_tensor(apply_one("Clip", {x}, attributes({{"min", -1.f}, {"max", 1.f}}), 6), vec<float>({-1, 0, 1}));
  EXPECT_EQ(message_of("Clip", {x, vec<float>({1, 2})}), "Clip: input 1 has shape [2], allowed is one element");
}

TEST(Elementwise, IdentityPassesSequencesOn) {
  const auto results = apply("Identity", {runtime::Sequence{vec<float>({1}), vec<float>({2})}});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(results->at(0).describe(), "sequence of 2");
}

TEST(Compare, OrderAndEqualityFollowIeee) {
  const Tensor a = vec<float>({1, 2, 3, kNan}), b = vec<float>({2, 2, 2, kNan});
  expect_tensor(apply_one("Less", {a, b}), vec<bool>({true, false, false, false}));
  expect_tensor(apply_one("LessOrEqual", {a, b}), vec<bool>({true, true, false, false}));
  expect_tensor(apply_one("Greater", {a, b}), vec<bool>({false, false, true, false}));
  expect_tensor(apply_one("GreaterOrEqual", {a, b}), vec<bool>({false, true, true, false}));
  expect_tensor(apply_one("Equal", {a, b}), vec<bool>({false, true, false, false}));
  expect_tensor(apply_one("Less", {vec<std::uint64_t>({~0ull}), vec<std::uint64_t>({1})}), vec<bool>({false}));
}

TEST(Compare, LogicBroadcasts) {
  const Tensor a = Tensor::of<bool>({2, 1}, {false, true}), b = Tensor::of<bool>({2}, {false, true});
  expect_tensor(apply_one("And", {a, b}), Tensor::of<bool>({2, 2}, {false, false, false, true}));
  expect_tensor(apply_one("Or", {a, b}), Tensor::of<bool>({2, 2}, {false, true, true, true}));
  expect_tensor(apply_one("Xor", {a, b}), Tensor::of<bool>({2, 2}, {false, true, true, false}));
  expect_tensor(apply_one("Not", {b}), vec<bool>({true, false}));
}

TEST(Compare, StringsAreEqualByContentAndChosenByWhere) {
  const Tensor a = Tensor::of_strings({2}, {"a", "b"}), b = Tensor::of_strings({2, 1}, {"b", "a"});
  expect_tensor(apply_one("Equal", {a, b}), Tensor::of<bool>({2, 2}, {false, true, true, false}));
  expect_tensor(apply_one("Where", {vec<bool>({true, false}), a, b}), Tensor::of_strings({2, 2}, {"a", "b", "a", "a"}));
}

TEST(Compare, WhereBroadcastsAllThree) {
  expect_tensor(apply_one("Where", {Tensor::of<bool>({2, 1}, {true, false}), floats({3}, {1, 2, 3}), floats({}, {9})}),
                floats({2, 3}, {1, 2, 3, 9, 9, 9}));
}

TEST(Compare, InfinityAndNanAreSeenInNarrowFloatsToo) {
  const Tensor x = vec<float>({kInf, -kInf, kNan, 1});
  expect_tensor(apply_one("IsInf", {x}), vec<bool>({true, true, false, false}));
  expect_tensor(apply_one("IsInf", {x}, attributes({{"detect_negative", 0}})), vec<bool>({true, false, false, false}));
  expect_tensor(apply_one("IsInf", {x}, attributes({{"detect_positive", 0}})), vec<bool>({false, true, false, false}));
  expect_tensor(apply_one("IsInf", {x}, attributes({{"detect_positive", 0}, {"detect_negative", 0}})),
                vec<bool>({false, false, false, false}));
  expect_tensor(apply_one("IsNaN", {x}), vec<bool>({false, false, true, false}));
  const Tensor narrow = vec<std::uint8_t>({0x7c, 0xfc, 0x7f, 0x3c}).reinterpreted(ElementType::F8E5M2);
  expect_tensor(apply_one("IsInf", {narrow}), vec<bool>({true, true, false, false}));
  expect_tensor(apply_one("IsNaN", {narrow}), vec<bool>({false, false, true, false}));
}

}  // namespace
}  // namespace hone::graph
