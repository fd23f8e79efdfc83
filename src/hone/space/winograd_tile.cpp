/// default_winograd_tile: blocks that fit the cache, and the register tile that wastes least.
#include <algorithm>

#include "hone/space/winograd_schedule.h"
#include "hone/space/winograd_stages.h"
#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

constexpr std::int64_t kLeastL1 = 32 << 10, kLeastL2 = 256 << 10;
/// Out channels of which a block of tiles makes all products before it transforms them.
constexpr std::int64_t kChannels = 64;
/// The same, the vectors of a panel of weights, and tiles of a block, where weights come from beyond the caches of a
/// core: the fewer and the longer the streams of weights, the better they are fetched ahead.
constexpr std::int64_t kStreamedChannels = 256, kStreamedVectors = 2, kStreamedTiles = 64;

/// The size of equal parts of at most `most` elements.
std::int64_t even_part(std::int64_t extent, std::int64_t most) {
  const std::int64_t parts = ceil_div(extent, std::max<std::int64_t>(most, 1));
  return parts == 0 ? 1 : ceil_div(extent, parts);
}

/// How many of `all` rows of tiles form a block, at most `most`. Threads share blocks evenly; small blocks read weights
/// more often.
std::int64_t rows_of_block(std::int64_t all, std::int64_t most, std::int64_t columns, int threads) {
  if (threads < 2) return even_part(all, most);
  std::int64_t best = 1;
  double least = 0;
  for (std::int64_t rows = 1; rows <= std::min(all, most); ++rows) {
    const std::int64_t share = ceil_div(ceil_div(all, rows), threads) * rows;
    const double cost = static_cast<double>(share) * (1 + 1.5 / static_cast<double>(rows * columns));
    if (least != 0 && cost >= least) continue;
    least = cost;
    best = rows;
  }
  return best;
}

/// One matrix product of a point: tiles by vectors of out channels, summed over channels.
struct Product {
  std::int64_t tiles, vectors, channels;
};

/// About how many cycles it takes in register tiles of `rows` by `columns`: two multiply-adds and two loads a cycle,
/// results that are not there before four cycles, and weights that come slower if a panel leaves the L1.
double cycles_of(const Product& product, std::int64_t rows, std::int64_t columns, bool is_panel_in_l1) {
  constexpr double kStart = 30;  // of a register tile: a mispredicted branch, the first loads
  double cycles = 0;
  for (const bool is_last_row : {false, true})
    for (const bool is_last_column : {false, true}) {
      const std::int64_t r = is_last_row ? product.tiles % rows : rows;
      const std::int64_t v = is_last_column ? product.vectors % columns : columns;
      const std::int64_t count =
          (is_last_row ? 1 : product.tiles / rows) * (is_last_column ? 1 : product.vectors / columns);
      if (r == 0 || v == 0) continue;
      const auto accumulators = static_cast<double>(r * v), loads = static_cast<double>(r + v);
      const double each =
          std::max({accumulators / 2, loads / 2, 4.0}) + (is_panel_in_l1 ? 0 : static_cast<double>(v) / 4);
      cycles += static_cast<double>(count) * (static_cast<double>(product.channels) * each + kStart + accumulators);
    }
  return cycles;
}

void choose_register_tile(WinogradTile& tile, const Product& product, std::int64_t most_vectors,
                          const codegen::Target& target) {
  constexpr std::int64_t kMostRows = 14;
  const std::int64_t l1 = std::max<std::int64_t>(target.l1_bytes, kLeastL1);
  double best = 0;
  for (std::int64_t columns = 1; columns <= std::min(most_vectors, product.vectors); ++columns)
    for (std::int64_t rows = 1; rows <= std::min(kMostRows, product.tiles); ++rows) {
      if (rows * columns + columns + 1 > target.vector_registers) continue;
      const std::int64_t panel = product.channels * columns * target.vector_bits / 8;
      const double cycles = cycles_of(product, rows, columns, panel <= l1 * 2 / 3);
      if (best != 0 && cycles >= best) continue;
      best = cycles;
      tile.gemm_rows = rows;
      tile.gemm_vectors = columns;
    }
}

}  // namespace

WinogradTile default_winograd_tile(const schedule::Program& naive, const codegen::Target& target,
                                   const WinogradChoice& choice) {
  const WinogradStages stages = *find_winograd_stages(naive);
  const std::int64_t in = std::max<std::int64_t>(stages.in_channels, 1);
  const std::int64_t out = std::max<std::int64_t>(stages.out_channels, 1);
  const std::int64_t cache = std::max<std::int64_t>(target.l2_bytes, kLeastL2);
  const std::int64_t bytes = stages.points() * stages.bits / 8;  // of one channel of a tile, or of one weight
  const std::int64_t weights = bytes * in * out;
  const bool are_weights_large = weights > cache / 2, are_weights_streamed = weights > 2 * cache;

  WinogradTile tile;
  // Weights are read again for each block of tiles, all the slower the more they are; what is in between should stay in
  // the cache with what is used of them.
  const std::int64_t all = stages.images * stages.rows * stages.columns;
  const std::int64_t wanted = are_weights_streamed ? kStreamedTiles : are_weights_large ? 48 : 16;
  const std::int64_t fitting = cache * 2 / 5 / (bytes * (in + std::min(out, kChannels)));
  const std::int64_t most = choice.tiles > 0       ? choice.tiles
                            : are_weights_streamed ? wanted
                                                   : std::clamp<std::int64_t>(fitting, 8, wanted);
  if (all <= most) {
    tile.images = stages.images;
    tile.rows = stages.rows;
    tile.columns = stages.columns;
  } else {
    tile.columns = even_part(stages.columns, most);
    if (tile.columns == stages.columns)
      tile.rows = rows_of_block(stages.rows, most / tile.columns, tile.columns, target.threads);
    if (tile.rows == stages.rows) tile.images = even_part(stages.images, most / (tile.rows * tile.columns));
  }
  const std::int64_t tiles = tile.images * tile.rows * tile.columns;
  const std::int64_t lanes = target.lanes(stages.bits);
  choose_register_tile(tile, {tiles, ceil_div(out, lanes), in}, are_weights_streamed ? kStreamedVectors : 4, target);
  if (choice.gemm_rows > 0) tile.gemm_rows = choice.gemm_rows;
  if (choice.gemm_vectors > 0) tile.gemm_vectors = choice.gemm_vectors;
  tile.channels = bytes * tiles * in > cache / 8 ? kChannels : kChannels / 2;  // each pass reads the input again
  if (are_weights_streamed) {
    const std::int64_t shared = tiles == all ? std::max(out / std::max(target.threads, 1), lanes) : out;
    tile.channels = std::min(kStreamedChannels, shared);
  }
  if (choice.channels > 0) tile.channels = choice.channels;
  tile.fetches_weights = are_weights_large;
  tile.fetches_tensors = !are_weights_large && all >= 4 * tiles;
  return tile;
}

}  // namespace hone::space
