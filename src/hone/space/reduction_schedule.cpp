#include "hone/space/reduction_schedule.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

/// The register tile: `rows` times `vectors` accumulators.
struct RegisterTile {
  std::int64_t rows = 1, vectors = 1, lanes = 1;
};

/// The tile with the least work wasted on tails, of those that fit the registers; between equals the one that loads
/// least for each multiplication.
RegisterTile choose_tile(std::int64_t row_extent, std::int64_t vector_extent, const codegen::Target& target, int bits,
                         const TileChoice& choice) {
  const std::int64_t accumulators = target.vector_registers >= 32 ? 26 : 12;
  RegisterTile best;
  std::int64_t lanes = target.lanes(bits);
  while (lanes > 2 && lanes / 2 >= vector_extent) lanes /= 2;
  best.lanes = lanes;
  if (choice.rows > 0 && choice.vectors > 0)
    return {std::min(choice.rows, row_extent), std::min(choice.vectors, ceil_div(vector_extent, lanes)), lanes};
  double best_cost = 1e30;
  for (std::int64_t vectors = 1; vectors <= std::min<std::int64_t>(4, ceil_div(vector_extent, lanes)); ++vectors)
    for (std::int64_t rows = 1; rows <= std::min<std::int64_t>(14, row_extent) && rows * vectors <= accumulators;
         ++rows) {
      const double waste = static_cast<double>(ceil_div(row_extent, rows) * rows) / static_cast<double>(row_extent) *
                           static_cast<double>(ceil_div(vector_extent, vectors * lanes) * vectors * lanes) /
                           static_cast<double>(vector_extent);
      const double loads = 1.0 / static_cast<double>(rows) + 1.0 / static_cast<double>(vectors);
      const double latency = std::max(1.0, 8.0 / static_cast<double>(rows * vectors));  // of the multiply-add units
      const double cost = waste * (1.0 + 0.4 * loads) * latency;
      if (cost < best_cost) {
        best_cost = cost;
        best = {rows, vectors, lanes};
      }
    }
  return best;
}

/// The map that puts axis `axis` into panels: "(d0, d1) -> (d0 // 64, d1, d0 % 64)".
std::string panel_map(std::size_t rank, std::size_t axis, std::int64_t width) {
  std::vector<std::string> from, to;
  for (std::size_t i = 0; i < rank; ++i) {
    from.push_back(fmt::format("d{}", i));
    if (i != axis) to.push_back(from.back());
  }
  return fmt::format("({}) -> (d{} // {}, {}, d{} % {})", fmt::join(from, ", "), axis, width, fmt::join(to, ", "), axis,
                     width);
}

/// The only index that is the loop's variable and nothing else, all others not using it.
std::optional<std::size_t> plain_axis(const Read& read, const NaiveLoop& loop) {
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < read.indices.size(); ++i) {
    if (read.indices[i].is(loop.var) && !axis)
      axis = i;
    else if (ir::uses(read.indices[i], loop.var))
      return std::nullopt;
  }
  return axis;
}

/// Packs what is read along the vector axis so that each register tile finds its columns side by side. False if a read
/// stays that cannot be vectorized.
bool pack_columns(Schedule& draft, const std::string& block, const std::vector<Read>& reads, const NaiveLoop& column,
                  const RegisterTile& tile, std::int64_t reuse, std::span<const std::size_t> constants) {
  const std::int64_t width = tile.vectors * tile.lanes;
  for (const Read& read : reads) {
    if (!read.uses(column)) continue;
    const std::optional<std::size_t> axis = plain_axis(read, column);
    const bool is_packed_well = read.is_strided_in(column);
    const bool pays = read.indices.size() == 2 && column.extent > width;
    if (axis && read.indices.size() >= 2 && read.is_constant(draft.program(), constants) && (!is_packed_well || pays)) {
      const std::string name = ir::name_of(read.buffer);
      if (attempt(draft, schedule::TransformLayout{name, panel_map(read.indices.size(), *axis, width)})) continue;
    }
    if (is_packed_well) continue;
    if (!axis || read.indices.size() < 2 || reuse < 8) return false;
    const std::string copy = ir::name_of(read.buffer) + ".global";
    if (!attempt(draft, schedule::CacheRead{block, ir::name_of(read.buffer), ir::Scope::Global})) return false;
    if (!attempt(draft, schedule::TransformLayout{copy, panel_map(read.indices.size(), *axis, width)})) return false;
  }
  return true;
}

