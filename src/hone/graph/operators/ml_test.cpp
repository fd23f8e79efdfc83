#include <cmath>

#include "hone/graph/testing.h"

namespace hone::graph::testing {
namespace {

using runtime::Map;
using runtime::Tensor;
using runtime::Value;

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

Result<std::vector<Value>> apply_ml(const std::string& op, const std::vector<Value>& inputs, const Attributes& given,
                                    std::size_t outputs = 1, std::int64_t version = 5) {
  return apply(op, inputs, given, outputs, version, "ai.onnx.ml");
}

Tensor one_ml(const std::string& op, const std::vector<Value>& inputs, const Attributes& given,
              std::int64_t version = 5) {
  const auto results = apply_ml(op, inputs, given, 1, version);
  EXPECT_TRUE(results) << results.error().message;
  return results && results->at(0).tensor() ? *results->at(0).tensor() : Tensor();
}

std::string refused(const std::string& op, const std::vector<Value>& inputs, const Attributes& given) {
  const auto results = apply_ml(op, inputs, given);
  return results ? "no error" : results.error().message;
}

TEST(MlOperators, FeaturesArePicked) {
  expect_tensor(one_ml("ArrayFeatureExtractor", {floats({2, 3}, {0, 1, 2, 3, 4, 5}), testing::ints({2, 0})}, {}),
                floats({2, 2}, {2, 0, 5, 3}));
  expect_tensor(one_ml("ArrayFeatureExtractor", {strings({2}, {"a", "b"}), testing::ints({1})}, {}),
                strings({1, 1}, {"b"}));
  expect_tensor(one_ml("ArrayFeatureExtractor", {floats({0, 3}, {}), testing::ints({2, 0})}, {}), floats({0, 2}, {}));
  EXPECT_EQ(refused("ArrayFeatureExtractor", {floats({2}, {0, 1}), testing::ints({2})}, {}),
            "ArrayFeatureExtractor: index 2 is outside 0..1");
  EXPECT_EQ(refused("ArrayFeatureExtractor", {floats({3, 0}, {}), testing::ints({0})}, {}),
            "ArrayFeatureExtractor: index 0 is outside 0..-1");
}

TEST(MlOperators, FeaturesAreScaledAndCut) {
  expect_tensor(one_ml("Binarizer", {Tensor::of<std::int32_t>({3}, {-1, 1, 2})}, attributes({{"threshold", 1.5F}})),
                Tensor::of<std::int32_t>({3}, {0, 0, 1}));
  expect_tensor(
      one_ml("Scaler", {floats({2, 2}, {1, 2, 3, 4})}, attributes({{"offset", Floats{1, 2}}, {"scale", Floats{2}}})),
      floats({2, 2}, {0, 0, 4, 4}));
  expect_tensor(one_ml("Scaler", {Tensor::of<std::int64_t>({2}, {1, 2})}, {}), floats({2}, {1, 2}));
  EXPECT_EQ(refused("Scaler", {floats({2}, {1, 2})}, attributes({{"scale", Floats{1, 2, 3}}})),
            "Scaler: scale has 3 entries, allowed are 1 and 2");
  const Tensor x = floats({3, 2}, {-3, 4, 0, 0, -1, -2});
  const auto norm = [&](const char* name) {
    return one_ml("Normalizer", {x}, attributes({{"norm", std::string(name)}}));
  };
  expect_tensor(norm("L2"), floats({3, 2}, {-0.6F, 0.8F, 0, 0, -0.4472136F, -0.8944272F}), 1e-6);
  expect_tensor(norm("L1"), floats({3, 2}, {-3 / 7.0F, 4 / 7.0F, 0, 0, -1 / 3.0F, -2 / 3.0F}), 1e-6);
  expect_tensor(norm("MAX"), floats({3, 2}, {-0.75F, 1, 0, 0, 1, 2}), 1e-6);
  EXPECT_EQ(refused("Normalizer", {x}, attributes({{"norm", std::string("L3")}})),
            "Normalizer: norm is 'L3', allowed are MAX, L1 and L2");
}

TEST(MlOperators, MissingFeaturesAreImputed) {
  expect_tensor(one_ml("Imputer", {floats({2, 2}, {NAN, 1, 2, NAN})},
                       attributes({{"imputed_value_floats", Floats{8, 9}}, {"replaced_value_float", NAN}})),
                floats({2, 2}, {8, 1, 2, 9}));
  expect_tensor(
      one_ml("Imputer", {Tensor::of<std::int64_t>({3}, {0, 5, 0})}, attributes({{"imputed_value_int64s", Ints{7}}})),
      Tensor::of<std::int64_t>({3}, {7, 5, 7}));
  EXPECT_EQ(refused("Imputer", {floats({2}, {1, 2})}, {}), "Imputer: 0 imputed values for 2 features");
}

TEST(MlOperators, FeaturesStandBesideEachOther) {
  expect_tensor(one_ml("FeatureVectorizer", {floats({2, 2}, {1, 2, 3, 4}), Tensor::of<std::int64_t>({2, 1}, {5, 6})},
                       attributes({{"inputdimensions", Ints{3, 1}}})),
                floats({2, 4}, {1, 2, 0, 5, 3, 4, 0, 6}));
  EXPECT_EQ(refused("FeatureVectorizer", {floats({2, 2}, {1, 2, 3, 4}), floats({1, 1}, {1})},
                    attributes({{"inputdimensions", Ints{3, 1}}})),
            "FeatureVectorizer: input 1 has 1 rows, input 0 has 2");
  EXPECT_EQ(refused("FeatureVectorizer", {floats({1, 1}, {1})}, attributes({{"inputdimensions", Ints{INT64_MAX}}})),
            "FeatureVectorizer: a tensor float[1, 9223372036854775807] needs more memory than there is");
}

TEST(MlOperators, LabelsAreEncoded) {
  expect_tensor(one_ml("LabelEncoder", {strings({3}, {"a", "b", "c"})},
                       attributes({{"keys_strings", Texts{"a", "b"}}, {"values_int64s", Ints{7, 8}}})),
                testing::ints({7, 8, -1}));
  expect_tensor(one_ml("LabelEncoder", {floats({3}, {NAN, 0.5F, 2})},
                       attributes({{"keys_floats", Floats{0.5F, NAN}},
                                   {"values_strings", Texts{"half", "none"}},
                                   {"default_string", std::string("?")}})),
                strings({3}, {"none", "half", "?"}));
  expect_tensor(one_ml("LabelEncoder", {Tensor::of<std::int64_t>({2}, {1, 9})},
                       attributes({{"keys_int64s", Ints{1}}, {"values_floats", Floats{0.25F}}})),
                floats({2}, {0.25F, -0.0F}));
  expect_tensor(one_ml("LabelEncoder", {Tensor::of<double>({2}, {1.5, 9})},
                       attributes({{"keys_tensor", Tensor::of<double>({1}, {1.5})},
                                   {"values_tensor", Tensor::of<std::int16_t>({1}, {4})},
                                   {"default_tensor", Tensor::of<std::int16_t>({1}, {42})}})),
                Tensor::of<std::int16_t>({2}, {4, 42}));
  EXPECT_EQ(refused("LabelEncoder", {strings({1}, {"a"})},
                    attributes({{"keys_int64s", Ints{1, 2}}, {"values_int64s", Ints{1}}})),
            "LabelEncoder: 2 keys for 1 values");
  EXPECT_EQ(refused("LabelEncoder", {strings({1}, {"a"})},
                    attributes({{"keys_int64s", Ints{1}}, {"values_int64s", Ints{1}}})),
            "LabelEncoder: the input holds string, the keys are int64");
}

TEST(MlOperators, LabelsOfVersion1AndCategoriesGoBothWays) {
  const Attributes classes = attributes({{"classes_strings", Texts{"x", "y"}}});
  expect_tensor(one_ml("LabelEncoder", {strings({2}, {"y", "q"})}, classes, 1), testing::ints({1, -1}));
  expect_tensor(one_ml("LabelEncoder", {testing::ints({0, 5})}, classes, 1), strings({2}, {"x", "_Unused"}));
  const Attributes categories = attributes({{"cats_strings", Texts{"x", "y"}}, {"cats_int64s", Ints{10, 20}}});
  expect_tensor(one_ml("CategoryMapper", {strings({2}, {"y", "q"})}, categories), testing::ints({20, -1}));
  expect_tensor(one_ml("CategoryMapper", {testing::ints({10, 5})}, categories), strings({2}, {"x", "_Unused"}));
}

TEST(MlOperators, CategoriesBecomeOneHot) {
  const Attributes known = attributes({{"cats_int64s", Ints{1, 5}}});
  expect_tensor(one_ml("OneHotEncoder", {testing::ints({5, 2})}, known), floats({2, 2}, {0, 1, 0, 0}));
  expect_tensor(one_ml("OneHotEncoder", {floats({2}, {1.5F, INFINITY})}, known), floats({2, 2}, {1, 0, 0, 0}));
  expect_tensor(one_ml("OneHotEncoder", {strings({1, 1}, {"b"})}, attributes({{"cats_strings", Texts{"a", "b"}}})),
                floats({1, 1, 2}, {0, 1}));
  EXPECT_EQ(refused("OneHotEncoder", {testing::ints({2})}, attributes({{"cats_int64s", Ints{1}}, {"zeros", 0}})),
            "OneHotEncoder: element 0 is none of the 1 categories");
}

TEST(MlOperators, LinearModels) {
  const Tensor x = floats({2, 2}, {1, 2, -1, -2});
  Attributes given = attributes({{"coefficients", Floats{1, 0.5F, -1, 2}}, {"intercepts", Floats{0.25F, 0}}});
  given.set("targets", std::int64_t{2});
  expect_tensor(one_ml("LinearRegressor", {x}, given), floats({2, 2}, {2.25F, 3, -1.75F, -3}));
  given.remove("targets");
  given.set("classlabels_strings", Texts{"a", "b"});
  auto results = apply_ml("LinearClassifier", {x}, given, 2);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), strings({2}, {"b", "a"}));
  expect_tensor(*results->at(1).tensor(), floats({2, 2}, {2.25F, 3, -1.75F, -3}));
  given = attributes({{"coefficients", Floats{1, 0.5F}},
                      {"intercepts", Floats{0}},
                      {"classlabels_ints", Ints{3, 4}},
                      {"post_transform", std::string("LOGISTIC")}});
  results = apply_ml("LinearClassifier", {x}, given, 2);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), testing::ints({4, 3}));
  expect_tensor(*results->at(1).tensor(), floats({2, 2}, {0.11920292F, 0.880797F, 0.880797F, 0.11920292F}), 1e-6);
  given.set("coefficients", Floats{1});
  EXPECT_EQ(refused("LinearClassifier", {x}, given), "LinearClassifier: 1 coefficients for 1 scores of 2 features");
  EXPECT_EQ(refused("LinearRegressor", {x}, attributes({{"targets", INT64_MAX}})),
            "LinearRegressor: 0 coefficients for 9223372036854775807 scores of 2 features");
}

