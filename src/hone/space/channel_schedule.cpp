#include "hone/space/channel_schedule.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/space/layout.h"
#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

/// A reduction with lanes, taken apart.
struct Anatomy {
  std::vector<NaiveLoop> spatial, reduced;
  Lanes lanes;
  std::vector<Read> reads;
  std::optional<NaiveLoop> row;  ///< the innermost axis of positions
  bool has_products = false;     ///< some operand is the same for all channels of the result
};

std::optional<Anatomy> look_at(const Program& program, const std::string& block) {
  const std::vector<NaiveLoop> loops = naive_loops(program, block);
  const std::optional<Lanes> lanes = lanes_of(loops);
  if (!lanes) return std::nullopt;
  Anatomy anatomy{.lanes = *lanes};
  for (const NaiveLoop& loop : loops) (loop.is_reduction ? anatomy.reduced : anatomy.spatial).push_back(loop);
  if (anatomy.reduced.empty()) return std::nullopt;
  anatomy.reads = reads_of(schedule::find_block(program, block, "default")->block());
  for (const NaiveLoop& loop : anatomy.spatial)
    if (!loop.var.is(lanes->outer.var) && !loop.var.is(lanes->inner.var) && loop.extent > 1) anatomy.row = loop;
  anatomy.has_products = std::any_of(anatomy.reads.begin(), anatomy.reads.end(), [&](const Read& read) {
    return !read.uses(lanes->outer) && !read.uses(lanes->inner);
  });
  return anatomy;
}

/// `rows` positions times `vectors` vectors of channels.
struct ChannelTile {
  std::int64_t rows = 1, vectors = 1;
};

