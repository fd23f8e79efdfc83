#include "hone/space/sketch/partial_sums.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/codegen/reduce_lanes.h"
#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/space/loop_steps.h"

namespace hone::space {
namespace {

/// The loops around a block that its variables of a kind run through, outermost first.
std::vector<std::string> loops_over(const Program& program, const std::string& block, ir::IterKind kind) {
  const Result<schedule::Path> path = schedule::find_block(program, block, "sketch");
  std::vector<std::string> names;
  if (!path) return names;
  for (const ir::Stmt& s : path->loops()) {
    const ir::Expr& var = s.get<ir::For>().var;
    const bool is_used = std::any_of(path->block().iters.begin(), path->block().iters.end(),
                                     [&](const ir::Iter& i) { return i.kind == kind && ir::uses(i.binding, var); });
    if (is_used) names.push_back(ir::name_of(var));
  }
  return names;
}

}  // namespace

Result<void> cut_into_lanes(Building& building, const std::string& block, std::int64_t width) {
  const std::string inner = schedule::loops_of(building.program(), block).back();
  HONE_TRY(const std::vector<std::string> parts, split_loop(building.schedule, block, inner, {schedule::kRest, width}));
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

Result<void> sum_in_lanes(Building& building, const std::string& block) {
  const std::string partial = block + ".rf";
  // The partial sums of one element are made right before they are added.
  const std::vector<std::string> spatial = loops_over(building.program(), block, ir::IterKind::Spatial);
  const std::string last_spatial = spatial.empty() ? "" : spatial.back();
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

Result<void> sum_in_parts(Building& building, const std::string& block, std::int64_t parts, std::int64_t lanes,
                          Vectors vectors) {
  const std::string outer = loops_over(building.program(), block, ir::IterKind::Reduce).front();
  HONE_TRY(const std::vector<std::string> loops, split_loop(building.schedule, block, outer, {parts, schedule::kRest}));
  HONE_TRY(building.apply(schedule::Rfactor{block, loops[0]}));
  const std::string partial = block + ".rf";
  const std::vector<std::string> around = schedule::loops_of(building.program(), partial);
  if (vectors == Vectors::AlongSpace) {
    const std::vector<std::string> spatial = loops_over(building.program(), partial, ir::IterKind::Spatial);
    std::vector<std::string> order = loops_over(building.program(), partial, ir::IterKind::Reduce);
    order.push_back(spatial.back());
    if (order.size() > 1) HONE_TRY(building.apply(schedule::Reorder{order}));
    if (spatial.size() > 1) HONE_TRY(building.apply(schedule::Vectorize{spatial.back()}));
  } else if (extent_of(building.program(), around.back()) >= 2 * lanes) {
    HONE_TRY(cut_into_lanes(building, partial, lanes));
    HONE_TRY(sum_in_lanes(building, partial));
  }
  return run_parallel(building.schedule, {schedule::loops_of(building.program(), partial).front()});
}

}  // namespace hone::space
