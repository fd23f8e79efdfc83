#include "hone/schedule/index_map.h"

#include <gtest/gtest.h>

#include "hone/ir/text.h"

namespace hone::schedule {
namespace {

using Shape = std::vector<std::int64_t>;

std::string print(std::string_view text) {
  const Result<IndexMap> map = parse_index_map(text);
  if (!map) return map.error().message;
  std::string printed;
  for (const ir::Expr& e : map->exprs) printed += (printed.empty() ? "" : ", ") + ir::to_text(e);
  return printed;
}

Shape shape_of(std::string_view text, const Shape& shape) { return *mapped_shape(*parse_index_map(text), shape); }

std::string shape_error(std::string_view text, const Shape& shape) {
  const Result<Shape> mapped = mapped_shape(*parse_index_map(text), shape);
  return mapped ? "no error" : mapped.error().message;
}

bool injective(std::string_view text, const Shape& shape) { return is_injective(*parse_index_map(text), shape); }

TEST(ParseIndexMap, ReadsWhatItsGrammarAllows) {
  EXPECT_EQ(print("(k, n) -> (n // 16, k, n % 16)"), "n // 16, k, n % 16");
  EXPECT_EQ(print("(i,j)->((i*4+j)//8,i-j%3)"), "(i * 4 + j) // 8, i - j % 3");
  EXPECT_EQ(print("() -> (0)"), "0");
  EXPECT_EQ(print("(x_1) -> ()"), "");
}

TEST(ParseIndexMap, NamesThePlaceAndWhatIsAllowedThere) {
  EXPECT_EQ(print(""), "column 1 of the index map is the end, allowed is '('");
  EXPECT_EQ(print("(i, ) -> (i)"), "column 5 of the index map is ')', allowed is a name");
  EXPECT_EQ(print("(i j) -> (i)"), "column 4 of the index map is 'j', allowed is ',' or ')'");
  EXPECT_EQ(print("(i) = (i)"), "column 5 of the index map is '=', allowed is '->'");
  EXPECT_EQ(print("(i) -> (i, *)"), "column 12 of the index map is '*', allowed is a name, a whole number or '('");
  EXPECT_EQ(print("(i) -> (i"), "column 10 of the index map is the end, allowed is an operator, ',' or ')'");
  EXPECT_EQ(print("(i) -> ((i)"), "column 12 of the index map is the end, allowed is an operator, ',' or ')'");
  EXPECT_EQ(print("(i) -> (i) x"), "column 12 of the index map is 'x', allowed is the end");
  EXPECT_EQ(print("(i) -> (i / 2)"), "column 11 of the index map is '/', allowed is an operator, ',' or ')'");
  EXPECT_EQ(print("(i) -> (i // i)"), "column 14 of the index map is 'i', allowed is a positive whole number");
  EXPECT_EQ(print("(i) -> (i % 0)"), "the index map divides by 0, allowed are positive whole numbers");
  EXPECT_EQ(print("(i, i) -> (i)"), "the index map names 'i' twice, allowed is one name per axis");
  EXPECT_EQ(print("(i, j) -> (k)"), "the index map uses 'k', allowed are i, j");
  EXPECT_EQ(print("(i) -> (99999999999999999999)"),
            "a number at column 21 of the index map is outside 0..1099511627776");
  EXPECT_EQ(print("(i) -> (" + std::string(100, '(')), "the index map nests more than 64 parentheses");
}

TEST(MappedShape, HoldsTheLargestIndexOfEveryAxis) {
  EXPECT_EQ(shape_of("(k, n) -> (n // 16, k, n % 16)", {5, 64}), (Shape{4, 5, 16}));
  EXPECT_EQ(shape_of("(k, n) -> (n // 16, k, n % 16)", {5, 70}), (Shape{5, 5, 16}));
  EXPECT_EQ(shape_of("(n) -> (n // 16, n % 16)", {7}), (Shape{1, 7}));
  EXPECT_EQ(shape_of("(i, j) -> (i * 3 + j)", {4, 3}), (Shape{12}));
  EXPECT_EQ(shape_of("(i) -> (i, 2)", {4}), (Shape{4, 3}));
  EXPECT_EQ(shape_of("(i) -> (i // 4, i % 4)", {0}), (Shape{1, 1}));
}

TEST(MappedShape, RefusesWhatDoesNotFit) {
  EXPECT_EQ(shape_error("(i) -> (i)", {4, 4}), "the index map has 1 variables, allowed are 2, one per axis");
  EXPECT_EQ(shape_error("(i) -> (i - 1)", {4}), "'i - 1' in the index map can be -1, allowed are indices from 0");
  EXPECT_EQ(
      shape_error("(i) -> (i * 1000000000000 * 1000000000000 % 7)", {4}),
      "'i * 1000000000000 * 1000000000000 % 7' in the index map is too large, allowed are 1099511627776 elements");
  EXPECT_EQ(shape_error("(i) -> (i * 1000000, i * 1000000)", {4}),
            "'i * 1000000' in the index map is too large, allowed are 1099511627776 elements");
}

TEST(IsInjective, SeesDigitsOfAnySize) {
  const Shape large = {1 << 20, 1 << 20};
  EXPECT_TRUE(injective("(i, j) -> (j, i)", large));
  EXPECT_TRUE(injective("(k, n) -> (n // 16, k, n % 16)", large));
  EXPECT_TRUE(injective("(k, n) -> (n // 16, k // 4, n % 16, k % 4)", {999'999, 777'777}));
  EXPECT_TRUE(injective("(n, k) -> (n // 12 // 4, k, n // 12 % 4, n % 12)", large));
  EXPECT_TRUE(injective("(n, k) -> (n // 48, k, n % 48 // 12 * 12 + n % 12)", large));
  EXPECT_TRUE(injective("(i, j) -> (i * 1048576 + j)", large));
  EXPECT_FALSE(injective("(i, j) -> (i * 1048575 + j)", large));
  EXPECT_FALSE(injective("(i, j) -> (i)", large));
  EXPECT_FALSE(injective("(i, j) -> (i // 16, i % 8, j)", large));
  EXPECT_FALSE(injective("(i, j) -> (i + j, j // 2)", large));
  EXPECT_FALSE(injective("(i, j) -> (i % 50 // 7, i % 7, i // 50, j)", large));
}

TEST(IsInjective, TriesOutSmallTensors) {
  EXPECT_TRUE(injective("(i, j) -> (i + j, j)", {20, 30}));
  EXPECT_TRUE(injective("(i, j) -> ((i * 6 + j) // 4, (i * 6 + j) % 4)", {5, 6}));
  EXPECT_TRUE(injective("(i) -> (i * 5 % 7)", {7}));
  EXPECT_FALSE(injective("(i) -> (i * 5 % 7)", {8}));
  EXPECT_FALSE(injective("(i) -> ((i + 3) // 2)", {8}));
  EXPECT_TRUE(injective("(i) -> (0)", {1}));
  EXPECT_TRUE(injective("(i, j) -> (0)", {0, 1'000'000}));
  EXPECT_TRUE(injective("() -> (0)", {}));
}

}  // namespace
}  // namespace hone::schedule
