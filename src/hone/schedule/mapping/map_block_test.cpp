#include "hone/schedule/mapping/map_block.h"

#include <array>
#include <gtest/gtest.h>

#include "hone/ir/text.h"
#include "hone/schedule/multi_stage.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/testing.h"
#include "hone/support/arithmetic.h"
#include "hone/support/rng.h"

namespace hone::schedule {
namespace {

using ir::ForKind;
using Levels = std::vector<Level>;

/// Cores over rows, tiles of 6 × 8 elements, rows, lanes: whatever the shape.
Result<Program> tiled(const Program& program, std::string_view block, std::int64_t m, std::int64_t n,
                      bool has_reduction) {
  const std::int64_t tiles = ceil_div(std::max<std::int64_t>(m, 1), 2 * 6);
  const Levels outer{{"core", spatial({2, 1}), ForKind::Parallel},
                     {"tile", repeat({tiles, ceil_div(std::max<std::int64_t>(n, 1), 8)})}};
  const Levels inner{{"row", repeat({6, 1}), ForKind::Unrolled}, {"lane", spatial({1, 8}), ForKind::Vectorized}};
  if (has_reduction) return map_block(program, block, outer, inner);
  Levels all = outer;
  all.insert(all.end(), inner.begin(), inner.end());
  return map_block(program, block, all);
}

TEST(MapBlock, KeepsTheValuesOfMatmulsOfAnyShape) {
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
           {12, 16, 4}, {1, 1, 1}, {13, 17, 7}, {1, 61, 3}, {61, 1, 2}, {24, 8, 0}, {0, 5, 3}, {37, 41, 1}}) {
    const Program naive = matmul(m, n, k);
    checked(naive, tiled(naive, "C", m, n, true));
  }
}

TEST(MapBlock, KeepsTheValuesOfElementwiseBlocksOfAnyShape) {
  for (const auto& [n, m] : std::vector<std::array<std::int64_t, 2>>{{12, 16}, {1, 1}, {13, 17}, {2039, 3}, {5, 0}}) {
    const Program naive = chain(n, m);
    Program p = naive;
    for (const std::string block : {"B", "C", "D"}) p = checked(naive, tiled(p, block, n, m, false));
    EXPECT_EQ(loops_of(p, "C").front(), "core_1");
    EXPECT_EQ(loops_of(p, "D").back(), "lane_2");
  }
}

TEST(MapBlock, BindsVariablesAndGuardsWhatIsTooMuch) {
  const Program naive = matmul(50, 32, 8);
  const Program p = checked(naive, tiled(naive, "C", 50, 32, true));
  EXPECT_EQ(loops_of(p, "C"), (std::vector<std::string>{"core", "tile.0", "tile.1", "k", "row.0", "row.1", "lane"}));
  EXPECT_TRUE(prints(p, "vi: spatial(50) = core * 30 + tile.0 * 6 + row.0\n")) << ir::to_text(p);
  EXPECT_TRUE(prints(p, "vj: spatial(32) = tile.1 * 8 + lane\n")) << ir::to_text(p);
  EXPECT_TRUE(prints(p, "where core * 30 + tile.0 * 6 + row.0 < 50\n")) << ir::to_text(p);
  const Program even = checked(naive, map_block(naive, "C",
                                                Levels{{"core", spatial({2, 1}), ForKind::Parallel},
                                                       {"row", repeat({25, 4})},
                                                       {"lane", spatial({1, 8}), ForKind::Vectorized}}));
  EXPECT_FALSE(prints(even, "where")) << ir::to_text(even);
}

TEST(MapBlock, KeepsTheValuesUnderRandomMappings) {
  Rng rng(/*seed=*/6);
  for (int trial = 0; trial < 120; ++trial) {
    const std::int64_t m = rng.uniform(1, 19), n = rng.uniform(1, 19);
    const Program naive = matmul(m, n, 3);
    Index left{m, n};
    Levels outer, inner;
    for (int i = 0; i < 4; ++i) {
      Index shape;
      for (std::int64_t& rest : left) {
        shape.push_back(i == 3 ? rest : rng.uniform(1, std::min<std::int64_t>(rest, 4)));
        rest = ceil_div(rest, shape.back());
      }
      const Index ranks = rng.chance(0.5) ? Index{1, 0} : Index{0, 1};
      const bool is_spatial = rng.chance(0.5);
      Mapping mapping = is_spatial ? spatial(shape, ranks) : repeat(shape, ranks);
      if (rng.chance(0.2)) mapping = mapping * repeat({1, 2});
      const ForKind how = is_spatial && rng.chance(0.3) ? ForKind::Parallel : ForKind::Serial;
      (rng.chance(0.5) ? outer : inner).push_back({"level" + std::to_string(i), mapping, how});
    }
    checked(naive, map_block(naive, "C", outer, inner));
  }
}

