#include "hone/space/sketch/tile.h"

#include <memory>

#include "hone/ir/rewrite.h"
#include "hone/space/layout.h"
#include "hone/space/sketch/tiling.h"

namespace hone::space {
namespace {

Tiling look_at(const Program& program, const TilePlan& plan, const RuleContext& context) {
  Tiling tiling{.plan = plan, .tiles = context.tiles};
  const BlockParts parts = parts_of(program, plan.block);
  tiling.reads = parts.reads;
  for (const NaiveLoop& loop : parts.spatial) {
    if (loop.name == plan.vector_loop) tiling.vector_axis = tiling.axes.size();
    if (loop.extent > 1 || loop.name == plan.vector_loop)
      tiling.axes.push_back(loop);
    else
      tiling.single.push_back(loop.name);
  }
  for (const NaiveLoop& loop : parts.reduced) {
    if (loop.extent > 1)
      tiling.reduced.push_back(loop);
    else
      tiling.single_reduced.push_back(loop.name);
  }
  const NaiveLoop& lanes = tiling.axes[tiling.vector_axis];
  const auto runs_along_reduction = [&](const Read& read) {
    return std::any_of(parts.reduced.begin(), parts.reduced.end(),
                       [&](const NaiveLoop& loop) { return ir::uses(read.indices.back(), loop.var); });
  };
  for (const NaiveLoop& axis : tiling.axes)
    tiling.is_vector_side.push_back(
        std::all_of(tiling.reads.begin(), tiling.reads.end(),
                    [&](const Read& read) { return !read.uses(axis) || read.uses(lanes); }) &&
        !std::all_of(tiling.reads.begin(), tiling.reads.end(), [&](const Read& read) { return read.uses(axis); }));
  for (const Read& read : tiling.reads) {
    const std::string name = ir::name_of(read.buffer);
    if (read.indices.size() < 2) continue;
    if (context.is_constant(program, read.buffer)) {
      if (std::find(tiling.constants.begin(), tiling.constants.end(), name) == tiling.constants.end())
        tiling.constants.push_back(name);
    } else if (schedule::is_param(program, read.buffer) && plan.structure.size() > 3 &&
               (read.uses(lanes) || !runs_along_reduction(read)) &&
               std::find(tiling.copied.begin(), tiling.copied.end(), name) == tiling.copied.end()) {
      tiling.copied.push_back(name);
    }
  }
  tiling.runs_parallel = context.target.threads > 1;
  tiling.registers = context.target.vector_registers;
  int bits = 32;
  for (const Read& read : tiling.reads) bits = std::max(bits, read.buffer.type().bits());
  tiling.lanes = std::max(1, context.target.lanes(bits));
  return tiling;
}

}  // namespace

std::vector<std::string> vector_loops(const Program& program, const std::string& block, const RuleContext& context) {
  const BlockParts parts = parts_of(program, block);
  if (const std::optional<Lanes> lanes = lanes_of(naive_loops(program, block))) return {lanes->inner.name};
  std::vector<std::string> loops;
  for (std::size_t i = parts.spatial.size(); i-- > 0;) {
    const NaiveLoop& loop = parts.spatial[i];
    if (loop.extent < 2) continue;
    bool is_used = false;
    const bool is_in_rows = std::all_of(parts.reads.begin(), parts.reads.end(), [&](const Read& read) {
      is_used |= read.uses(loop);
      return read.is_strided_in(loop) || (context.is_constant(program, read.buffer) && read.indices.size() > 1);
    });
    if (is_in_rows && is_used) loops.push_back(loop.name);
  }
  if (loops.empty())
    for (std::size_t i = parts.spatial.size(); i-- > 0 && loops.empty();)
      if (parts.spatial[i].extent > 1) loops.push_back(parts.spatial[i].name);
  return loops;
}

Action tile_action(const Program& program, const TilePlan& plan, const RuleContext& context) {
  const auto tiling = std::make_shared<const Tiling>(look_at(program, plan, context));
  Knobs knobs = knobs_of(*tiling, context.target);
  Action action{.block = plan.block, .name = fmt::format("{}({})", plan.block, plan.vector_loop)};
  action.knobs = std::move(knobs.knobs);
  action.first = std::move(knobs.first);
  action.others = std::move(knobs.others);
  action.cost = knobs.cost;
  action.left_out = std::move(knobs.left_out);
  action.apply = [tiling](Building& building) { return build_tiles(*tiling, building); };
  action.finish = [tiling](Building& building) { return run_tiles_parallel(*tiling, building); };
  return action;
}

}  // namespace hone::space
