#include "hone/space/channel_schedule.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/space/channel_parts.h"
#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

/// `rows` positions times `vectors` vectors of channels.
struct ChannelTile {
  std::int64_t rows = 1, vectors = 1;
};

std::int64_t bytes_of(const std::vector<Read>& reads, const NaiveLoop& lanes, bool by_channel) {
  std::int64_t bytes = 0;
  for (const Read& read : reads)
    if (read.uses(lanes) == by_channel) bytes += read.elements() * read.buffer.type().bits() / 8;
  return bytes;
}

/// The loop over positions that threads share in bands: each then does what one thread does with a smaller image, and
/// finds in its own cache what it made of the kernel before. None where the bands would not be even, where it costs
/// more that each thread reads all weights than that each reads the whole input, or where channels stay among
/// themselves and can be dealt out evenly, so that threads share nothing.
std::optional<NaiveLoop> find_band(const ChannelParts& parts, const codegen::Target& target) {
  if (target.threads < 2) return std::nullopt;
  const bool are_channels_apart = std::all_of(parts.reads.begin(), parts.reads.end(), [&](const Read& read) {
    return !read.uses(*parts.row) || read.is_contiguous_in(parts.lanes.inner);
  });
  if (!parts.has_products && (!are_channels_apart || is_even(parts.lanes.outer.extent, target.threads)))
    return std::nullopt;
  const std::int64_t weights = bytes_of(parts.reads, parts.lanes.inner, true);
  const std::int64_t input = bytes_of(parts.reads, parts.lanes.inner, false);
  if (parts.has_products && weights > input && weights > target.l2_bytes * 3 / 4) return std::nullopt;
  for (const NaiveLoop& loop : parts.spatial) {
    const bool is_channel = loop.var.is(parts.lanes.outer.var) || loop.var.is(parts.lanes.inner.var);
    if (!is_channel && !loop.var.is(parts.row->var) && is_even(loop.extent, target.threads)) return loop;
  }
  return std::nullopt;
}

/// How many values of the outer reduction loop one block of weights takes that stays in the L1 cache while all
/// positions use it; 0 if there is no need, or the sums of all positions would not stay there as well.
std::int64_t reduction_block(const ChannelParts& parts, const ChannelTile& tile, const codegen::Target& target,
                             const TileChoice& choice, const std::optional<NaiveLoop>& band) {
  if (!parts.has_products || parts.reduced.size() < 2 || !parts.reduced.back().name.ends_with(".1")) return 0;
  const std::int64_t outer_steps = parts.reduced.front().extent;
  if (choice.kept_steps != 0) return choice.kept_steps < outer_steps ? std::max<std::int64_t>(0, choice.kept_steps) : 0;
  const std::int64_t vector_bytes = parts.lanes.inner.extent * 4;
  std::int64_t steps = 1, positions = 1;
  for (const NaiveLoop& loop : parts.reduced) steps *= loop.extent;
  for (const NaiveLoop& loop : parts.spatial)
    if (!loop.var.is(parts.lanes.outer.var) && !loop.var.is(parts.lanes.inner.var))
      positions *= band && loop.var.is(band->var) ? ceil_div(loop.extent, target.threads) : loop.extent;
  const std::int64_t cache = std::max<std::int64_t>(target.l1_bytes, std::int64_t{1} << 15);
  const bool sums_stay = positions * tile.vectors * vector_bytes <= cache / 3;
  const bool weights_stay = steps * tile.vectors * vector_bytes <= cache / 2;
  if (!sums_stay || weights_stay || positions <= tile.rows) return 0;
  const std::int64_t most = std::max<std::int64_t>(1, cache / 2 / (steps / outer_steps * tile.vectors * vector_bytes));
  std::int64_t block = 1;
  for (std::int64_t i = 1; i <= std::min(outer_steps, most); ++i)
    if (outer_steps % i == 0) block = i;
  return block;
}

