#include "hone/space/sketch/plain.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/codegen/reduce_lanes.h"
#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/space/layout.h"
#include "hone/space/sketch/analysis.h"
#include "hone/space/sketch/building.h"
#include "hone/space/sketch/factors.h"

namespace hone::space {
namespace {

/// What `where` and `sums` decide for; see plain_action.
enum Where : std::int64_t { kRoot, kInline, kAtLoop };
enum Sums : std::int64_t { kOneSum, kLanes, kParts };

constexpr std::size_t kMostPlaces = 6;

/// The blocks that read what a block makes.
std::vector<std::string> readers_of(const Program& program, const std::string& block) {
  std::vector<std::string> names;
  const Result<schedule::Path> path = schedule::find_block(program, block, "sketch");
  if (!path) return names;
  for (const ir::Expr& buffer : schedule::written_buffers(path->block()))
    for (const schedule::Path& reader : schedule::readers(program, buffer)) names.push_back(reader.block().name);
  return names;
}

bool is_output(const Program& program, const std::string& block) {
  const std::vector<ir::Expr> written =
      schedule::written_buffers(schedule::find_block(program, block, "sketch")->block());
  return std::any_of(written.begin(), written.end(),
                     [&](const ir::Expr& buffer) { return schedule::is_param(program, buffer); });
}

/// Whether what reads a block uses each element few times only: lane by lane, as windows do.
bool is_used_once(const Program& program, const std::string& block) {
  const std::vector<std::string> readers = readers_of(program, block);
  return std::all_of(readers.begin(), readers.end(), [&](const std::string& reader) {
    const std::vector<NaiveLoop> loops = naive_loops(program, reader);
    const std::optional<Lanes> lanes = lanes_of(loops);
    const std::vector<Read> reads = reads_of(schedule::find_block(program, reader, "sketch")->block());
    return lanes && std::all_of(reads.begin(), reads.end(), [&](const Read& r) { return r.uses(lanes->inner); });
  });
}

std::vector<Factors> place_options(const Program& program, const std::string& block) {
  std::vector<Factors> options = {{kRoot}};
  if (is_output(program, block)) return options;
  const std::vector<std::string> readers = readers_of(program, block);
  if (readers.empty()) return options;
  const bool is_reduction = schedule::is_reduction(schedule::find_block(program, block, "sketch")->block());
  if (!is_reduction && schedule::compute_inline(program, block)) options.push_back({kInline});
  constexpr std::size_t kTileLevels = 3;
  std::size_t places = kMostPlaces;
  for (const std::string& reader : readers) {
    const BlockParts parts = parts_of(program, reader);
    const bool is_tiled = parts.is_naive && parts.is_reduction() && needs_tiling(parts);
    places = std::min(places, is_tiled ? kTileLevels : schedule::loops_of(program, reader).size());
  }
  for (std::size_t i = 0; i < places; ++i) options.push_back({kAtLoop + static_cast<std::int64_t>(i)});
  return options;
}

std::vector<Factors> sum_options(const BlockParts& parts, const codegen::Target& target) {
  std::vector<Factors> options = {{kOneSum, 1}};
  if (!parts.is_naive || !parts.is_reduction()) return options;
  const NaiveLoop& inner = parts.reduced.back();
  const std::int64_t lanes = target.lanes(std::max(32, parts.written.type().bits()));
  for (const std::int64_t vectors : {1, 2, 4})
    if (inner.extent >= 2 * lanes * vectors) options.push_back({kLanes, lanes * vectors});
  if (target.threads > 1 && needs_rfactor(parts, target) && parts.reduced.front().extent >= 4 * target.threads)
    for (const int share : {1, 4}) options.push_back({kParts, static_cast<std::int64_t>(target.threads) * share});
  return options;
}

/// The loops below which a block may be computed: the ends of the levels of what reads it if that is tiled.
std::vector<std::string> places_of(const Building& building, const std::string& block) {
  std::vector<std::string> loops = schedule::locations(building.program(), block);
  std::erase_if(loops, [&](const std::string& loop) {
    return schedule::find_loop(building.program(), loop, "sketch")->loop().how != ir::ForKind::Serial;
  });
  for (const std::string& reader : readers_of(building.program(), block)) {
    const auto tiled = building.levels.find(reader);
    if (tiled == building.levels.end()) continue;
    std::erase_if(loops, [&](const std::string& loop) {
      return std::find(tiled->second.begin(), tiled->second.end(), loop) == tiled->second.end();
    });
  }
  return loops;
}

/// Cuts a sum into `width` partial sums, which are added in the end.
Result<void> cut_into_lanes(Building& building, const std::string& block, std::int64_t width) {
  const std::string inner = schedule::loops_of(building.program(), block).back();
  HONE_TRY(const std::vector<std::string> parts, split_loop(building, block, inner, {schedule::kRest, width}));
  HONE_TRY(building.apply(schedule::Rfactor{block, parts[1]}));
  // The lanes of one sum stand side by side.
  HONE_TRY(const schedule::Path partial, schedule::find_block(building.program(), block + ".rf", "sketch"));
  const ir::Expr buffer = schedule::written_buffers(partial.block())[0];
  std::vector<std::string> axes;
  for (std::size_t i = 1; i < buffer.get<ir::Buffer>().shape.size(); ++i) axes.push_back(fmt::format("d{}", i));
  if (axes.empty()) return {};
  return building.apply(
      schedule::TransformLayout{ir::name_of(buffer), fmt::format("(l, {0}) -> ({0}, l)", fmt::join(axes, ", "))});
}

/// Adds up the partial sums of cut_into_lanes side by side, where the block now is.
Result<void> sum_in_lanes(Building& building, const std::string& block) {
  const std::string partial = block + ".rf";
  // The partial sums of one element are made right before they are added.
  const Result<schedule::Path> path = schedule::find_block(building.program(), block, "sketch");
  std::string last_spatial;
  for (const ir::Stmt& s : path->loops()) {
    const ir::For& loop = s.get<ir::For>();
    const bool is_spatial = std::any_of(path->block().iters.begin(), path->block().iters.end(), [&](const ir::Iter& i) {
      return i.kind == ir::IterKind::Spatial && ir::uses(i.binding, loop.var);
    });
    if (is_spatial) last_spatial = ir::name_of(loop.var);
  }
  const std::vector<std::string> around = schedule::loops_of(building.program(), partial);
  if (!last_spatial.empty() && std::find(around.begin(), around.end(), last_spatial) == around.end())
    HONE_TRY(building.apply(schedule::ComputeAt{partial, last_spatial}));
  const Result<schedule::Path> rf = schedule::find_block(building.program(), partial, "sketch");
  const ir::Expr lane = rf->block().iters.front().binding;
  std::vector<std::string> order;
  std::string lane_loop;
  for (const ir::Stmt& s : rf->loops()) {
    const ir::For& loop = s.get<ir::For>();
    if (ir::uses(lane, loop.var)) {
      lane_loop = ir::name_of(loop.var);
      order.clear();
    } else if (!lane_loop.empty()) {
      order.push_back(ir::name_of(loop.var));
    }
  }
  if (lane_loop.empty()) return {};
  order.push_back(lane_loop);
  if (order.size() > 1) HONE_TRY(building.apply(schedule::Reorder{order}));
  HONE_TRY(building.apply(schedule::Vectorize{lane_loop}));
  const std::string last = schedule::loops_of(building.program(), block).back();
  return building.apply(schedule::Annotate{last, std::string(codegen::kReduceLanes), "1"});
}

/// Adds up `parts` partial sums in parallel.
Result<void> sum_in_parts(Building& building, const std::string& block, std::int64_t parts, std::int64_t lanes) {
  const Result<schedule::Path> path = schedule::find_block(building.program(), block, "sketch");
  std::string outer;
  for (const ir::Stmt& s : path->loops()) {
    const ir::For& loop = s.get<ir::For>();
    const bool is_reduced = std::any_of(path->block().iters.begin(), path->block().iters.end(), [&](const ir::Iter& i) {
      return i.kind == ir::IterKind::Reduce && ir::uses(i.binding, loop.var);
    });
    if (is_reduced && outer.empty()) outer = ir::name_of(loop.var);
  }
  HONE_TRY(const std::vector<std::string> loops, split_loop(building, block, outer, {parts, schedule::kRest}));
  HONE_TRY(building.apply(schedule::Rfactor{block, loops[0]}));
  const std::string partial = block + ".rf";
  const std::vector<std::string> around = schedule::loops_of(building.program(), partial);
  if (extent_of(building.program(), around.back()) >= 2 * lanes) {
    HONE_TRY(cut_into_lanes(building, partial, lanes));
    HONE_TRY(sum_in_lanes(building, partial));
  }
  return run_parallel(building, {schedule::loops_of(building.program(), partial).front()});
}

}  // namespace

Action plain_action(const Program& program, const std::string& block, const RuleContext& context) {
  const BlockParts parts = parts_of(program, block);
  Action action{.block = block};
  const auto add = [&](std::string_view what, std::vector<Factors> options, std::size_t first) {
    action.knobs.push_back({fmt::format("{}.{}", block, what), std::move(options)});
    action.first.push_back(first);
    return action.knobs.back().name;
  };
  if (parts.is_empty) return action;
  std::vector<Factors> places = place_options(program, block);
  const std::size_t first_place = places.size() > 1 && places[1][0] == kInline && is_used_once(program, block) ? 1 : 0;
  const std::string where = add("where", std::move(places), first_place);
  const std::string sums = add("sums", sum_options(parts, context.target), 0);
  action.first.back() = action.knobs.back().options.size() > 1 ? 1 : 0;
  std::string parallel;
  if (context.target.threads > 1 && parts.is_naive && !parts.spatial.empty()) {
    std::vector<Factors> counts;
    for (std::size_t i = 0; i <= parts.spatial.size(); ++i) counts.push_back({static_cast<std::int64_t>(i)});
    constexpr std::int64_t kParallelWork = 1 << 13;
    parallel = add("parallel", std::move(counts), parts.iterations() >= kParallelWork ? 1 : 0);
  }
  const std::int64_t lanes = context.target.lanes(32);

  action.apply = [=](Building& building) -> Result<void> {
    const std::int64_t place = building.decided(where)[0];
    if (place == kInline) return building.apply(schedule::ComputeInline{block});
    const std::vector<std::int64_t>& sum = building.decided(sums);
    if (sum[0] == kLanes) HONE_TRY(cut_into_lanes(building, block, sum[1]));
    std::string loop;
    if (place >= kAtLoop) {
      const std::vector<std::string> loops = places_of(building, block);
      if (!loops.empty()) loop = loops[std::min(static_cast<std::size_t>(place - kAtLoop), loops.size() - 1)];
      if (!loop.empty()) HONE_TRY(building.apply(schedule::ComputeAt{block, loop}));
    }
    if (sum[0] == kLanes) return sum_in_lanes(building, block);
    if (sum[0] == kParts && loop.empty()) return sum_in_parts(building, block, sum[1], lanes);
    return {};
  };
  action.finish = [=](Building& building) -> Result<void> {
    const Result<schedule::Path> path = schedule::find_block(building.program(), block, "sketch");
    if (!path) return {};  // inlined
    const std::vector<ir::Stmt> around = path->loops();
    std::vector<std::string> outer;
    const auto count = parallel.empty() ? 0 : static_cast<std::size_t>(building.decided(parallel)[0]);
    const bool is_at_root = building.decided(where)[0] == kRoot && building.decided(sums)[0] != kParts;
    for (const ir::Stmt& s : around) {
      const ir::For& loop = s.get<ir::For>();
      if (!is_at_root || outer.size() == count || loop.how != ir::ForKind::Serial) break;
      outer.push_back(ir::name_of(loop.var));
      if (!loop.body.as<ir::For>()) break;
    }
    // The innermost loop is for vectors, unless it is the only one.
    const bool is_reduction = schedule::is_reduction(path->block());
    if (!is_reduction && outer.size() == around.size() && around.size() > 1) outer.pop_back();
    if (!is_reduction && around.size() > outer.size()) {
      std::string place;
      for (const ir::Stmt& s : around)  // the loops that it shares with others stay as they are
        if (schedule::blocks_below(schedule::Path{{s}}).size() > 1) place = ir::name_of(s.get<ir::For>().var);
      HONE_TRY(vectorize_innermost(building, block, outer.empty() ? place : outer.back()));
    }
    return run_parallel(building, std::move(outer));
  };
  return action;
}

}  // namespace hone::space