TEST(MlOperators, SupportVectors) {
  const Tensor x = floats({2, 1}, {0, 1});
  Attributes given = attributes({{"coefficients", Floats{1, -1}},
                                 {"kernel_type", std::string("RBF")},
                                 {"kernel_params", Floats{1, 0, 3}},
                                 {"n_supports", 2},
                                 {"rho", Floats{0.5F}},
                                 {"support_vectors", Floats{0, 1}}});
  const float e = std::exp(-1.0F);
  expect_tensor(one_ml("SVMRegressor", {x}, given), floats({2, 1}, {1.5F - e, e - 0.5F}), 1e-6);
  given.remove("n_supports");
  given.set("vectors_per_class", Ints{1, 1});
  given.set("classlabels_ints", Ints{5, 6});
  const auto results = apply_ml("SVMClassifier", {x}, given, 2);
  ASSERT_TRUE(results) << results.error().message;
  expect_tensor(*results->at(0).tensor(), testing::ints({5, 6}));
  given.set("support_vectors", Floats{0});
  EXPECT_EQ(refused("SVMClassifier", {x}, given),
            "SVMClassifier: 1 numbers in support_vectors for 2 vectors of 1 features");
  given.set("vectors_per_class", Ints{1, -1});
  EXPECT_EQ(refused("SVMClassifier", {x}, given), "SVMClassifier: vectors_per_class holds -1");
}