/// How much longer than its multiplications a tile takes. It loads a vector for each position and each vector of
/// channels.
double slowness(const ChannelTile& tile, std::int64_t rows_in_all) {
  const auto rows = static_cast<double>(tile.rows), vectors = static_cast<double>(tile.vectors);
  const double waste = static_cast<double>(ceil_div(rows_in_all, tile.rows)) * rows / static_cast<double>(rows_in_all);
  const double latency = std::max(1.0, 8.0 / (rows * vectors));  // of the multiply-add units
  return waste * (1.0 + 0.2 * (1.0 / rows + 1.0 / vectors)) * latency;
}

/// How many vectors of channels, as they are stored, one register holds. More than one if blocks of channels fill a
/// part of a register only and the sums are stored apart from the result, in an order of their own.
std::int64_t vectors_in_register(const Program& program, const ChannelParts& parts, const std::string& block,
                                 const codegen::Target& target) {
  const ir::Block found = schedule::find_block(program, block, "default")->block();
  const bool is_free = !schedule::is_param(program, schedule::written_buffers(found)[0]);
  const std::int64_t lanes = parts.lanes.inner.extent;
  return parts.has_products && is_free ? std::max<std::int64_t>(1, target.lanes(32) / lanes) : 1;
}

/// Positions but for those of a row.
std::int64_t other_positions(const ChannelParts& parts) {
  std::int64_t positions = 1;
  for (const NaiveLoop& loop : parts.spatial)
    if (!loop.var.is(parts.lanes.outer.var) && !loop.var.is(parts.lanes.inner.var) &&
        !(parts.row && loop.var.is(parts.row->var)))
      positions *= loop.extent;
  return positions;
}

/// How much longer the slowest thread takes than on average if threads share the tiles of channels, each at `positions`
/// positions.
double unevenness(std::int64_t vectors_in_all, std::int64_t vectors, std::int64_t positions, int threads) {
  const std::int64_t most = ceil_div(ceil_div(vectors_in_all, vectors) * positions, threads);
  return std::max(1.0, static_cast<double>(most * vectors * threads) / static_cast<double>(vectors_in_all * positions));
}

/// The tile with the least work wasted on tails; between equals the one that loads least for each multiplication. The
/// last tile of channels may have fewer vectors, if each has a register of its own.
ChannelTile choose_tile(const ChannelParts& parts, std::int64_t vectors_in_register, const codegen::Target& target,
                        const TileChoice& choice, const std::optional<NaiveLoop>& band) {
  const std::int64_t rows_in_all = parts.row ? parts.row->extent : 1, vectors_in_all = parts.sharing_vectors;
  const bool has_smaller_last = parts.has_products && vectors_in_register == 1;
  const auto is_allowed = [&](std::int64_t vectors) { return has_smaller_last || vectors_in_all % vectors == 0; };
  if (choice.rows > 0 && choice.vectors > 0) {
    ChannelTile tile{std::min(choice.rows, rows_in_all),
                     std::min(choice.vectors * vectors_in_register, vectors_in_all)};
    while (!is_allowed(tile.vectors)) --tile.vectors;
    return tile;
  }
  ChannelTile best;
  double best_cost = 1e30;
  for (std::int64_t vectors = 1; vectors <= std::min(4 * vectors_in_register, vectors_in_all); ++vectors) {
    if (!is_allowed(vectors)) continue;
    const std::int64_t registers = ceil_div(vectors, vectors_in_register), rest = vectors_in_all % vectors;
    const std::int64_t most = parts.has_products ? 28 : 14, tiles = vectors_in_all / vectors;
    for (std::int64_t rows = 1; rows <= std::min(most, rows_in_all) && (rows + 1) * registers < target.vector_registers;
         ++rows) {
      double cost = slowness({rows, registers}, rows_in_all) * static_cast<double>(tiles * registers);
      if (rest > 0) cost += slowness({rows, rest}, rows_in_all) * static_cast<double>(rest);
      if (target.threads > 1 && parts.has_products && !band) {
        const bool waits_for_weights = reduction_block(parts, {rows, vectors}, target, choice, band) > 0;
        cost *= unevenness(vectors_in_all, vectors, waits_for_weights ? 1 : other_positions(parts), target.threads);
      }
      if (cost < best_cost) {
        best_cost = cost;
        best = {rows, vectors};
      }
    }
  }
  return best;
}

