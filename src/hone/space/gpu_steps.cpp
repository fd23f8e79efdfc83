#include "hone/space/gpu_steps.h"

#include <algorithm>

#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/space/loop_steps.h"
#include "hone/space/sketch/analysis.h"
#include "hone/space/winograd_schedule.h"

namespace hone::space {
namespace {

using Names = std::vector<std::string>;

/// The loops around a block below another of its loops.
Names loops_below(const Program& program, const std::string& block, const std::string& loop) {
  Names loops = schedule::loops_of(program, block);
  const auto place = std::find(loops.begin(), loops.end(), loop);
  if (place != loops.end()) loops.erase(loops.begin(), place + 1);
  return loops;
}

Result<void> bind_naive(Schedule& draft, const std::string& block, const BlockParts& parts, std::int64_t threads) {
  Names loops;
  std::int64_t elements = 1;
  for (const NaiveLoop& loop : parts.spatial) {
    loops.push_back(loop.name);
    elements *= loop.extent;
  }
  HONE_TRY(const std::string all, fuse_loops(draft, block, loops));
  if (elements <= threads) return draft.apply(schedule::Bind{all, ir::ForKind::ThreadX});
  HONE_TRY(const Names levels, split_loop(draft, block, all, {schedule::kRest, threads}));
  HONE_TRY(draft.apply(schedule::Bind{levels[0], ir::ForKind::BlockX}));
  return draft.apply(schedule::Bind{levels[1], ir::ForKind::ThreadX});
}

/// The largest extent of a variable that formulas depend on by cases: of Winograd's points there are eight.
constexpr std::int64_t kMostCases = 8;

}  // namespace

Result<std::string> fuse_loops(Schedule& draft, const std::string& block, const Names& loops) {
  if (loops.size() == 1) return loops[0];
  const Names before = schedule::loops_of(draft.program(), block);
  const auto place = std::find(before.begin(), before.end(), loops.front()) - before.begin();
  HONE_TRY(draft.apply(schedule::Fuse{loops}));
  return schedule::loops_of(draft.program(), block)[static_cast<std::size_t>(place)];
}

Result<std::string> bind_fused(Schedule& draft, const std::string& block, const Names& loops, ir::ForKind index) {
  HONE_TRY(std::string fused, fuse_loops(draft, block, loops));
  HONE_TRY(draft.apply(schedule::Bind{fused, index}));
  return fused;
}

void run_on_threads(Schedule& draft, const std::string& block, std::int64_t threads) {
  const BlockParts parts = parts_of(draft.program(), block);
  if (!parts.is_naive || parts.is_empty || parts.spatial.empty()) return;
  Schedule bound = draft;
  if (bind_naive(bound, block, parts, threads)) draft = std::move(bound);
}

std::vector<std::string> formula_loops(const Program& program, const std::string& block) {
  const BlockParts parts = parts_of(program, block);
  Names loops;
  if (!parts.is_naive || parts.is_empty || parts.is_reduction()) return loops;
  const Result<schedule::Path> path = schedule::find_block(program, block, "sketch");
  for (const NaiveLoop& loop : parts.spatial) {
    bool is_case = false;
    ir::walk(
        path->block().body, [](const ir::Stmt&) {},
        [&](const ir::Expr& e) {
          const ir::Select* select = e.as<ir::Select>();
          const ir::Eq* equal = select ? select->condition.as<ir::Eq>() : nullptr;
          is_case |= equal && equal->a.is(loop.var) && ir::as_int(equal->b);
        });
    if (is_case && loop.extent > 1 && loop.extent <= kMostCases) loops.push_back(loop.name);
  }
  return loops;
}

Result<std::string> write_out_cases(Schedule& draft, const std::string& block, std::int64_t threads) {
  const Names cases = formula_loops(draft.program(), block);
  Names others;
  for (const NaiveLoop& loop : naive_loops(draft.program(), block))
    if (std::find(cases.begin(), cases.end(), loop.name) == cases.end()) others.push_back(loop.name);
  Names order = others;
  order.insert(order.end(), cases.begin(), cases.end());
  if (order.size() > 1) HONE_TRY(draft.apply(schedule::Reorder{order}));
  for (const std::string& loop : cases) HONE_TRY(draft.apply(schedule::Unroll{loop}));
  if (others.empty()) return std::string();
  HONE_TRY(const std::string all, fuse_loops(draft, block, others));
  HONE_TRY(const Names levels, split_loop(draft, block, all, {schedule::kRest, threads}));
  HONE_TRY(draft.apply(schedule::Bind{levels[0], ir::ForKind::BlockX}));
  HONE_TRY(draft.apply(schedule::Bind{levels[1], ir::ForKind::ThreadX}));
  return levels[1];
}

Result<void> fill_together(Schedule& draft, const std::string& block, const std::string& loop, std::int64_t lanes) {
  HONE_TRY(draft.apply(schedule::ComputeAt{block, loop}));
  const Names own = loops_below(draft.program(), block, loop);
  if (own.empty()) return {};  // one element
  std::vector<ir::ForKind> indices;
  std::vector<std::int64_t> factors = {schedule::kRest};
  HONE_TRY(const schedule::Path place, schedule::find_loop(draft.program(), loop, "fill together"));
  for (const ir::Stmt& s : place.stmts) {
    const ir::For* outer = s.as<ir::For>();
    if (!outer || outer->how == ir::ForKind::VThread || !ir::is_thread_index(outer->how)) continue;
    indices.push_back(outer->how);
    factors.push_back(ir::constant_value(outer->extent));
  }
  factors.push_back(lanes);
  HONE_TRY(const std::string all, fuse_loops(draft, block, own));
  HONE_TRY(const Names levels, split_loop(draft, block, all, factors));
  for (std::size_t i = 0; i < indices.size(); ++i) HONE_TRY(draft.apply(schedule::Bind{levels[i + 1], indices[i]}));
  return lanes > 1 ? draft.apply(schedule::Vectorize{levels.back()}) : Result<void>();
}

Result<std::string> share_operand(Schedule& draft, const std::string& block, const std::string& buffer) {
  HONE_TRY(const std::string copy, copy_operand(draft, block, buffer, ir::Scope::Shared));
  HONE_TRY(const ir::Expr found, schedule::find_buffer(draft.program(), copy, "share operand"));
  return schedule::writers(draft.program(), found).front().block().name;
}

void inline_for_gpu(Schedule& draft) {
  const std::vector<schedule::Path> all = schedule::blocks(draft.program());
  for (std::size_t i = all.size(); i-- > 0;) {
    const ir::Block& block = all[i].block();
    const std::vector<ir::Expr> written = schedule::written_buffers(block);
    const bool is_shared = std::any_of(written.begin(), written.end(), [](const ir::Expr& buffer) {
      return buffer.get<ir::Buffer>().scope == ir::Scope::Shared;
    });
    if (!is_shared && !schedule::is_reduction(block)) attempt(draft, schedule::ComputeInline{block.name});
  }
}

std::vector<std::int64_t> thread_counts(const codegen::Target& target) {
  std::vector<std::int64_t> counts;
  for (std::int64_t count = target.gpu.warp; count <= target.gpu.max_threads; count *= 2) counts.push_back(count);
  return counts;
}

Schedule gpu_default_schedule(const ir::Function& naive, const codegen::Target& target) {
  Schedule draft(naive);
  for (const schedule::Path& path : schedule::blocks(naive)) run_on_threads(draft, path.block().name, target.gpu.warp);
  return draft;
}

}  // namespace hone::space
