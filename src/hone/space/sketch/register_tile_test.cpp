#include "hone/space/sketch/register_tile.h"

#include <gtest/gtest.h>

#include "hone/space/run_program_test.h"
#include "hone/space/sketch/analysis.h"

namespace hone::space {
namespace {

RegisterTiles tiles_of(std::int64_t m, std::int64_t n, const char* target) {
  const tensor::Tensor a = tensor::placeholder("A", {m, 64}), b = tensor::placeholder("B", {64, n});
  const ir::Function program = tensor::lower("product", {a, b}, {*tensor::matmul(a, b)});
  const BlockParts parts = parts_of(program, "matmul");
  return register_tiles(parts.spatial, 1, parts.reads, codegen::parse_target(target).value(), 32);
}

TEST(RegisterTiles, FitTheRegisters) {
  for (const auto& [target, registers, lanes] :
       {std::tuple{"cpu -mcpu=sapphirerapids", 32, 16}, std::tuple{"x86-64 -mattr=+avx2", 16, 8}}) {
    const RegisterTiles tiles = tiles_of(512, 512, target);
    EXPECT_LE(tiles.options.size(), kMostOptions);
    EXPECT_TRUE(std::is_sorted(tiles.options.begin(), tiles.options.end()));
    for (const Factors& tile : tiles.options) {
      const std::int64_t vectors = (tile[1] + lanes - 1) / lanes;
      EXPECT_LE(tile[0] * vectors + vectors + 1, registers) << tile[0] << " x " << tile[1];
    }
    const Factors& best = tiles.options[tiles.best];
    EXPECT_GE(best[0] * best[1], 10 * lanes);  // enough to hide the latency of multiply-adds
  }
}

TEST(RegisterTiles, AreThereForAnyExtent) {
  for (const std::int64_t m : {1, 2, 13, 2039})
    for (const std::int64_t n : {1, 3, 17, 2039}) {
      const RegisterTiles tiles = tiles_of(m, n, "cpu -mcpu=sapphirerapids");
      ASSERT_LT(tiles.best, tiles.options.size());
      for (const Factors& tile : tiles.options) {
        EXPECT_GE(tile[0], 1);
        EXPECT_LE(tile[0], m);
        EXPECT_LE(tile[1], std::max<std::int64_t>(n, 1));
      }
    }
}

TEST(RegisterTiles, CountThoseThatAreLeftOut) {
  const RegisterTiles few = tiles_of(3, 16, "cpu -mcpu=sapphirerapids");
  EXPECT_EQ(few.options.size() + few.too_slow, 3);  // 1 to 3 rows of a vector
  EXPECT_EQ(few.too_large, 0);
  const RegisterTiles many = tiles_of(512, 512, "cpu -mcpu=sapphirerapids");
  EXPECT_EQ(many.options.size() + many.too_slow + many.too_large, 4 * 32);  // 1 to 4 vectors, 1 to 32 rows
  EXPECT_GT(many.too_large, 32);
  EXPECT_GT(many.too_slow, 0);
}

TEST(RegisterTiles, WasteLittleOnTails) {
  const RegisterTiles tiles = tiles_of(7, 28, "cpu -mcpu=sapphirerapids");
  EXPECT_EQ(tiles.options[tiles.best], (Factors{7, 28}));
}

}  // namespace
}  // namespace hone::space