/// Stores the sums of a block with all channels of a position beside each other: "(d0, d1, d2, d3, d4) -> (d0, d2, d3,
/// d1 * 8 + d4)".
bool put_channels_last(Schedule& draft, const std::string& block, std::int64_t lanes) {
  const ir::Block found = schedule::find_block(draft.program(), block, "default")->block();
  const ir::Expr sums = schedule::written_buffers(found)[0];
  const std::size_t rank = sums.get<ir::Buffer>().shape.size();
  std::vector<std::string> from, to;
  for (std::size_t i = 0; i < rank; ++i) {
    from.push_back(fmt::format("d{}", i));
    if (i != 1 && i + 1 < rank) to.push_back(from.back());
  }
  to.push_back(fmt::format("d1 * {} + d{}", lanes, rank - 1));
  return attempt(draft, schedule::TransformLayout{ir::name_of(sums), fmt::format("({}) -> ({})", fmt::join(from, ", "),
                                                                                 fmt::join(to, ", "))});
}

/// The axis of a read whose index uses a variable; none if there is none or more than one.
std::optional<std::size_t> axis_using(const Read& read, const ir::Expr& variable) {
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < read.indices.size(); ++i)
    if (ir::uses(read.indices[i], variable)) {
      if (axis) return std::nullopt;
      axis = i;
    }
  return axis;
}

/// Where a constant read by channel goes: panels of the tile's channels, and within them the order of the loops.
/// Axes that the reduction splits are split alike: "(d0, d1, d2, d3) -> (d0 // 32, d1 // 16, d2, d3, d1 % 16, d0 %
/// 32)".
std::optional<std::string> packed_map(const Read& read, const ChannelParts& parts, std::int64_t width) {
  const std::optional<std::size_t> channel = axis_using(read, parts.lanes.inner.var);
  if (!channel) return std::nullopt;
  std::vector<std::string> from, outer, inner;
  for (std::size_t i = 0; i < read.indices.size(); ++i) {
    from.push_back(fmt::format("d{}", i));
    if (i == *channel) continue;
    const NaiveLoop* split = nullptr;  // the lanes of a reduction variable
    for (const NaiveLoop& loop : parts.reduced)
      if (loop.name.ends_with(".1") && ir::uses(read.indices[i], loop.var)) split = &loop;
    if (!split) {
      outer.push_back(from.back());
      continue;
    }
    outer.push_back(fmt::format("d{} // {}", i, split->extent));
    inner.push_back(fmt::format("d{} % {}", i, split->extent));
  }
  outer.insert(outer.begin(), fmt::format("d{} // {}", *channel, width));
  outer.insert(outer.end(), inner.begin(), inner.end());
  return fmt::format("({}) -> ({}, d{} % {})", fmt::join(from, ", "), fmt::join(outer, ", "), *channel, width);
}

/// Packs the constants that are read by channel. False if a read stays that cannot be vectorized.
bool pack_constants(Schedule& draft, const ChannelParts& parts, std::int64_t width,
                    std::span<const std::size_t> constants) {
  for (const Read& read : parts.reads) {
    if (!read.uses(parts.lanes.inner)) continue;
    const bool is_weight = read.is_constant(draft.program(), constants);
    if (read.is_contiguous_in(parts.lanes.inner) && (!is_weight || read.indices.size() < 2)) continue;
    if (!is_weight && is_vector_of(read, parts)) continue;
    const std::optional<std::string> map = packed_map(read, parts, width);
    if (!is_weight || !map) return false;
    if (!attempt(draft, schedule::TransformLayout{ir::name_of(read.buffer), *map})) return false;
  }
  return true;
}

