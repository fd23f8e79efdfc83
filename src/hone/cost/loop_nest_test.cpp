#include "hone/cost/loop_nest.h"

#include <cmath>
#include <gtest/gtest.h>

#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::cost {
namespace {

using schedule::Trace;

/// C[64, 48] = A[64, 32] · B, which is [32, 48] or lies the other way round.
NaiveBlocks product(bool is_transposed = false) {
  const tensor::Tensor a = tensor::placeholder("A", {64, 32});
  const tensor::Tensor b = is_transposed ? tensor::placeholder("B", {48, 32}) : tensor::placeholder("B", {32, 48});
  const tensor::Tensor c = tensor::compute("C", {{"i", 64}, {"j", 48}}, [&](const tensor::Indices& at) {
    return tensor::reduce_sum({{"k", 32}}, [&](const tensor::Indices& sum) {
      return a(at[0], sum[0]) * (is_transposed ? b(at[1], sum[0]) : b(sum[0], at[1]));
    });
  });
  return naive_blocks(tensor::lower("product", {a, b}, {c})).value();
}

/// Sums of 4 rows of 16 columns.
const Trace kTiledProduct = {
    schedule::Split{"i", {0, 4}}, schedule::Split{"j", {0, 16}}, schedule::Reorder{{"i.0", "j.0", "k", "i.1", "j.1"}},
    schedule::Vectorize{"j.1"},   schedule::Unroll{"i.1"},
};

TraceWalk walk_of(const NaiveBlocks& naive, const Trace& trace) {
  TraceWalk walk;
  walk.begin(naive);
  for (const schedule::Step& step : trace) walk.apply(step);
  return walk;
}

InnerTile tile_of(const NaiveBlocks& naive, const Trace& trace, const ComputeUnit& unit) {
  const TraceWalk walk = walk_of(naive, trace);
  return inner_tile(nest_of(walk, naive.main, find_marks(trace)), unit);
}

std::array<float, kShareNumbers> share_of(const NaiveBlocks& naive, const Trace& trace, int threads) {
  const TraceWalk walk = walk_of(naive, trace);
  return share_numbers(nest_of(walk, naive.main, find_marks(trace)), {.threads = threads});
}

constexpr ComputeUnit kAvx512 = {16, 32, 2}, kAvx2 = {8, 16, 2}, kSse = {4, 16, 0};

TEST(InnerTile, CountsVectorsOfTheTarget) {
  const NaiveBlocks naive = product();
  const InnerTile wide = tile_of(naive, kTiledProduct, kAvx512), half = tile_of(naive, kTiledProduct, kAvx2);
  EXPECT_EQ(wide.width, 16);
  EXPECT_EQ(wide.sums, 4);
  EXPECT_EQ(half.sums, 8);
  EXPECT_EQ(half.whole, 2) << "of B";
  EXPECT_EQ(half.single, 4) << "of A, one for each row";
  EXPECT_EQ(half.gathered, 0);
  EXPECT_EQ(half.live, 8 + 1 + 1) << "a number of A stays while vectors of B pass by";
  EXPECT_TRUE(half.stores_whole);
  EXPECT_TRUE(half.is_in_sum);
  const InnerTile narrow = tile_of(naive, kTiledProduct, kSse);
  EXPECT_EQ(narrow.live, 16 + 1 + 1);
  constexpr std::size_t kIsSpilled = 7;
  EXPECT_EQ(tile_numbers(narrow, kSse)[kIsSpilled], 1) << "18 of 16 registers";
  EXPECT_EQ(tile_numbers(half, kAvx2)[kIsSpilled], 0);
}

TEST(InnerTile, NumbersTellOneMultiplyAddInACycleFromTwo) {
  const InnerTile tile = tile_of(product(), kTiledProduct, kAvx512);
  constexpr ComputeUnit kHalves = {16, 32, 1};  // vectors are made of two halves
  EXPECT_NE(tile_numbers(tile, kAvx512), tile_numbers(tile, kHalves));
  EXPECT_EQ(tile_numbers(tile, kSse).back(), 0) << "none";
}

TEST(InnerTile, KnowsHowLongSumsStay) {
  const NaiveBlocks naive = product();
  const InnerTile whole = tile_of(naive, kTiledProduct, kAvx2);
  EXPECT_EQ(whole.run, 32);
  EXPECT_EQ(whole.outside, 1);
  EXPECT_EQ(whole.bytes, 4 * (4 * 16 + 4 * 32 + 32 * 16 + 1)) << "of C, A and B, and one for an access there is not";
  Trace cut = kTiledProduct;
  cut.insert(cut.begin() + 2, schedule::Split{"k", {0, 8}});
  cut[3] = schedule::Reorder{{"k.0", "i.0", "j.0", "k.1", "i.1", "j.1"}};
  EXPECT_EQ(tile_of(naive, cut, kAvx2).run, 8);
  EXPECT_EQ(tile_of(naive, cut, kAvx2).outside, 4) << "sums go to memory and come back";
}

TEST(InnerTile, UnrollsAsFarAsABudgetGoes) {
  Trace limited = kTiledProduct;
  limited.push_back(schedule::Annotate{"k", "unroll", "64"});
  EXPECT_EQ(tile_of(product(), limited, kAvx2).steps, 1) << "32 steps of 4 rows are 128 statements";
  limited.back() = schedule::Annotate{"k", "unroll", "128"};
  EXPECT_EQ(tile_of(product(), limited, kAvx2).steps, 32);
}

TEST(InnerTile, GathersWhatWasNotPacked) {
  const NaiveBlocks naive = product(/*is_transposed=*/true);
  EXPECT_EQ(tile_of(naive, kTiledProduct, kAvx2).gathered, 16);
  Trace packed = kTiledProduct;
  packed.push_back(schedule::TransformLayout{"B", "(d0, d1) -> (d0 // 16, d1, d0 % 16)"});
  EXPECT_EQ(tile_of(naive, packed, kAvx2).gathered, 0);
  EXPECT_EQ(tile_of(naive, packed, kAvx2).whole, 2);
}

TEST(InnerTile, OfATraceThatSaysNothingIsOneNumber) {
  const InnerTile tile = tile_of(product(), {}, kAvx2);
  EXPECT_EQ(tile.width, 1);
  EXPECT_EQ(tile.sums, 1);
  EXPECT_EQ(tile.run, 32);
  for (const float number : tile_numbers(tile, kAvx2)) EXPECT_TRUE(std::isfinite(number));
  EXPECT_EQ(nest_of(TraceWalk(), 3, {}).loops.size(), 0u);
}

TEST(Traffic, CountsWhatDoesNotStayInACache) {
  const NaiveBlocks naive = product();  // C[64, 48] of A[64, 32] and B[32, 48]
  const TraceWalk walk = walk_of(naive, kTiledProduct);
  const LoopNest nest = nest_of(walk, naive.main, find_marks(kTiledProduct));
  const double all = 4 * (64 * 48 + 64 * 32 + 32 * 48);
  EXPECT_EQ(traffic_beyond(nest, 1e9), all) << "each element once";
  // A tile of 4 x 16 over all of k: of A and C it is another for each i, and B stays for none but the loop around.
  const double tile = 4 * (4 * 16 + 4 * 32 + 32 * 16);
  EXPECT_EQ(traffic_beyond(nest, tile), 4.0 * 16 * (3 * 4 * 16 + 4 * 32 + 3 * 32 * 16))
      << "B comes with each row of tiles";
  EXPECT_GT(traffic_beyond(nest, 64), traffic_beyond(nest, tile));
  const std::array<float, kTrafficNumbers> numbers = traffic_numbers(nest, kAvx2);
  for (std::size_t i = 0; i < kCacheBytes.size(); ++i) EXPECT_EQ(numbers[i], numbers[0]) << "all of it fits an L1";
  ComputeUnit fast = kAvx2;
  fast.l3_bytes_per_cycle = 25;
  EXPECT_GT(traffic_numbers(nest, fast).back(), numbers.back());
  for (const float number : traffic_numbers({}, kAvx2)) EXPECT_TRUE(std::isfinite(number));
}

TEST(ShareNumbers, SayHowManyThreadsAreBusy) {
  const NaiveBlocks naive = product();
  Trace trace = kTiledProduct;
  trace.push_back(schedule::Fuse{{"i.0", "j.0"}});
  trace.push_back(schedule::Parallel{"i.0@j.0"});
  const std::array<float, kShareNumbers> one = share_of(naive, trace, 1), two = share_of(naive, trace, 2),
                                         five = share_of(naive, trace, 5);
  EXPECT_EQ(one[0], 0);
  EXPECT_EQ(two[0], 1);
  EXPECT_EQ(one[1], 1);
  EXPECT_EQ(two[1], 1) << "48 pieces";
  EXPECT_EQ(five[1], 48.0F / 50) << "in the last round two threads wait";
  EXPECT_EQ(two[2], static_cast<float>(std::log2(48) / 2));
  EXPECT_EQ(two[3], static_cast<float>(std::log2(64 * 48 * 32 / 48) / 2));
  EXPECT_EQ(share_of(naive, kTiledProduct, 2)[1], 0.5F) << "nothing is parallel";
}

}  // namespace
}  // namespace hone::cost