TEST(MlOperators, MapsBecomeTensorsAndBack) {
  const Value map = Map{Ints{1, 3}, {Tensor::scalar(0.5F), Tensor::scalar(1.5F)}};
  expect_tensor(one_ml("CastMap", {map}, {}), floats({1, 2}, {0.5F, 1.5F}));
  expect_tensor(one_ml("CastMap", {map}, attributes({{"map_form", std::string("SPARSE")}, {"max_map", 4}})),
                floats({1, 4}, {0, 0.5F, 0, 1.5F}));
  expect_tensor(one_ml("CastMap", {map}, attributes({{"cast_to", std::string("TO_INT64")}})),
                Tensor::of<std::int64_t>({1, 2}, {0, 1}));
  EXPECT_EQ(refused("CastMap", {map}, attributes({{"map_form", std::string("SPARSE")}, {"max_map", 3}})),
            "CastMap: key 3 is outside 0..2");
  expect_tensor(one_ml("DictVectorizer", {map}, attributes({{"int64_vocabulary", Ints{3, 2, 1}}})),
                floats({1, 3}, {1.5F, 0, 0.5F}));
  const auto zipped =
      apply_ml("ZipMap", {floats({2, 2}, {1, 2, 3, 4})}, attributes({{"classlabels_strings", Texts{"b", "a"}}}));
  ASSERT_TRUE(zipped) << zipped.error().message;
  ASSERT_EQ(zipped->at(0).sequence()->size(), 2u);
  const Map& second = *zipped->at(0).sequence()->at(1).map();
  EXPECT_EQ(std::get<Texts>(second.keys), (Texts{"a", "b"}));
  expect_tensor(*second.values[0].tensor(), Tensor::scalar(4.0F));
  EXPECT_EQ(refused("ZipMap", {floats({1, 2}, {1, 2})}, attributes({{"classlabels_int64s", Ints{1}}})),
            "ZipMap: 1 class labels for 2 columns");
}

}  // namespace
}  // namespace hone::graph::testing
