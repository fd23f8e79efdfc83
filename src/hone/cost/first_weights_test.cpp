#include "hone/cost/first_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::cost {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

/// Weights whose heads are told apart by a number.
Weights numbered_heads(const NetworkSpec& spec) {
  Weights weights;
  for (const auto& [name, shape] : weight_shapes(spec)) {
    std::size_t size = 1;
    for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
    weights[name] = {shape, std::vector<float>(size)};
  }
  for (std::size_t h = 0; h < spec.heads(); ++h)
    weights.at("head." + std::to_string(h) + ".0.bias").numbers[0] = static_cast<float>(h + 1);
  return weights;
}

/// Of targets like "16x2": so many lanes and threads.
std::optional<ComputeUnit> unit_of(const std::string& target) {
  ComputeUnit unit;
  if (std::sscanf(target.c_str(), "%dx%d", &unit.lanes, &unit.threads) != 2) return std::nullopt;
  return unit;
}

TEST(FirstWeights, HeadsAreKnownByTheirTargets) {
  NetworkSpec before = make_network_spec("tlp").value(), spec = before;
  before.targets = {"a", "b"};
  spec.targets = {"b", "a"};
  const FirstWeights first = weights_to_begin_with(spec, before, numbered_heads(before), unit_of).value();
  EXPECT_TRUE(check_weights(spec, first.weights));
  EXPECT_EQ(first.weights.at("head.0.0.bias").numbers[0], 2);
  EXPECT_EQ(first.weights.at("head.1.0.bias").numbers[0], 1);
  EXPECT_EQ(first.weights.at("row.0.bias").numbers, numbered_heads(before).at("row.0.bias").numbers);
  EXPECT_TRUE(first.borrowed.empty());
  EXPECT_TRUE(first.left.empty());
}

TEST(FirstWeights, NewTargetsBeginWithTheHeadOfTheNearest) {
  NetworkSpec before = make_network_spec("tlp").value(), spec = before;
  before.targets = {"8x1", "16x1", "16x4"};
  spec.targets = {"16x2", "16x1", "foreign"};
  const FirstWeights first = weights_to_begin_with(spec, before, numbered_heads(before), unit_of).value();
  EXPECT_TRUE(check_weights(spec, first.weights));
  EXPECT_EQ(first.weights.size(), weight_shapes(spec).size());
  EXPECT_EQ(first.weights.at("head.0.0.bias").numbers[0], 3);
  EXPECT_EQ(first.weights.at("head.1.0.bias").numbers[0], 2);
  EXPECT_EQ(first.weights.at("head.2.0.bias").numbers[0], 1) << "nothing is known of it";
  EXPECT_THAT(first.borrowed, ElementsAre(Pair("16x2", "16x4"), Pair("foreign", "8x1")));
  EXPECT_THAT(first.left, ElementsAre("8x1", "16x4"));
}

TEST(FirstWeights, FewerTargetsHaveNoHeadsLeftOver) {
  NetworkSpec before = make_network_spec("tlp").value(), spec = before;
  before.targets = {"a", "b", "c"};
  spec.targets = {"c"};
  const FirstWeights first = weights_to_begin_with(spec, before, numbered_heads(before), unit_of).value();
  EXPECT_EQ(first.weights.size(), weight_shapes(spec).size());
  EXPECT_EQ(first.weights.at("head.0.0.bias").numbers[0], 3);
  EXPECT_THAT(first.left, ElementsAre("a", "b"));
}

TEST(FirstWeights, TargetsThatShareAHeadKeepIt) {
  NetworkSpec before = make_network_spec("tlp2").value(), spec = before;
  before.targets = {"a"};
  spec.targets = {"b", "c"};
  const FirstWeights first = weights_to_begin_with(spec, before, numbered_heads(before), unit_of).value();
  EXPECT_EQ(first.weights.at("head.0.0.bias").numbers[0], 1);
  EXPECT_TRUE(first.borrowed.empty());
}

TEST(FirstWeights, NetworksOfOtherKindsAreRefused) {
  NetworkSpec spec = make_network_spec("tlp").value();
  spec.targets = {"a", "b"};
  const auto problem = [&](const NetworkSpec& before) {
    const Result<FirstWeights> found = weights_to_begin_with(spec, before, numbered_heads(before), unit_of);
    return found ? "" : found.error().message;
  };
  EXPECT_EQ(problem(spec), "");
  NetworkSpec before = spec;
  before.body = "lstm";
  EXPECT_EQ(problem(before), R"(its 'body' is "lstm", expected "attention")");
  before = spec;
  before.layers = {64, 128};
  EXPECT_EQ(problem(before), "its 'layers' is [64,128], expected [64,128,256,256]");
  before = make_network_spec("tlp2").value();
  before.targets = spec.targets;
  EXPECT_THAT(problem(before), HasSubstr("its 'schema' is \"tlp2/"));
  before = spec;
  before.members = 3;
  const Result<FirstWeights> several = weights_to_begin_with(spec, before, {}, unit_of);
  EXPECT_EQ(several.error().message, "it has 3 members, expected the weights of one");
}

TEST(NearestTarget, IsAsWideThenAsParallel) {
  NetworkSpec spec = make_network_spec("tlp").value();
  spec.targets = {"foreign", "4x1", "16x8", "16x1"};
  EXPECT_EQ(nearest_target(spec, "16x8", unit_of), 2U);
  EXPECT_EQ(nearest_target(spec, "16x2", unit_of), 2U);
  EXPECT_EQ(nearest_target(spec, "32x1", unit_of), 1U) << "the first on one thread";
  EXPECT_EQ(nearest_target(spec, "unknown", unit_of), 0U);
}

}  // namespace
}  // namespace hone::cost
