#include <cmath>

#include "hone/graph/testing.h"

namespace hone::graph::testing {
namespace {

using runtime::Tensor;
using runtime::Value;

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

/// Two trees: x0 <= 1 ? (x1 < 2 ? a : b) : c, and a single leaf d.
Attributes two_trees(const std::string& prefix, const Floats& weights, const Ints& ids) {
  Attributes given = attributes({{"nodes_treeids", Ints{0, 0, 0, 0, 0, 1}},
                                 {"nodes_nodeids", Ints{0, 1, 2, 3, 4, 0}},
                                 {"nodes_featureids", Ints{0, 1, 0, 0, 0, 0}},
                                 {"nodes_modes", Texts{"BRANCH_LEQ", "BRANCH_LT", "LEAF", "LEAF", "LEAF", "LEAF"}},
                                 {"nodes_values", Floats{1, 2, 0, 0, 0, 0}},
                                 {"nodes_truenodeids", Ints{1, 3, 0, 0, 0, 0}},
                                 {"nodes_falsenodeids", Ints{2, 4, 0, 0, 0, 0}},
                                 {"nodes_missing_value_tracks_true", Ints{1, 0, 0, 0, 0, 0}}});
  given.set(prefix + "_treeids", Ints{0, 0, 0, 1});
  given.set(prefix + "_nodeids", Ints{3, 4, 2, 0});
  given.set(prefix + "_ids", ids);
  given.set(prefix + "_weights", weights);
  return given;
}

const Tensor& rows() {
  static const Tensor x = floats({4, 2}, {0, 0, 1, 2, 2, 0, NAN, NAN});
  return x;
}

std::string refused(const std::string& op, const Attributes& given, const Tensor& x = rows()) {
  const auto results = apply(op, {x}, given, 1, 5, "ai.onnx.ml");
  return results ? "no error" : results.error().message;
}

Tensor regressed(const Attributes& given, const Tensor& x = rows()) {
  const auto results = apply("TreeEnsembleRegressor", {x}, given, 1, 3, "ai.onnx.ml");
  EXPECT_TRUE(results) << results.error().message;
  return results ? *results->at(0).tensor() : Tensor();
}

TEST(TreeOperators, RegressorAggregatesTheLeavesOfAllTrees) {
  Attributes given = two_trees("target", {1, 2, 4, 0.5F}, {0, 0, 0, 0});
  given.set("n_targets", std::int64_t{1});
  expect_tensor(regressed(given), floats({4, 1}, {1.5F, 2.5F, 4.5F, 2.5F}));
  given.set("base_values", Floats{10});
  expect_tensor(regressed(given), floats({4, 1}, {11.5F, 12.5F, 14.5F, 12.5F}));
  given.remove("base_values");
  given.set("aggregate_function", std::string("AVERAGE"));
  expect_tensor(regressed(given), floats({4, 1}, {0.75F, 1.25F, 2.25F, 1.25F}));
  given.set("aggregate_function", std::string("MIN"));
  expect_tensor(regressed(given), floats({4, 1}, {0.5F, 0.5F, 0.5F, 0.5F}));
  given.set("aggregate_function", std::string("MAX"));
  expect_tensor(regressed(given), floats({4, 1}, {1, 2, 4, 2}));
  expect_tensor(regressed(given, Tensor::of<std::int64_t>({1, 2}, {1, 1})), floats({1, 1}, {1}));
  expect_tensor(regressed(given, Tensor::of<double>({2}, {1 + 1e-9, 1})), floats({1, 1}, {4}));
  expect_tensor(regressed(given, floats({0, 2}, {})), floats({0, 1}, {}));
  EXPECT_EQ(refused("TreeEnsembleRegressor", given, floats({1, 1}, {1})),
            "TreeEnsembleRegressor: the trees ask for feature 1, the input has 1");
}

TEST(TreeOperators, ClassifierTakesTheBestClass) {
  Attributes given = two_trees("class", {1, 2, 4, 0.5F}, {0, 1, 2, 1});
  given.set("classlabels_strings", Texts{"a", "b", "c"});
  const auto results = apply("TreeEnsembleClassifier", {rows()}, given, 2, 3, "ai.onnx.ml");
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), Tensor::of_strings({4}, {"a", "b", "c", "b"}));
  expect_tensor(*results->at(1).tensor(), floats({4, 3}, {1, 0.5F, 0, 0, 2.5F, 0, 0, 0.5F, 4, 0, 2.5F, 0}));
}

