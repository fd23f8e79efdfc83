#include "hone/space/sketch/plain.h"

#include <algorithm>
#include <fmt/format.h>

#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/space/layout.h"
#include "hone/space/loop_steps.h"
#include "hone/space/sketch/analysis.h"
#include "hone/space/sketch/factors.h"
#include "hone/space/sketch/partial_sums.h"

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
  const Vectors runs_along = runs_along_space(parts) ? Vectors::AlongSpace : Vectors::AlongSum;

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
    if (sum[0] == kParts && loop.empty()) return sum_in_parts(building, block, sum[1], lanes, runs_along);
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
      HONE_TRY(vectorize_innermost(building.schedule, block, outer.empty() ? place : outer.back()));
    }
    return run_parallel(building.schedule, std::move(outer));
  };
  return action;
}

}  // namespace hone::space
