#include "hone/graph/testing.h"

namespace hone::graph::testing {
namespace {

using runtime::Tensor;

using Ints = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

TEST(TextOperators, StringConcatBroadcasts) {
  expect_tensor(apply_one("StringConcat", {strings({2}, {"abc", "def"}), strings({2}, {".com", ".net"})}),
                strings({2}, {"abc.com", "def.net"}));
  expect_tensor(apply_one("StringConcat", {strings({2, 1}, {"a", "b"}), strings({3}, {"x", "", "z"})}),
                strings({2, 3}, {"ax", "a", "az", "bx", "b", "bz"}));
  expect_tensor(apply_one("StringConcat", {strings({0}, {}), strings({1}, {"x"})}), strings({0}, {}));
  EXPECT_EQ(message_of("StringConcat", {strings({2}, {"a", "b"}), strings({3}, {"x", "y", "z"})}),
            "StringConcat: shapes [2] and [3] do not broadcast");
}

TEST(TextOperators, StringSplitPadsAndCounts) {
  const auto split = [](const Tensor& x, const Attributes& given, const Tensor& pieces, const Tensor& counts) {
    const auto results = apply("StringSplit", {x}, given, 2);
    ASSERT_TRUE(results) << results.error().message;
    expect_tensor(*results->at(0).tensor(), pieces);
    expect_tensor(*results->at(1).tensor(), counts);
  };
  split(strings({2}, {"abc.com", "abc.net.org"}), attributes({{"delimiter", std::string(".")}}),
        strings({2, 3}, {"abc", "com", "", "abc", "net", "org"}), testing::ints({2, 3}));
  split(strings({2}, {"hello world", " a  b c "}), {}, strings({2, 3}, {"hello", "world", "", "a", "b", "c"}),
        testing::ints({2, 3}));
  split(strings({2}, {"o-n-n--x-", "o-n----nx"}), attributes({{"delimiter", std::string("-")}, {"maxsplit", 2}}),
        strings({2, 3}, {"o", "n", "n--x-", "o", "n", "---nx"}), testing::ints({3, 3}));
  split(strings({1}, {" a b  c "}), attributes({{"maxsplit", 1}}), strings({1, 2}, {"a", "b  c"}), testing::ints({2}));
  split(strings({2}, {"", "a"}), attributes({{"delimiter", std::string(",")}}), strings({2, 1}, {"", "a"}),
        testing::ints({1, 1}));
  split(strings({2}, {"", "  "}), {}, strings({2, 0}, {}), testing::ints({0, 0}));
  split(strings({0}, {}), {}, strings({0, 0}, {}), testing::ints({}));
  split(strings({1}, {"a,b"}), attributes({{"delimiter", std::string(",")}, {"maxsplit", 0}}), strings({1, 1}, {"a,b"}),
        testing::ints({1}));
}

TEST(TextOperators, StringNormalizerDropsWordsAndChangesCase) {
  const Tensor days = strings({4}, {"monday", "tuesday", "Monday", "ÄRGER"});
  const auto normalize = [&](const Tensor& x, std::int64_t is_sensitive, const std::string& action,
                             const Texts& stops) {
    return apply_one(
        "StringNormalizer", {x},
        attributes({{"is_case_sensitive", is_sensitive}, {"case_change_action", action}, {"stopwords", stops}}));
  };
  expect_tensor(normalize(days, 1, "NONE", {"monday"}), strings({3}, {"tuesday", "Monday", "ÄRGER"}));
  expect_tensor(normalize(days, 0, "NONE", {"MONDAY"}), strings({2}, {"tuesday", "ÄRGER"}));
  expect_tensor(normalize(days, 1, "LOWER", {}), strings({4}, {"monday", "tuesday", "monday", "ärger"}));
  expect_tensor(normalize(days, 0, "UPPER", {"tuesday"}), strings({3}, {"MONDAY", "MONDAY", "ÄRGER"}));
  expect_tensor(normalize(strings({1, 2}, {"a", "A"}), 0, "NONE", {"a"}), strings({1, 1}, {""}));
  expect_tensor(normalize(strings({0}, {}), 0, "NONE", {}), strings({1}, {""}));
  EXPECT_EQ(message_of("StringNormalizer", {strings({2, 1}, {"a", "b"})}),
            "StringNormalizer: the input must be [count] or [1, count], found string[2, 1]");
  EXPECT_EQ(message_of("StringNormalizer", {days}, attributes({{"case_change_action", std::string("low")}})),
            "StringNormalizer: case_change_action is 'low', allowed are LOWER, UPPER and NONE");
}

TEST(TextOperators, RegexFullMatchTakesEachString) {
  expect_tensor(apply_one("RegexFullMatch", {strings({3, 1}, {"www.google.com", "www.facebook.com", "www.bbc.co.uk"})},
                          attributes({{"pattern", std::string(R"(www\.[\w.-]+\.com)")}})),
                Tensor::of<bool>({3, 1}, {true, true, false}));
  EXPECT_EQ(message_of("RegexFullMatch", {strings({1}, {"a"})}, attributes({{"pattern", std::string("(")}})),
            "RegexFullMatch: pattern '(', byte 1: a '(' without its ')'");
}

Attributes grams(const std::string& mode, std::int64_t shortest, std::int64_t longest, std::int64_t skips) {
  return attributes({{"mode", mode},
                     {"min_gram_length", shortest},
                     {"max_gram_length", longest},
                     {"max_skip_count", skips},
                     {"ngram_counts", Ints{0, 4}},
                     {"ngram_indexes", Ints{0, 1, 2, 3, 4, 5, 6}},
                     {"pool_int64s", Ints{2, 3, 5, 4, 5, 6, 7, 8, 6, 7}}});
}

TEST(TextOperators, TfIdfCountsGrams) {
  const Tensor row = Tensor::of<std::int32_t>({12}, {1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8});
  expect_tensor(apply_one("TfIdfVectorizer", {row}, grams("TF", 2, 2, 0)), floats({7}, {0, 0, 0, 0, 1, 1, 1}));
  expect_tensor(apply_one("TfIdfVectorizer", {row}, grams("TF", 2, 2, 5)), floats({7}, {0, 0, 0, 0, 1, 3, 1}));
  expect_tensor(apply_one("TfIdfVectorizer", {row}, grams("TF", 1, 2, 5)), floats({7}, {0, 3, 1, 0, 1, 3, 1}));
  const Tensor rows = Tensor::of<std::int32_t>({2, 6}, {1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8});
  expect_tensor(apply_one("TfIdfVectorizer", {rows}, grams("TF", 2, 2, INT64_MAX)),
                floats({2, 7}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}));
  Attributes weighted = grams("TFIDF", 1, 2, 5);
  weighted.set("weights", std::vector<float>{1, 2, 3, 4, 5, 6, 7});
  expect_tensor(apply_one("TfIdfVectorizer", {row}, weighted), floats({7}, {0, 6, 3, 0, 5, 18, 7}));
  weighted.set("mode", std::string("IDF"));
  expect_tensor(apply_one("TfIdfVectorizer", {row}, weighted), floats({7}, {0, 2, 3, 0, 5, 6, 7}));
  expect_tensor(apply_one("TfIdfVectorizer", {Tensor::of<std::int64_t>({0}, {})}, weighted),
                floats({7}, {0, 0, 0, 0, 0, 0, 0}));
}

TEST(TextOperators, TfIdfCountsStringsAndRefusesBadPools) {
  Attributes given = attributes({{"mode", std::string("TF")},
                                 {"min_gram_length", 1},
                                 {"max_gram_length", 1},
                                 {"max_skip_count", 0},
                                 {"ngram_counts", Ints{0}},
                                 {"ngram_indexes", Ints{1, 0}},
                                 {"pool_strings", Texts{"a", "b"}}});
  expect_tensor(apply_one("TfIdfVectorizer", {strings({3}, {"a", "b", "a"})}, given), floats({2}, {1, 2}));
  given.set("ngram_counts", Ints{5});
  EXPECT_EQ(message_of("TfIdfVectorizer", {strings({1}, {"a"})}, given),
            "TfIdfVectorizer: the pool of 2 words has no n-grams of 1 words from 5 to 2");
  given.set("ngram_counts", Ints{0});
  given.set("ngram_indexes", Ints{0});
  EXPECT_EQ(message_of("TfIdfVectorizer", {strings({1}, {"a"})}, given),
            "TfIdfVectorizer: the pool has more n-grams than ngram_indexes, which has 1");
  given.set("ngram_indexes", Ints{0, -1});
  EXPECT_EQ(message_of("TfIdfVectorizer", {strings({1}, {"a"})}, given),
            "TfIdfVectorizer: ngram_indexes must be there, and in 0..4294967296");
  given.set("ngram_indexes", Ints{0, INT64_MAX});
  EXPECT_EQ(message_of("TfIdfVectorizer", {strings({1}, {"a"})}, given),
            "TfIdfVectorizer: ngram_indexes must be there, and in 0..4294967296");
}

}  // namespace
}  // namespace hone::graph::testing
