#include "hone/tensor/key_blocks.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "hone/ir/interpret.h"
#include "hone/tensor/lower.h"

namespace hone::tensor {
namespace {

using ir::Expr;

constexpr std::int64_t kKeys = 11, kColumns = 3;

/// What a program computes of scores [1, 1, 1, keys] and values [keys, columns]: the largest score, the sum of
/// exponentials, and their products with the values.
std::vector<double> run(std::int64_t block, const ir::Array& scores, const ir::Array& values) {
  const Tensor x = placeholder("x", {1, 1, 1, kKeys}), v = placeholder("v", {kKeys, kColumns});
  const KeyBlocks blocks(x, block, kColumns,
                         [&](const Indices&, const Expr& key, const Expr& column) { return v(key, column); });
  const auto [total, attended] = blocks.sums(blocks.largest());
  std::vector<ir::Array> arguments = {scores, values, ir::Array(ir::kF32, {1, 1, 1, 1}),
                                      ir::Array(ir::kF32, {1, 1, 1, 1}), ir::Array(ir::kF32, {1, 1, 1, kColumns})};
  EXPECT_TRUE(ir::interpret(lower("sums", {x, v}, {blocks.largest(), total, attended}), arguments));
  std::vector<double> found;
  for (std::size_t i = 2; i < arguments.size(); ++i)
    for (std::int64_t n = 0; n < arguments[i].size(); ++n) found.push_back(arguments[i].float_at(n));
  return found;
}

/// The same, written out.
std::vector<double> expected(const ir::Array& scores, const ir::Array& values) {
  std::vector<double> result(2 + kColumns);
  result[0] = -std::numeric_limits<double>::infinity();
  for (std::int64_t key = 0; key < kKeys; ++key) result[0] = std::max(result[0], scores.float_at(key));
  for (std::int64_t key = 0; key < kKeys; ++key) {
    const double weight = std::exp(scores.float_at(key) - result[0]);
    result[1] += weight;
    for (std::int64_t c = 0; c < kColumns; ++c)
      result[static_cast<std::size_t>(2 + c)] += weight * values.float_at(key * kColumns + c);
  }
  return result;
}

TEST(KeyBlocks, AnyNumberOfKeysAtATimeGivesTheSameSums) {
  Rng rng(/*seed=*/1);
  const ir::Array values = ir::random_values(rng, ir::kF32, {kKeys, kColumns});
  ir::Array scores = ir::random_whole(rng, ir::kF32, {1, 1, 1, kKeys});
  for (const std::int64_t hidden : {0, 3, 6, 10}) {
    for (std::int64_t key = 0; key < hidden; ++key) scores.set(key, -std::numeric_limits<double>::infinity());
    const std::vector<double> sums = expected(scores, values);
    for (const std::int64_t block : {1, 3, 4, 11, 16}) {
      const std::vector<double> found = run(block, scores, values);
      for (std::size_t i = 0; i < sums.size(); ++i)
        EXPECT_NEAR(found[i], sums[i], 1e-5) << "blocks of " << block << ", " << hidden << " hidden, sum " << i;
    }
  }
}

}  // namespace
}  // namespace hone::tensor
