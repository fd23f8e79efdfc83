#include <cmath>

#include "hone/graph/testing.h"

namespace hone::graph::testing {
namespace {

using runtime::Tensor;

struct Moments {
  double mean = 0, deviation = 0, least = INFINITY, largest = -INFINITY;
};

Moments moments_of(const Tensor& tensor) {
  Moments moments;
  const std::vector<double> numbers = *tensor.to_doubles();
  for (const double x : numbers) {
    moments.mean += x / static_cast<double>(numbers.size());
    moments.least = std::min(moments.least, x);
    moments.largest = std::max(moments.largest, x);
  }
  for (const double x : numbers)
    moments.deviation += (x - moments.mean) * (x - moments.mean) / static_cast<double>(numbers.size());
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

using Ints = std::vector<std::int64_t>;

TEST(RandomOperators, NormalNumbersHaveTheirMoments) {
  const auto given = attributes({{"shape", Ints{100, 101}}, {"mean", 3.0F}, {"scale", 2.0F}, {"seed", 1.0F}});
  const Tensor x = apply_one("RandomNormal", {}, given);
  EXPECT_EQ(runtime::describe(x.type(), x.shape()), "float[100, 101]");
  const Moments moments = moments_of(x);
  EXPECT_NEAR(moments.mean, 3, 0.1);
  EXPECT_NEAR(moments.deviation, 2, 0.1);
  EXPECT_LT(moments.least, -2);
  EXPECT_GT(moments.largest, 8);
}

TEST(RandomOperators, UniformNumbersStayInTheirRange) {
  const auto given = attributes({{"dtype", 11}, {"low", -1.0F}, {"high", 3.0F}, {"seed", 7.0F}});
  const Tensor x = apply_one("RandomUniformLike", {iota({40, 50})}, given);
  EXPECT_EQ(runtime::describe(x.type(), x.shape()), "double[40, 50]");
  const Moments moments = moments_of(x);
  EXPECT_NEAR(moments.mean, 1, 0.1);
  EXPECT_GE(moments.least, -1);
  EXPECT_LT(moments.largest, 3);
}

TEST(RandomOperators, ASeedGivesTheSameNumbersEachTimeAndNoneDoesNot) {
  const auto draw = [](const Attributes& given) {
    return *apply_one("RandomNormalLike", {iota({9})}, given).to_doubles();
  };
  EXPECT_EQ(draw(attributes({{"seed", 2.5F}})), draw(attributes({{"seed", 2.5F}})));
  EXPECT_NE(draw(attributes({{"seed", 2.5F}})), draw(attributes({{"seed", 2.0F}})));
  EXPECT_NE(draw({}), draw({}));
}

TEST(RandomOperators, BernoulliFollowsTheProbabilities) {
  expect_tensor(apply_one("Bernoulli", {floats({4}, {0, 1, 0, 1})}), floats({4}, {0, 1, 0, 1}));
  const Tensor x = apply_one("Bernoulli", {floats({1000}, std::vector<float>(1000, 0.25F))},
                             attributes({{"dtype", 7}, {"seed", 3.0F}}));
  EXPECT_EQ(x.type(), ElementType::I64);
  EXPECT_NEAR(moments_of(x).mean, 0.25, 0.05);
}

TEST(RandomOperators, MultinomialFollowsTheProbabilities) {
  const Tensor x = apply_one("Multinomial", {floats({2, 3}, {0, -INFINITY, 0, -INFINITY, 5, -INFINITY})},
                             attributes({{"sample_size", 400}, {"seed", 3.0F}}));
  EXPECT_EQ(runtime::describe(x.type(), x.shape()), "int32[2, 400]");
  const auto drawn = *x.to_ints();
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.begin() + 400, 2)), 200, 50);
  EXPECT_EQ(std::count(drawn.begin(), drawn.begin() + 400, 1), 0);
  EXPECT_EQ(std::count(drawn.begin() + 400, drawn.end(), 1), 400);
}

TEST(RandomOperators, RefuseWhatCannotBeDrawn) {
  EXPECT_EQ(message_of("RandomNormal", {}, attributes({{"shape", Ints{2, -1}}})),
            "RandomNormal: a tensor cannot have extent -1");
  EXPECT_EQ(message_of("RandomNormal", {}, attributes({{"shape", Ints{2}}, {"dtype", 8}})),
            "RandomNormal: strings are not numbers");
  for (const std::int64_t dtype : {std::int64_t{0}, std::int64_t{77}, std::int64_t{257}, std::int64_t{-1}})
    EXPECT_EQ(message_of("RandomUniform", {}, attributes({{"shape", Ints{2}}, {"dtype", dtype}})),
              fmt::format("RandomUniform: dtype is {}, which is no type", dtype));
  EXPECT_EQ(message_of("RandomUniform", {}, attributes({{"shape", Ints{INT64_MAX, 2}}})),
            "RandomUniform: a tensor of shape [9223372036854775807, 2] has too many elements");
  EXPECT_EQ(message_of("RandomUniform", {}, attributes({{"shape", Ints{INT64_MAX}}})),
            "RandomUniform: a tensor float[9223372036854775807] needs more memory than there is");
  EXPECT_EQ(message_of("Multinomial", {floats({3}, {1, 2, 3})}),
            "Multinomial: the input must be [batch, classes] with at least one class, found float[3]");
  EXPECT_EQ(message_of("Multinomial", {floats({1, 1}, {1})}, attributes({{"sample_size", 0}})),
            "Multinomial: sample_size is 0, at least 1 is allowed");
}

}  // namespace
}  // namespace hone::graph::testing