TEST(MapBlock, RunsWorkersOfSeveralAxesInParallelAndOnGpuIndices) {
  for (const auto& [m, n] : std::vector<std::array<std::int64_t, 2>>{{16, 24}, {13, 23}, {1, 1}, {1, 24}}) {
    const Program naive = matmul(m, n, 5);
    for (const ForKind how : {ForKind::Parallel, ForKind::BlockX})
      checked(naive, map_block(naive, "C", Levels{{"worker", spatial({2, 3}), how}, {"tile", repeat({8, 8})}}));
    checked(naive, map_block(naive, "C",
                             Levels{{"block", spatial({2, 3}, {1, 0}), ForKind::BlockX},
                                    {"thread", repeat({2, 2}) * spatial({4, 4}), ForKind::ThreadX}}));
  }
}

TEST(MapBlock, LeavesAProgramThatOtherPrimitivesWorkOn) {
  const Program naive = matmul(29, 31, 12);
  Program p = checked(naive, tiled(naive, "C", 29, 31, true));
  p = checked(naive, split(p, "k", std::vector<std::int64_t>{kRest, 4}));
  p = checked(naive, cache_read(p, "C", "B", ir::Scope::Local));
  p = checked(naive, compute_at(p, "B.local", "tile.1"));
  p = checked(naive, cache_write(naive, "C", ir::Scope::Local));
  p = checked(naive, tiled(p, "C.write", 29, 31, false));
  p = checked(naive, compute_at(p, "C", "tile.1"));
}

TEST(MapBlock, MovesProducersUnderMappedConsumers) {
  const Program naive = chain(13, 21);
  Program p = checked(naive, tiled(naive, "D", 13, 21, false));
  p = checked(naive, compute_at(p, "C", "tile.1"));
  p = checked(naive, compute_inline(p, "B"));
}

TEST(Level, TextReadsBackToAnEqualLevel) {
  for (const Level& level : Levels{{"core", spatial({2, 1}), ForKind::Parallel},
                                   {"tile", *within(repeat({5, 4}, {1, 0}) * spatial({2, 2}), {9, 8})},
                                   {"lane", spatial({1, 8}), ForKind::Vectorized},
                                   {"thread", spatial({}), ForKind::ThreadX}}) {
    const Result<Level> read = parse_level(to_text(level));
    ASSERT_TRUE(read) << to_text(level) << ": " << read.error().message;
    EXPECT_EQ(*read, level) << to_text(level);
  }
  EXPECT_EQ(to_text(Level{"core", spatial({2, 1}), ForKind::Parallel}), "core: spatial(2, 1) parallel");
  EXPECT_EQ(to_text(Level{"tile", repeat({5, 4})}), "tile: repeat(5, 4)");
  const auto message = [](std::string_view text) { return parse_level(text).error().message; };
  EXPECT_EQ(message("core"), "level 'core' has no ':', allowed is 'name: mapping kind'");
  EXPECT_EQ(message("core: spatial(2) paralel"),
            "level 'core' is 'paralel', allowed are kinds of loops such as parallel and vectorized");
  EXPECT_EQ(message("core: parallel"), "column 2 of the mapping is 'parallel', allowed is 'spatial' or 'repeat'");
}

TEST(MapBlock, RefusesWhatItCannotMap) {
  const Program naive = matmul(8, 6, 4);
  const auto message = [&](const Levels& outer, const Levels& inner = {}) {
    return refusal(map_block(naive, "C", outer, inner));
  };
  EXPECT_EQ(message({{"row", repeat({8})}}), "map_block: level 'row' has 1 axes, block 'C' has 2 spatial variables");
  EXPECT_EQ(message({{"row", repeat({4, 6})}}),
            "map_block: the levels reach 4 values of variable 'vi' of block 'C', at least its extent 8 is needed");
  EXPECT_EQ(message({}),
            "map_block: the levels reach 1 values of variable 'vi' of block 'C', at least its extent 8 is needed");
  EXPECT_EQ(message({{"row", *within(repeat({8, 8}), {8, 5})}}),
            "map_block: the levels reach 5 values of variable 'vj' of block 'C', at least its extent 6 is needed");
  EXPECT_EQ(message({{"row", repeat({8, 6}), ForKind::Parallel}}),
            "map_block: level 'row' repeats and is parallel, allowed are serial and unrolled");
  EXPECT_EQ(message({{"row", repeat({8, 1})}, {"row", repeat({1, 6})}}), "map_block: level 'row' is given twice");
  EXPECT_EQ(message({{"row.0", repeat({8, 6})}}), "map_block: level name 'row.0', allowed are letters, digits and '_'");
  EXPECT_EQ(message({{"a", spatial({8, 1}), ForKind::Vectorized}}, {{"b", spatial({1, 6}), ForKind::Vectorized}}),
            "vectorize: loop 'b' and loop 'a', which is vectorized already, are nested");
  EXPECT_EQ(refusal(map_block(naive, "X", {})), "map_block: no block 'X', the blocks are C");
  const Program split_before = *split(naive, "i", std::vector<std::int64_t>{kRest, 4});
  EXPECT_EQ(refusal(map_block(split_before, "C", Levels{{"row", repeat({8, 6})}})),
            "map_block: the loops of block 'C' are not the naive ones, map_block before other steps");
}

}  // namespace
}  // namespace hone::schedule