/// The packed buffers that the block reads and that are larger than this.
std::vector<std::string> packed_beyond(const Program& program, const std::string& block, std::int64_t bytes) {
  std::vector<std::string> names;
  for (const Read& read : reads_of(schedule::find_block(program, block, "default")->block())) {
    const std::string name = ir::name_of(read.buffer);
    if (name.ends_with(".packed") && read.elements() * read.buffer.type().bits() / 8 > bytes) names.push_back(name);
  }
  return names;
}

}  // namespace

bool tile_for_registers(Schedule& draft, const std::string& block, std::span<const std::size_t> constants,
                        const codegen::Target& target, const TileChoice& choice) {
  const std::vector<NaiveLoop> loops = naive_loops(draft.program(), block);
  std::vector<NaiveLoop> spatial, reduced;
  for (const NaiveLoop& loop : loops) (loop.is_reduction ? reduced : spatial).push_back(loop);
  if (spatial.empty() || reduced.empty()) return false;
  const ir::Block found = schedule::find_block(draft.program(), block, "default")->block();
  const std::vector<Read> reads = reads_of(found);
  const NaiveLoop column = spatial.back();
  if (column.extent < 2 || reads.empty()) return false;

  // Rows: the largest axis that does not move the reads of the columns, so that these are used again.
  const NaiveLoop* row = nullptr;
  for (const NaiveLoop& loop : spatial) {
    if (loop.var.is(column.var) || loop.extent < 2) continue;
    const bool reuses = std::none_of(reads.begin(), reads.end(),
                                     [&](const Read& read) { return read.uses(column) && read.uses(loop); });
    if (reuses && (!row || loop.extent > row->extent)) row = &loop;
  }
  const std::int64_t reuse = row ? row->extent : 1;
  if (!row)
    for (const NaiveLoop& loop : spatial)
      if (!loop.var.is(column.var) && loop.extent > 1) row = &loop;

  const int bits = std::max(32, schedule::written_buffers(found)[0].type().bits());
  const RegisterTile tile = choose_tile(row ? row->extent : 1, column.extent, target, bits, choice);
  Schedule changed = draft;
  if (!pack_columns(changed, block, reads, column, tile, reuse, constants)) return false;

  if (!attempt(changed, schedule::Split{column.name, {schedule::kRest, tile.vectors, tile.lanes}})) return false;
  if (row && !attempt(changed, schedule::Split{row->name, {schedule::kRest, tile.rows}})) return false;
  std::int64_t column_bytes = 0, row_bytes = 0;
  for (const Read& read : reads) (read.uses(column) ? column_bytes : row_bytes) += read.elements();

  // Whichever operand is larger is walked by the outer loop, so that its tile stays in the cache.
  const bool columns_outside =
      choice.order == 0 ? column_bytes >= row_bytes : choice.order == TileChoice::ColumnsOutside;
  std::vector<std::string> order, moves_columns;
  for (const NaiveLoop& loop : spatial) {
    if (loop.var.is(column.var) || (row && loop.var.is(row->var))) continue;
    const bool is_shared = std::all_of(reads.begin(), reads.end(), [&](const Read& read) { return read.uses(loop); });
    (is_shared ? order : moves_columns).push_back(loop.name);
  }
  const std::string outer_column = column.name + ".0";
  if (columns_outside) {
    order.insert(order.end(), moves_columns.begin(), moves_columns.end());
    order.push_back(outer_column);
    if (row) order.push_back(row->name + ".0");
  } else {
    if (row) order.push_back(row->name + ".0");
    order.insert(order.end(), moves_columns.begin(), moves_columns.end());
    order.push_back(outer_column);
  }
  const std::size_t depth = order.size();
  // Columns that come from beyond the L2 are fetched a tile ahead, a share with every few steps of the reduction.
  constexpr std::int64_t kSteps = 4;
  const std::vector<std::string> streamed = packed_beyond(changed.program(), block, target.l2_bytes / 2);
  const NaiveLoop& innermost = reduced.back();
  const bool fetches = !streamed.empty() && columns_outside && row && row->extent > tile.rows &&
                       innermost.extent >= 16 * kSteps && innermost.extent % kSteps == 0;
  if (fetches && !attempt(changed, schedule::Split{innermost.name, {schedule::kRest, kSteps}})) return false;
  for (const NaiveLoop& loop : reduced)
    if (!fetches || !loop.var.is(innermost.var)) order.push_back(loop.name);
  if (fetches) order.insert(order.end(), {innermost.name + ".0", innermost.name + ".1"});
  const bool unrolls = !fetches && choice.unroll > 1 &&
                       attempt(changed, schedule::Split{innermost.name, {schedule::kRest, choice.unroll}});
  if (unrolls) {
    order.back() = innermost.name + ".0";
    order.push_back(innermost.name + ".1");
  }
  if (row) order.push_back(row->name + ".1");
  order.push_back(column.name + ".1");
  order.push_back(column.name + ".2");
  if (!attempt(changed, schedule::Reorder{order})) return false;
  if (!attempt(changed, schedule::Vectorize{column.name + ".2"})) return false;
  if (fetches) {
    for (const std::string& name : streamed)
      attempt(changed, schedule::SpreadPrefetch{name, outer_column, innermost.name + ".0", 1});
    attempt(changed, schedule::Unroll{innermost.name + ".1"});
  }
  if (unrolls) attempt(changed, schedule::Unroll{innermost.name + ".1"});
  attempt(changed, schedule::Unroll{column.name + ".1"});
  if (row) attempt(changed, schedule::Unroll{row->name + ".1"});

  // What reads the result element by element follows each tile.
  const ir::Expr result = schedule::written_buffers(found)[0];
  for (const schedule::Path& reader : schedule::readers(changed.program(), result)) {
    const std::string name = reader.block().name;
    if (schedule::is_reduction(reader.block())) continue;
    if (attempt(changed, schedule::ReverseComputeAt{name, order[depth - 1]})) vectorize_last(changed, name, target);
    break;
  }
  parallelize(changed, block, depth, target);
  draft = std::move(changed);
  return true;
}

