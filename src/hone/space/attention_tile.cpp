/// default_attention_tile and key_block_of: blocks of scores that fit the second cache.
#include <algorithm>
#include <bit>
#include <cmath>

#include "hone/space/attention_schedule.h"
#include "hone/space/attention_stages.h"
#include "hone/support/arithmetic.h"

namespace hone::space {

namespace {

constexpr std::int64_t kMostRows = 6;                       // of a register tile
constexpr std::int64_t kBytesOfScore = 2 * 4;               // the score and its exponential
constexpr std::int64_t kMostQueries = 96;                   // of a block, where keys come in blocks
constexpr std::int64_t kLeastKeys = 256, kMostKeys = 2048;  // of a block

std::int64_t rows_of(const AttentionStages& stages) { return std::clamp<std::int64_t>(stages.queries, 1, kMostRows); }

/// Queries at a time where keys come in blocks: as many as the cache holds scores for, since each block of keys and
/// values is fetched once for all of them; fewer if threads would have nothing to do.
std::int64_t queries_by_key_blocks(const AttentionStages& stages, std::int64_t rows, const codegen::Target& target) {
  const std::int64_t cached = target.l2_bytes * 3 / 4 / (kBytesOfScore * stages.key_block);
  std::int64_t tiles =
      std::clamp<std::int64_t>(std::min({cached, kMostQueries, stages.queries}) / rows, 1, kMostQueries);
  while (tiles > 1 && stages.heads * ceil_div(stages.queries, tiles * rows) < 2 * target.threads) tiles /= 2;
  return tiles * rows;
}

}  // namespace

Result<AttentionTile> default_attention_tile(const schedule::Program& naive, const codegen::Target& target) {
  HONE_TRY(const AttentionStages stages, find_attention_stages(naive));
  const std::int64_t vectors = target.vector_registers >= 32 ? 4 : 2, lanes = target.lanes(32);
  const auto cut = [&](std::int64_t columns) { return std::clamp<std::int64_t>(ceil_div(columns, lanes), 1, vectors); };
  AttentionTile tile{.key_vectors = cut(stages.keys), .value_vectors = cut(stages.columns)};
  tile.rows = rows_of(stages);
  if (stages.has_key_blocks()) {
    tile.queries = queries_by_key_blocks(stages, tile.rows, target);
    return tile;
  }
  // Scores and their exponentials take a part of the second cache.
  const std::int64_t row_bytes = kBytesOfScore * stages.keys;
  while (tile.queries > tile.rows && tile.queries * row_bytes > target.l2_bytes / 2) tile.queries /= 2;
  return tile;
}

std::optional<KeyBlock> key_block_of(const schedule::Program& naive, const codegen::Target& target) {
  const Result<AttentionStages> stages = find_attention_stages(naive);
  if (!stages || stages->has_key_blocks() || !stages->has_f32_scores) return std::nullopt;
  // Several times as many keys as queries: what is done once for a block and a query is then little.
  const auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(target.l2_bytes)));
  KeyBlock block{.keys = std::clamp(static_cast<std::int64_t>(std::bit_floor(side)), kLeastKeys, kMostKeys)};
  if (stages->keys < 2 * block.keys) return std::nullopt;
  // All keys at a time are as fast as long as the cache holds the scores of a few queries.
  block.is_likely = target.l2_bytes > 0 && rows_of(*stages) * kBytesOfScore * stages->keys > target.l2_bytes;
  return block;
}

}  // namespace hone::space