/// The tile with the least work wasted on tails; between equals the one that loads least for each multiplication.
ChannelTile choose_tile(const Anatomy& anatomy, const codegen::Target& target, const TileChoice& choice) {
  const std::int64_t registers = target.vector_registers;
  const std::int64_t rows_in_all = anatomy.row ? anatomy.row->extent : 1;
  const std::int64_t vectors_in_all = anatomy.has_products ? anatomy.lanes.outer.extent : 1;
  if (choice.rows > 0 && choice.vectors > 0) {
    ChannelTile tile{std::min(choice.rows, rows_in_all), std::min(choice.vectors, vectors_in_all)};
    while (vectors_in_all % tile.vectors != 0) --tile.vectors;
    return tile;
  }
  ChannelTile best;
  double best_cost = 1e30;
  for (std::int64_t vectors = 1; vectors <= std::min<std::int64_t>(4, vectors_in_all); ++vectors) {
    if (vectors_in_all % vectors != 0) continue;
    for (std::int64_t rows = 1; rows <= std::min<std::int64_t>(anatomy.has_products ? 28 : 14, rows_in_all) &&
                                (rows + 1) * vectors < registers;
         ++rows) {
      const double waste = static_cast<double>(ceil_div(rows_in_all, rows) * rows) / static_cast<double>(rows_in_all);
      const double loads = 1.0 / static_cast<double>(rows) + 1.0 / static_cast<double>(vectors);
      const double latency = std::max(1.0, 8.0 / static_cast<double>(rows * vectors));  // of the multiply-add units
      const double cost = waste * (1.0 + 0.2 * loads) * latency;
      if (cost < best_cost) {
        best_cost = cost;
        best = {rows, vectors};
      }
    }
  }
  return best;
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
std::optional<std::string> packed_map(const Read& read, const Anatomy& anatomy, std::int64_t width) {
  const std::optional<std::size_t> channel = axis_using(read, anatomy.lanes.inner.var);
  if (!channel) return std::nullopt;
  std::vector<std::string> from, outer, inner;
  for (std::size_t i = 0; i < read.indices.size(); ++i) {
    from.push_back(fmt::format("d{}", i));
    if (i == *channel) continue;
    const NaiveLoop* split = nullptr;  // the lanes of a reduction variable
    for (const NaiveLoop& loop : anatomy.reduced)
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
bool pack_constants(Schedule& draft, const Anatomy& anatomy, std::int64_t width,
                    std::span<const std::size_t> constants) {
  for (const Read& read : anatomy.reads) {
    if (!read.uses(anatomy.lanes.inner)) continue;
    const bool is_weight = read.is_constant(draft.program(), constants);
    if (read.is_contiguous_in(anatomy.lanes.inner) && (!is_weight || read.indices.size() < 2)) continue;
    const std::optional<std::string> map = packed_map(read, anatomy, width);
    if (!is_weight || !map) return false;
    if (!attempt(draft, schedule::TransformLayout{ir::name_of(read.buffer), *map})) return false;
  }
  return true;
}

std::int64_t bytes_of(const std::vector<Read>& reads, const NaiveLoop& lanes, bool by_channel) {
  std::int64_t bytes = 0;
  for (const Read& read : reads)
    if (read.uses(lanes) == by_channel) bytes += read.elements() * read.buffer.type().bits() / 8;
  return bytes;
}

/// The loops around a tile, outermost first: channels outside, so that their weights stay in the cache, unless the
/// input is too large for it and the weights are not.
std::vector<std::string> outer_order(const Anatomy& anatomy, const codegen::Target& target, const TileChoice& choice) {
  const std::int64_t weights = bytes_of(anatomy.reads, anatomy.lanes.inner, true);
  const std::int64_t input = bytes_of(anatomy.reads, anatomy.lanes.inner, false);
  const std::int64_t cache = std::max<std::int64_t>(target.l2_bytes, std::int64_t{1} << 18) / 2;
  const bool positions_outside = choice.order == 0 ? anatomy.has_products && input > cache && weights <= cache
                                                   : choice.order == TileChoice::RowsOutside;
  std::vector<std::string> order;
  const std::string channels = anatomy.lanes.outer.name + ".0";
  for (const NaiveLoop& loop : anatomy.spatial) {
    if (loop.var.is(anatomy.lanes.inner.var)) continue;
    if (loop.var.is(anatomy.lanes.outer.var)) {
      if (!positions_outside) order.push_back(channels);
    } else if (anatomy.row && loop.var.is(anatomy.row->var)) {
      if (positions_outside) order.push_back(channels);
      order.push_back(loop.name + ".0");
    } else {
      order.push_back(loop.name);
    }
  }
  if (positions_outside && !anatomy.row) order.push_back(channels);
  return order;
}

/// Whether everything but constants is read lane by lane as it stands in memory.
bool is_read_along_lanes(const Program& program, const Anatomy& anatomy, std::span<const std::size_t> constants) {
  return std::all_of(anatomy.reads.begin(), anatomy.reads.end(), [&](const Read& read) {
    return read.is_constant(program, constants) || !read.uses(anatomy.lanes.inner) ||
           read.is_contiguous_in(anatomy.lanes.inner);
  });
}

/// How many values of the outer reduction loop one block of weights takes that stays in the L1 cache while all
/// positions use it; 0 if there is no need, or the sums of all positions would not stay there as well.
std::int64_t reduction_block(const Anatomy& anatomy, const ChannelTile& tile, const codegen::Target& target,
                             const TileChoice& choice) {
  if (!anatomy.has_products || anatomy.reduced.size() < 2 || !anatomy.reduced.back().name.ends_with(".1")) return 0;
  const std::int64_t outer_steps = anatomy.reduced.front().extent;
  if (choice.kept_steps != 0) return choice.kept_steps < outer_steps ? std::max<std::int64_t>(0, choice.kept_steps) : 0;
  const std::int64_t vector_bytes = anatomy.lanes.inner.extent * 4;
  std::int64_t steps = 1, positions = 1;
  for (const NaiveLoop& loop : anatomy.reduced) steps *= loop.extent;
  for (const NaiveLoop& loop : anatomy.spatial)
    if (!loop.var.is(anatomy.lanes.outer.var) && !loop.var.is(anatomy.lanes.inner.var)) positions *= loop.extent;
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

/// Fetches the next block of packed weights while one is used.
void fetch_ahead(Schedule& draft, const Anatomy& anatomy, const std::vector<std::string>& order) {
  const std::string blocks = anatomy.reduced.front().name + ".0";
  // The innermost loop that runs more than once but for the lanes of the reduction and the tile itself.
  const auto lanes = std::find_if(order.begin(), order.end(), [&](const std::string& loop) {
    return loop == anatomy.reduced.back().name || loop == anatomy.reduced.back().name + ".0";
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

/// Computes what the block reads, such as a padded image, where it is read: each element is used a few times only.
bool inline_inputs(Schedule& draft, const Anatomy& anatomy) {
  bool is_changed = false;
  for (const Read& read : anatomy.reads) {
    if (schedule::is_param(draft.program(), read.buffer)) continue;
    for (const schedule::Path& writer : schedule::writers(draft.program(), read.buffer))
      is_changed |= attempt(draft, schedule::ComputeInline{writer.block().name});
  }
  return is_changed;
}

/// Lets what reads the result element by element follow each tile, in registers as well.
void attach_readers(Schedule& draft, const ir::Expr& result, const std::string& loop) {
  for (const schedule::Path& reader : schedule::readers(draft.program(), result)) {
    const std::string name = reader.block().name;
    if (schedule::is_reduction(reader.block())) continue;
    if (attempt(draft, schedule::ReverseComputeAt{name, loop})) {
      const std::vector<std::string> moved = schedule::loops_of(draft.program(), name);
      attempt(draft, schedule::Vectorize{moved.back()});
      std::int64_t copies = 1;
      for (std::size_t i = moved.size() - 1; i-- > 0 && moved[i] != loop;) {
        copies *= ir::as_int(schedule::find_loop(draft.program(), moved[i], "default")->loop().extent).value_or(1);
        if (copies > 32) break;
        attempt(draft, schedule::Unroll{moved[i]});
      }
    }
    break;
  }
}

}  // namespace

bool tile_channels(Schedule& draft, const std::string& block, std::span<const std::size_t> constants,
                   const codegen::Target& target, const TileChoice& choice) {
  std::optional<Anatomy> anatomy = look_at(draft.program(), block);
  if (!anatomy) return false;
  Schedule changed = draft;
  if (Schedule inlined = draft; !anatomy->has_products && inline_inputs(inlined, *anatomy)) {
    const std::optional<Anatomy> after = look_at(inlined.program(), block);
    if (after && is_read_along_lanes(inlined.program(), *after, constants)) {
      changed = std::move(inlined);
      anatomy = after;
    }
  }
  const ChannelTile tile = choose_tile(*anatomy, target, choice);
  if (!pack_constants(changed, *anatomy, tile.vectors * anatomy->lanes.inner.extent, constants)) return false;

  const NaiveLoop& outer = anatomy->lanes.outer;
  if (!attempt(changed, schedule::Split{outer.name, {schedule::kRest, tile.vectors}})) return false;
  if (anatomy->row && !attempt(changed, schedule::Split{anatomy->row->name, {schedule::kRest, tile.rows}}))
    return false;
  std::vector<std::string> order = outer_order(*anatomy, target, choice);
  std::size_t depth = order.size();
  const std::int64_t block_of_reduction = reduction_block(*anatomy, tile, target, choice);
  if (block_of_reduction > 0) {
    // Weights are read once, a block at a time: channels outside, then the blocks, then the positions.
    const std::string channels = outer.name + ".0", reduced = anatomy->reduced.front().name;
    if (!attempt(changed, schedule::Split{reduced, {schedule::kRest, block_of_reduction}})) return false;
    std::erase(order, channels);
    order.insert(order.begin(), {channels, reduced + ".0"});
    depth = 1;
    order.push_back(reduced + ".1");
  } else {
    order.push_back(anatomy->reduced.front().name);
  }
  for (std::size_t i = 1; i < anatomy->reduced.size(); ++i) order.push_back(anatomy->reduced[i].name);
  const std::string last_step = order.back();
  const bool unrolls = choice.unroll > 1 && anatomy->has_products &&
                       attempt(changed, schedule::Split{last_step, {schedule::kRest, choice.unroll}});
  if (unrolls) {
    order.back() = last_step + ".0";
    order.push_back(last_step + ".1");
  }
  if (anatomy->row) order.push_back(anatomy->row->name + ".1");
  order.push_back(outer.name + ".1");
  order.push_back(anatomy->lanes.inner.name);
  if (!attempt(changed, schedule::Reorder{order})) return false;
  if (!attempt(changed, schedule::Vectorize{anatomy->lanes.inner.name})) return false;
  if (block_of_reduction > 0) fetch_ahead(changed, *anatomy, order);
  if (unrolls) attempt(changed, schedule::Unroll{last_step + ".1"});
  attempt(changed, schedule::Unroll{outer.name + ".1"});
  if (anatomy->row) attempt(changed, schedule::Unroll{anatomy->row->name + ".1"});
  if (!anatomy->has_products) {
    // Neighbouring positions load the same elements: written out, they are loaded once.
    std::int64_t copies = tile.rows;
    for (std::size_t i = anatomy->reduced.size(); i-- > 0;) {
      copies *= anatomy->reduced[i].extent;
      if (copies > 256) break;
      attempt(changed, schedule::Unroll{anatomy->reduced[i].name});
    }
  }
  const ir::Block found = schedule::find_block(changed.program(), block, "default")->block();
  attach_readers(changed, schedule::written_buffers(found)[0], order[depth - 1]);
  parallelize(changed, block, depth, target);
  draft = std::move(changed);
  return true;
}

}  // namespace hone::space