bool reduce_rows(Schedule& draft, const std::string& block, const codegen::Target& target) {
  const std::vector<NaiveLoop> loops = naive_loops(draft.program(), block);
  if (loops.empty() || !loops.back().is_reduction) return false;
  const NaiveLoop inner = loops.back();
  const ir::Block found = schedule::find_block(draft.program(), block, "default")->block();
  const std::vector<Read> reads = reads_of(found);
  const bool is_along_row =
      std::any_of(reads.begin(), reads.end(), [&](const Read& r) { return r.is_contiguous_in(inner); });
  const std::int64_t lanes = target.lanes(32);
  if (!is_along_row || inner.extent < 2 * lanes) return false;
  Schedule changed = draft;
  std::size_t spatial = 0;
  while (!loops[spatial].is_reduction) ++spatial;
  if (!attempt(changed, schedule::Split{inner.name, {schedule::kRest, lanes}})) return false;
  if (!attempt(changed, schedule::Rfactor{block, inner.name + ".1"})) return false;
  const std::string partial = block + ".rf";
  // The partial results of one row are computed right before they are summed.
  const std::vector<std::string> outer = schedule::loops_of(changed.program(), block);
  if (spatial > 0 && !attempt(changed, schedule::ComputeAt{partial, outer[spatial - 1]})) return false;
  std::vector<std::string> around = schedule::loops_of(changed.program(), partial);
  // The lanes go innermost.
  const Result<schedule::Path> path = schedule::find_block(changed.program(), partial, "default");
  if (!path) return false;
  const ir::Expr lane_binding = path->block().iters.front().binding;
  std::string lane_loop;
  for (const ir::Stmt& loop : path->loops())
    if (ir::uses(lane_binding, loop.get<ir::For>().var)) lane_loop = ir::name_of(loop.get<ir::For>().var);
  if (lane_loop.empty()) return false;
  std::vector<std::string> order;
  for (std::size_t i = spatial; i < around.size(); ++i)
    if (around[i] != lane_loop) order.push_back(around[i]);
  order.push_back(lane_loop);
  if (order.size() > 1 && !attempt(changed, schedule::Reorder{order})) return false;
  if (!attempt(changed, schedule::Vectorize{lane_loop})) return false;
  parallelize(changed, block, spatial, target);
  draft = std::move(changed);
  return true;
}

}  // namespace hone::space
