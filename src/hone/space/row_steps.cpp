#include "hone/space/row_steps.h"

#include <fmt/format.h>

#include "hone/codegen/reduce_lanes.h"
#include "hone/schedule/primitives.h"
#include "hone/space/blocks.h"

namespace hone::space {

using namespace schedule;

std::vector<std::string> own_loops(const Program& program, const std::string& block) {
  std::vector<std::string> all = loops_of(program, block);
  const std::size_t count = find_block(program, block, "rows")->block().iters.size();
  all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(std::min(count, all.size())));
  return all;
}

Result<void> factor_lanes(Schedule& schedule, const std::string& block, const codegen::Target& target) {
  const ir::Block found = find_block(schedule.program(), block, "rows")->block();
  if (written_buffers(found).size() != 1) return {};
  const NaiveLoop last = naive_loops(schedule.program(), block).back();
  const std::int64_t lanes = target.lanes(written_buffers(found)[0].type().bits());
  if (last.extent < lanes || lanes < 2) return {};
  const std::int64_t vectors = last.extent >= 16 * lanes ? 4 : last.extent >= 4 * lanes ? 2 : 1;
  HONE_TRY(schedule.apply(Split{last.name, {kRest, vectors * lanes}}));
  HONE_TRY(schedule.apply(Rfactor{block, last.name + ".1"}));
  // The lanes of a row stand side by side.
  const Path partial = *find_block(schedule.program(), block + ".rf", "rows");
  const ir::Expr buffer = written_buffers(partial.block())[0];
  std::vector<std::string> axes;
  for (std::size_t i = 1; i < buffer.get<ir::Buffer>().shape.size(); ++i) axes.push_back(fmt::format("d{}", i));
  const std::string others = fmt::format("{}", fmt::join(axes, ", "));
  if (axes.empty()) return {};
  return schedule.apply(TransformLayout{ir::name_of(buffer), fmt::format("(l, {0}) -> ({0}, l)", others)});
}

Result<void> reduce_in_vectors(Schedule& schedule, const std::string& block) {
  const std::vector<std::string> loops = own_loops(schedule.program(), block);
  if (!block.ends_with(".rf")) return schedule.apply(Annotate{loops.back(), std::string(codegen::kReduceLanes), "1"});
  // The lanes are the first variable; they go innermost.
  const Path path = *find_block(schedule.program(), block, "rows");
  const ir::Expr lane = path.block().iters.front().binding;
  std::string lanes;
  for (const ir::Stmt& loop : path.loops())
    if (lane.is(loop.get<ir::For>().var)) lanes = ir::name_of(loop.get<ir::For>().var);
  if (lanes.empty()) return error(ErrorCode::IllegalStep, "rows: block '{}' has no loop over lanes", block);
  std::vector<std::string> order;
  for (const std::string& loop : loops)
    if (loop != lanes) order.push_back(loop);
  order.push_back(lanes);
  if (order.size() > 1) HONE_TRY(schedule.apply(Reorder{order}));
  return schedule.apply(Vectorize{lanes});
}

Result<void> compute_in_vectors(Schedule& schedule, const std::string& block, const codegen::Target& target) {
  const std::string last = loops_of(schedule.program(), block).back();
  const std::int64_t extent = ir::as_int(find_loop(schedule.program(), last, "rows")->loop().extent).value_or(0);
  const std::int64_t lanes = target.lanes(32);
  if (extent < 2) return {};
  if (extent <= lanes) return schedule.apply(Vectorize{last});
  HONE_TRY(schedule.apply(Split{last, {kRest, lanes}}));
  return schedule.apply(Vectorize{last + ".1"});
}

}  // namespace hone::space