/// The loops around a tile, outermost first: channels outside, so that their weights stay in the cache, unless the
/// input is too large for it and the weights are not.
std::vector<std::string> outer_order(const ChannelParts& parts, const codegen::Target& target,
                                     const TileChoice& choice) {
  const std::int64_t weights = bytes_of(parts.reads, parts.lanes.inner, true);
  const std::int64_t input = bytes_of(parts.reads, parts.lanes.inner, false);
  const std::int64_t cache = std::max<std::int64_t>(target.l2_bytes, std::int64_t{1} << 18) / 2;
  const bool positions_outside = choice.order == 0 ? parts.has_products && input > cache && weights <= cache
                                                   : choice.order == TileChoice::RowsOutside;
  std::vector<std::string> order;
  const std::string channels = parts.lanes.outer.name + ".0";
  for (const NaiveLoop& loop : parts.spatial) {
    if (loop.var.is(parts.lanes.inner.var)) continue;
    if (loop.var.is(parts.lanes.outer.var)) {
      if (!positions_outside) order.push_back(channels);
    } else if (parts.row && loop.var.is(parts.row->var)) {
      if (positions_outside) order.push_back(channels);
      order.push_back(loop.name + ".0");
    } else {
      order.push_back(loop.name);
    }
  }
  if (positions_outside && !parts.row) order.push_back(channels);
  return order;
}

/// How many of the outer loops threads may share. Where padding is read in place, rows that are shared with channels
/// have to ask for it: threads then rather have one block of channels more or less, if there are several for each.
std::size_t shared_depth(const ChannelParts& parts, const std::vector<std::string>& order, std::size_t depth,
                         const codegen::Target& target) {
  constexpr std::int64_t kSeveral = 4;
  const auto channels = std::find(order.begin(), order.end(), parts.lanes.outer.name + ".0");
  const bool are_several = parts.lanes.outer.extent / parts.sharing_vectors >= kSeveral * target.threads;
  return !parts.has_products && are_several ? static_cast<std::size_t>(channels - order.begin()) + 1 : depth;
}

/// Gives each thread a band, and lets it make what it reads of a padded image by itself.
void share_bands(Schedule& draft, const std::string& block, const std::string& bands, const codegen::Target& target) {
  const ir::Block found = schedule::find_block(draft.program(), block, "default")->block();
  for (const Read& read : reads_of(found)) {
    if (schedule::is_param(draft.program(), read.buffer)) continue;
    const std::vector<schedule::Path> writers = schedule::writers(draft.program(), read.buffer);
    if (writers.size() != 1 || schedule::is_reduction(writers[0].block())) continue;
    const std::string name = writers[0].block().name;
    if (attempt(draft, schedule::ComputeAt{name, bands})) vectorize_last(draft, name, target);
  }
  attempt(draft, schedule::Parallel{bands});
}

/// Fetches the next block of packed weights while one is used.
void fetch_ahead(Schedule& draft, const ChannelParts& parts, const std::vector<std::string>& order) {
  const std::string blocks = parts.reduced.front().name + ".0";
  // The innermost loop that runs more than once but for the lanes of the reduction and the tile itself.
  const auto lanes = std::find_if(order.begin(), order.end(), [&](const std::string& loop) {
    return loop == parts.reduced.back().name || loop == parts.reduced.back().name + ".0";
  });
  for (auto inner = lanes; inner != order.begin() && *--inner != blocks;) {
    const Result<schedule::Path> path = schedule::find_loop(draft.program(), *inner, "default");
    if (!path || ir::as_int(path->loop().extent).value_or(1) < 2) continue;
    for (const ir::Expr& param : schedule::read_buffers(schedule::blocks_below(*path).front().block()))
      if (const std::string name = ir::name_of(param); name.ends_with(".packed"))
        attempt(draft, schedule::SpreadPrefetch{name, blocks, *inner, 1});
    return;
  }
}

}  // namespace

