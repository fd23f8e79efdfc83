/// Sums that the threads of a block share: each adds up a part, and leaves it in shared memory for one to add.
#include <algorithm>
#include <fmt/format.h>

#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/space/gpu_steps.h"
#include "hone/space/loop_steps.h"
#include "hone/space/sketch/analysis.h"
#include "hone/space/sketch/gpu_actions.h"

namespace hone::space {
namespace {

using Names = std::vector<std::string>;

Knob threads_knob(std::string name, const codegen::Target& target) {
  Knob knob{std::move(name), {}};
  for (const std::int64_t count : thread_counts(target)) knob.options.push_back({count});
  return knob;
}

/// The loop around the partial sums that runs over the threads: the one that their first axis stands at.
Result<std::string> thread_loop(const Program& program, const std::string& partial) {
  HONE_TRY(const schedule::Path path, schedule::find_block(program, partial, "sketch"));
  const ir::Expr& thread = path.block().iters.front().binding;
  for (const ir::Stmt& s : path.loops())
    if (ir::uses(thread, s.get<ir::For>().var)) return ir::name_of(s.get<ir::For>().var);
  return error(ErrorCode::IllegalStep, "cross thread: block '{}' has no loop over threads", partial);
}

/// Moves the loop over the threads outside all other loops below `outer` ("": outside all), and binds it.
Result<void> bind_threads(Building& building, const std::string& partial, const std::string& outer) {
  HONE_TRY(const std::string threads, thread_loop(building.program(), partial));
  Names order = schedule::loops_of(building.program(), partial);
  const auto place = std::find(order.begin(), order.end(), outer);
  if (place != order.end()) order.erase(order.begin(), place + 1);
  std::erase(order, threads);
  order.insert(order.begin(), threads);
  if (order.size() > 1) HONE_TRY(building.apply(schedule::Reorder{order}));
  return building.apply(schedule::Bind{threads, ir::ForKind::ThreadX});
}

Result<void> set_shared(Building& building, const std::string& block) {
  HONE_TRY(const schedule::Path path, schedule::find_block(building.program(), block, "sketch"));
  for (const ir::Expr& buffer : schedule::written_buffers(path.block()))
    if (!schedule::is_param(building.program(), buffer))
      HONE_TRY(building.apply(schedule::SetScope{ir::name_of(buffer), ir::Scope::Shared}));
  return {};
}

/// Each element of a sum at the root is one block of threads; gives the loop over them.
Result<std::string> bind_elements(Building& building, const std::string& block) {
  const BlockParts parts = parts_of(building.program(), block);
  Names loops;
  for (const NaiveLoop& loop : parts.spatial) loops.push_back(loop.name);
  return bind_fused(building.schedule, block, loops, ir::ForKind::BlockX);
}

}  // namespace

std::string gpu_rows_knob(const std::string& block) { return fmt::format("{}.row threads", block); }

Action gpu_rows_action(const Program& program, const std::string& block, std::size_t common,
                       const RuleContext& context) {
  Names rows, columns;
  for (const NaiveLoop& loop : parts_of(program, block).spatial)
    (rows.size() < common ? rows : columns).push_back(loop.name);
  Action action{.block = block, .name = fmt::format("{}(rows)", block), .has_tiles = false};
  action.knobs = {threads_knob(gpu_rows_knob(block), context.target)};
  action.first = {0};
  action.apply = [=](Building& building) -> Result<void> {
    const std::int64_t threads = building.decided(gpu_rows_knob(block))[0];
    HONE_TRY(const std::string all, fuse_loops(building.schedule, block, columns));
    HONE_TRY(const Names levels, split_loop(building.schedule, block, all, {schedule::kRest, threads}));
    HONE_TRY(building.apply(schedule::Bind{levels[1], ir::ForKind::ThreadX}));
    HONE_TRY(const std::string row, bind_fused(building.schedule, block, rows, ir::ForKind::BlockX));
    building.levels[block] = {row};
    return {};
  };
  return action;
}

Action gpu_cross_thread_action(const Program& program, const std::string& block,
                               const std::optional<std::string>& consumer, const RuleContext& context) {
  Names spatial, reduced;
  for (const NaiveLoop& loop : naive_loops(program, block))
    (loop.is_reduction ? reduced : spatial).push_back(loop.name);
  Action action{.block = block, .name = fmt::format("{}(threads)", block), .has_tiles = false};
  const std::string threads = consumer ? gpu_rows_knob(*consumer) : fmt::format("{}.threads", block);
  if (!consumer) action.knobs.push_back(threads_knob(threads, context.target));
  const std::string unroll = fmt::format("{}.unroll", block);
  action.knobs.push_back({unroll, {{0}, {16}, {64}, {512}, {1024}}});
  action.first.assign(action.knobs.size(), 0);
  action.apply = [=](Building& building) -> Result<void> {
    HONE_TRY(const std::string all, fuse_loops(building.schedule, block, reduced));
    HONE_TRY(const Names parts,
             split_loop(building.schedule, block, all, {schedule::kRest, building.decided(threads)[0]}));
    if (const std::int64_t budget = building.decided(unroll)[0]; budget > 0)
      HONE_TRY(building.apply(schedule::Annotate{parts[0], "unroll", std::to_string(budget)}));
    HONE_TRY(building.apply(schedule::Rfactor{block, parts[1]}));
    const std::string partial = block + ".rf";
    std::string place;
    if (consumer) {
      place = building.levels[*consumer].front();
      HONE_TRY(building.apply(schedule::ComputeAt{block, place}));
      HONE_TRY(set_shared(building, block));
    } else if (!spatial.empty()) {
      HONE_TRY(place, bind_elements(building, block));
    }
    if (!place.empty()) {
      HONE_TRY(building.apply(schedule::ComputeAt{partial, place}));
      HONE_TRY(set_shared(building, partial));
    }
    return bind_threads(building, partial, place);
  };
  return action;
}

}  // namespace hone::space