TEST(TreeOperators, ClassifierOfTwoClassesMayKnowOnlyOne) {
  Attributes given = two_trees("class", {0.25F, 0.5F, 0, 0.125F}, {0, 0, 0, 0});
  given.set("classlabels_int64s", Ints{10, 20});
  const auto results = apply("TreeEnsembleClassifier", {rows()}, given, 2, 3, "ai.onnx.ml");
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), testing::ints({10, 20, 10, 20}));
  expect_tensor(*results->at(1).tensor(),
                floats({4, 2}, {0.625F, 0.375F, 0.375F, 0.625F, 0.875F, 0.125F, 0.375F, 0.625F}));
}

TEST(TreeOperators, MalformedTreesAreRefused) {
  Attributes given = two_trees("target", {1, 2, 4, 0.5F}, {0, 0, 0, 0});
  const auto with = [&](const std::string& name, Attribute value) {
    Attributes changed = given;
    changed.set(name, std::move(value));
    return refused("TreeEnsembleRegressor", changed);
  };
  EXPECT_EQ(with("nodes_truenodeids", Ints{1, 9, 0, 0, 0, 0}), "TreeEnsembleRegressor: tree 0 has no node 9");
  EXPECT_EQ(with("nodes_truenodeids", Ints{1, 0, 0, 0, 0, 0}),
            "TreeEnsembleRegressor: a path through a tree comes back to itself");
  EXPECT_EQ(with("nodes_nodeids", Ints{0, 1, 2, 3, 3, 0}), "TreeEnsembleRegressor: node 3 of tree 0 stands twice");
  EXPECT_EQ(with("target_ids", Ints{0, 0, 0, 1}), "TreeEnsembleRegressor: a leaf has target 1, allowed are 0 to 0");
  EXPECT_EQ(with("nodes_featureids", Ints{-1, 1, 0, 0, 0, 0}), "TreeEnsembleRegressor: nodes_featureids holds -1");
  EXPECT_EQ(with("nodes_modes", Texts{"LEAF"}), "TreeEnsembleRegressor: nodes_modes has 1 entries, 6 are needed");
  EXPECT_EQ(with("nodes_modes", Texts{"?", "LEAF", "LEAF", "LEAF", "LEAF", "LEAF"}),
            "TreeEnsembleRegressor: nodes_modes holds '?'");
  EXPECT_EQ(with("n_targets", INT64_MAX),
            "TreeEnsembleRegressor: n_targets is 9223372036854775807, allowed are 1 to 16777216");
}

/// The tree x0 in {1, 3} ? leaf 0 : (x0 > 5 ? leaf 1 : leaf 2).
Attributes membership() {
  return attributes({{"nodes_featureids", Ints{0, 0}},
                     {"nodes_modes", Tensor::of<std::uint8_t>({2}, {6, 3})},
                     {"nodes_splits", floats({2}, {NAN, 5})},
                     {"nodes_truenodeids", Ints{0, 1}},
                     {"nodes_trueleafs", Ints{1, 1}},
                     {"nodes_falsenodeids", Ints{1, 2}},
                     {"nodes_falseleafs", Ints{0, 1}},
                     {"leaf_targetids", Ints{0, 1, 1}},
                     {"leaf_weights", floats({3}, {1, 10, 20})},
                     {"membership_values", floats({3}, {3, 1, NAN})},
                     {"tree_roots", Ints{0}},
                     {"n_targets", 2}});
}

TEST(TreeOperators, EnsembleTestsMembership) {
  const auto results = apply("TreeEnsemble", {floats({5, 1}, {1, 2, 3, 7, NAN})}, membership(), 1, 5, "ai.onnx.ml");
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), floats({5, 2}, {1, 0, 0, 20, 1, 0, 0, 10, 0, 20}));
}

TEST(TreeOperators, MalformedEnsemblesAreRefused) {
  const auto with = [&](const std::string& name, Attribute value) {
    Attributes changed = membership();
    changed.set(name, std::move(value));
    return refused("TreeEnsemble", changed, floats({1, 1}, {1}));
  };
  EXPECT_EQ(with("nodes_falsenodeids", Ints{0, 2}), "TreeEnsemble: a path through a tree comes back to itself");
  EXPECT_EQ(with("nodes_falsenodeids", Ints{1, 3}), "TreeEnsemble: leaf 3 is outside 0..2");
  EXPECT_EQ(with("tree_roots", Ints{2}), "TreeEnsemble: node 2 is outside 0..1");
  EXPECT_EQ(with("membership_values", floats({0}, {})), "TreeEnsemble: membership_values has no set for node 0");
  EXPECT_EQ(with("nodes_modes", Tensor::of<std::uint8_t>({2}, {6, 7})),
            "TreeEnsemble: node 1 has mode 7 and feature 0");
  EXPECT_EQ(with("aggregate_function", 4), "TreeEnsemble: aggregate_function is 4, allowed are 0 to 3");
  EXPECT_EQ(with("n_targets", 1), "TreeEnsemble: a leaf has target 1, allowed are 0 to 0");
}

}  // namespace
}  // namespace hone::graph::testing