bool tile_channels(Schedule& draft, const std::string& block, std::span<const std::size_t> constants,
                   const codegen::Target& target, const TileChoice& choice) {
  std::optional<ChannelParts> parts = channel_parts(draft.program(), block);
  if (!parts) return false;
  Schedule changed = draft;
  if (!parts->has_products && inline_padding(changed, block, constants))
    parts = channel_parts(changed.program(), block);
  const std::int64_t in_register = vectors_in_register(changed.program(), *parts, block, target);
  const std::optional<NaiveLoop> band =
      parts->row && is_worth_threads(changed.program(), block) ? find_band(*parts, target) : std::nullopt;
  const ChannelTile tile = choose_tile(*parts, in_register, target, choice, band);
  const NaiveLoop &outer = parts->lanes.outer, &lanes = parts->lanes.inner;
  if (!pack_constants(changed, *parts, tile.vectors * lanes.extent, constants)) return false;
  const bool shares_registers = in_register > 1 && tile.vectors > 1;
  if (shares_registers && !put_channels_last(changed, block, lanes.extent)) return false;

  if (!attempt(changed, schedule::Split{outer.name, {schedule::kRest, tile.vectors}})) return false;
  if (parts->row && !attempt(changed, schedule::Split{parts->row->name, {schedule::kRest, tile.rows}})) return false;
  std::vector<std::string> order = outer_order(*parts, target, choice);
  std::size_t depth = order.size();
  const std::int64_t block_of_reduction = reduction_block(*parts, tile, target, choice, band);
  if (block_of_reduction > 0) {
    // Weights are read once, a block at a time: channels outside, then the blocks, then the positions.
    const std::string channels = outer.name + ".0", reduced = parts->reduced.front().name;
    if (!attempt(changed, schedule::Split{reduced, {schedule::kRest, block_of_reduction}})) return false;
    std::erase(order, channels);
    order.insert(order.begin(), {channels, reduced + ".0"});
    depth = 1;
    order.push_back(reduced + ".1");
  } else {
    order.push_back(parts->reduced.front().name);
  }
  if (band) {
    const std::int64_t height = ceil_div(band->extent, target.threads);
    if (!attempt(changed, schedule::Split{band->name, {schedule::kRest, height}})) return false;
    std::replace(order.begin(), order.end(), band->name, band->name + ".1");
    order.insert(order.begin(), band->name + ".0");
    ++depth;
  }
  for (std::size_t i = 1; i < parts->reduced.size(); ++i) order.push_back(parts->reduced[i].name);
  const std::string last_step = order.back();
  const bool unrolls = choice.unroll > 1 && parts->has_products &&
                       attempt(changed, schedule::Split{last_step, {schedule::kRest, choice.unroll}});
  if (unrolls) {
    order.back() = last_step + ".0";
    order.push_back(last_step + ".1");
  }
  if (parts->row) order.push_back(parts->row->name + ".1");
  order.push_back(outer.name + ".1");
  order.push_back(lanes.name);
  if (!attempt(changed, schedule::Reorder{order})) return false;
  if (shares_registers) {
    if (!attempt(changed, schedule::Fuse{{outer.name + ".1", lanes.name}})) return false;
    order.pop_back();
    order.back() = schedule::loops_of(changed.program(), block).back();
  }
  if (!attempt(changed, schedule::Vectorize{order.back()})) return false;
  if (block_of_reduction > 0) fetch_ahead(changed, *parts, order);
  if (unrolls) attempt(changed, schedule::Unroll{last_step + ".1"});
  if (!shares_registers) attempt(changed, schedule::Unroll{outer.name + ".1"});
  if (parts->row) attempt(changed, schedule::Unroll{parts->row->name + ".1"});
  if (!parts->has_products) {
    // Neighbouring positions load the same elements: written out, they are loaded once.
    std::int64_t copies = tile.rows;
    for (std::size_t i = parts->reduced.size(); i-- > 0;) {
      copies *= parts->reduced[i].extent;
      if (copies > 256) break;
      attempt(changed, schedule::Unroll{parts->reduced[i].name});
    }
  }
  attach_readers(changed, block, order[depth - 1]);
  if (band)
    share_bands(changed, block, order.front(), target);
  else
    parallelize(changed, block, shared_depth(*parts, order, depth, target), target);
  draft = std::move(changed);
  return true;
}

}  // namespace hone::space
