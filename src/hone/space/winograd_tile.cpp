/// default_winograd_tile: blocks that fit the cache, and the register tile that wastes least.
#include <algorithm>

#include "hone/space/winograd_schedule.h"
#include "hone/space/winograd_stages.h"

namespace hone::space {
namespace {

constexpr std::int64_t kLeastCache = 256 << 10;
/// Out channels of which a block of tiles makes all products before it transforms them.
constexpr std::int64_t kChannels = 64;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The size of equal parts of at most `most` elements.
std::int64_t even_part(std::int64_t extent, std::int64_t most) {
  const std::int64_t parts = ceil_div(extent, std::max<std::int64_t>(most, 1));
  return parts == 0 ? 1 : ceil_div(extent, parts);
}

/// About how many cycles a product of `rows` by `vectors` accumulators takes for each channel: two multiply-adds and
/// two loads a cycle, and results that are not there before four cycles.
double cycles_per_channel(std::int64_t rows, std::int64_t vectors) {
  if (rows == 0 || vectors == 0) return 0;
  const double products = static_cast<double>(rows * vectors) / 2, loads = static_cast<double>(rows + vectors) / 2;
  return std::max({products, loads, 4.0});
}

/// The cycles of one point: whole register tiles, and those cut off at the ends of tiles and channels.
double cycles_of_product(std::int64_t tiles, std::int64_t vectors, std::int64_t channels, std::int64_t tile_rows,
                         std::int64_t tile_vectors) {
  constexpr double kStart = 30;  // of one register tile: a mispredicted branch, the first loads
  double cycles = 0;
  for (const auto& [row_count, rows] :
       {std::pair(tiles / tile_rows, tile_rows), std::pair<std::int64_t, std::int64_t>(1, tiles % tile_rows)})
    for (const auto& [vector_count, columns] : {std::pair(vectors / tile_vectors, tile_vectors),
                                                std::pair<std::int64_t, std::int64_t>(1, vectors % tile_vectors)}) {
      if (rows == 0 || columns == 0) continue;
      const double each = static_cast<double>(channels) * cycles_per_channel(rows, columns) + kStart +
                          static_cast<double>(rows * columns);
      cycles += static_cast<double>(row_count * vector_count) * each;
    }
  return cycles;
}

void choose_register_tile(WinogradTile& tile, std::int64_t tiles, const WinogradStages& stages,
                          const codegen::Target& target) {
  constexpr std::int64_t kMostRows = 14, kMostVectors = 4;
  const std::int64_t vectors = ceil_div(std::max<std::int64_t>(stages.out_channels, 1), target.lanes(stages.bits));
  double best = 0;
  for (std::int64_t columns = 1; columns <= std::min(kMostVectors, vectors); ++columns)
    for (std::int64_t rows = 1; rows <= std::min(kMostRows, tiles); ++rows) {
      if (rows * columns + columns + 1 > target.vector_registers) continue;
      const double cycles = cycles_of_product(tiles, vectors, stages.in_channels, rows, columns);
      if (best != 0 && cycles >= best) continue;
      best = cycles;
      tile.gemm_rows = rows;
      tile.gemm_vectors = columns;
    }
}

}  // namespace

WinogradTile default_winograd_tile(const schedule::Program& naive, const codegen::Target& target) {
  const WinogradStages stages = *find_winograd_stages(naive);
  const std::int64_t in = std::max<std::int64_t>(stages.in_channels, 1);
  const std::int64_t out = std::max<std::int64_t>(stages.out_channels, 1);
  const std::int64_t cache = std::max<std::int64_t>(target.l2_bytes, kLeastCache);
  const std::int64_t bytes = stages.points() * stages.bits / 8;  // of one channel of a tile, or of one weight
  const std::int64_t weights = bytes * in * out;
  const bool are_weights_large = weights > cache / 2;

  WinogradTile tile;
  // Weights are read again for each block of tiles, all the slower the more they are; what is in between should stay in
  // the cache with what is used of them.
  const std::int64_t all = stages.images * stages.rows * stages.columns;
  const std::int64_t wanted = are_weights_large ? 48 : 16;
  const std::int64_t fitting = cache * 2 / 5 / (bytes * (in + std::min(out, kChannels)));
  const std::int64_t most = weights > 2 * cache ? wanted : std::clamp<std::int64_t>(fitting, 8, wanted);
  if (all <= most) {
    tile.images = stages.images;
    tile.rows = stages.rows;
    tile.columns = stages.columns;
  } else {
    tile.columns = even_part(stages.columns, most);
    if (tile.columns == stages.columns) tile.rows = even_part(stages.rows, most / tile.columns);
    if (tile.rows == stages.rows) tile.images = even_part(stages.images, most / (tile.rows * tile.columns));
  }
  const std::int64_t tiles = tile.images * tile.rows * tile.columns;
  choose_register_tile(tile, tiles, stages, target);
  tile.channels = bytes * tiles * in > cache / 8 ? kChannels : kChannels / 2;  // each pass reads the input again
  tile.fetches_ahead = are_weights_large;
  return tile;
}

}  // namespace hone::space
