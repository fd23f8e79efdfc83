#include "hone/space/blocks.h"

#include <algorithm>

#include "hone/ir/affine.h"
#include "hone/ir/interval.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/primitives.h"
#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

/// Loops of fewer iterations in all are not worth waking another thread: some microseconds of multiply-adds, which take
/// a fraction of a cycle, or of anything else.
constexpr std::int64_t kParallelReduction = 1 << 17, kParallelWork = 1 << 14;

}  // namespace

std::int64_t extent_of(const Program& program, const std::string& loop) {
  const Result<schedule::Path> path = schedule::find_loop(program, loop, "extent");
  return path ? ir::as_int(path->loop().extent).value_or(0) : 0;
}

std::vector<NaiveLoop> naive_loops(const Program& program, std::string_view block) {
  const Result<schedule::Path> path = schedule::find_block(program, block, "default");
  if (!path) return {};
  const std::vector<ir::Stmt> outer = path->loops();
  const ir::Block& found = path->block();
  if (outer.size() != found.iters.size()) return {};
  std::vector<NaiveLoop> loops;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    const ir::For& loop = outer[i].get<ir::For>();
    const ir::Iter& iter = found.iters[i];
    if (!iter.binding.is(loop.var) || loop.how != ir::ForKind::Serial) return {};
    loops.push_back(
        {ir::name_of(loop.var), iter.var, ir::as_int(iter.extent).value_or(0), iter.kind == ir::IterKind::Reduce});
  }
  return loops;
}

bool Read::uses(const NaiveLoop& loop) const {
  return std::any_of(indices.begin(), indices.end(), [&](const ir::Expr& e) { return ir::uses(e, loop.var); });
}

bool Read::is_strided_in(const NaiveLoop& loop) const {
  for (std::size_t i = 0; i + 1 < indices.size(); ++i)
    if (ir::uses(indices[i], loop.var)) return false;
  return indices.empty() || !ir::uses(indices.back(), loop.var) || ir::to_affine(indices.back()).has_value();
}

bool Read::is_contiguous_in(const NaiveLoop& loop) const {
  if (indices.empty() || !is_strided_in(loop)) return false;
  const auto affine = ir::to_affine(indices.back());
  return affine && affine->coefficient(loop.var) == 1;
}

bool Read::is_within_reach_in(const NaiveLoop& loop, std::span<const NaiveLoop> loops) const {
  ir::Bounds bounds;
  for (const NaiveLoop& other : loops) bounds.add_extent(other.var, ir::imm(other.extent));
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const ir::Expr first = ir::substitute(indices[axis], loop.var, ir::imm(0));
    const std::int64_t limit = axis + 1 == indices.size() ? loop.extent : 1;
    for (std::int64_t i = 1; i < loop.extent; ++i) {
      const ir::Expr other = ir::substitute(indices[axis], loop.var, ir::imm(i));
      const std::optional<std::int64_t> distance = ir::as_int(ir::simplify(other - first, bounds));
      if (!distance || *distance < 0 || *distance >= limit) return false;
    }
  }
  return true;
}

bool Read::is_constant(const Program& program, std::span<const std::size_t> constants) const {
  return std::any_of(constants.begin(), constants.end(), [&](std::size_t i) { return program.params[i].is(buffer); });
}

std::int64_t Read::elements() const {
  std::int64_t count = 1;
  for (const ir::Expr& extent : buffer.get<ir::Buffer>().shape) count *= ir::as_int(extent).value_or(1);
  return count;
}

std::vector<Read> reads_of(const ir::Block& block) {
  const std::vector<ir::Expr> written = schedule::written_buffers(block);
  std::vector<Read> reads;
  ir::walk(
      block.body, [](const ir::Stmt&) {},
      [&](const ir::Expr& e) {
        const ir::Load* load = e.as<ir::Load>();
        if (!load) return;
        if (std::any_of(written.begin(), written.end(), [&](const ir::Expr& b) { return b.is(load->buffer); })) return;
        reads.push_back({load->buffer, load->indices});
      });
  return reads;
}

bool attempt(Schedule& draft, const schedule::Step& step) { return draft.apply(step).has_value(); }

void vectorize_last(Schedule& draft, const std::string& block, const codegen::Target& target) {
  const std::vector<std::string> loops = schedule::loops_of(draft.program(), block);
  if (loops.empty()) return;
  const std::string& last = loops.back();
  const std::int64_t lanes = target.lanes(32), extent = extent_of(draft.program(), last);
  if (extent < 2) return;
  if (extent <= lanes) {
    attempt(draft, schedule::Vectorize{last});
    return;
  }
  Schedule split = draft;
  if (attempt(split, schedule::Split{last, {schedule::kRest, lanes}}) &&
      attempt(split, schedule::Vectorize{last + ".1"}))
    draft = std::move(split);
}

bool is_even(std::int64_t iterations, int threads) {
  constexpr double kLeastShare = 0.95;
  const std::int64_t most = ceil_div(iterations, threads) * threads;
  return iterations >= threads && static_cast<double>(iterations) >= kLeastShare * static_cast<double>(most);
}

bool is_worth_threads(const Program& program, const std::string& block) {
  const Result<schedule::Path> path = schedule::find_block(program, block, "default");
  if (!path) return false;
  std::int64_t work = 1;
  for (const ir::Iter& iter : path->block().iters)
    work *= std::max<std::int64_t>(1, ir::as_int(iter.extent).value_or(1));
  return work >= (schedule::is_reduction(path->block()) ? kParallelReduction : kParallelWork);
}

void parallelize(Schedule& draft, const std::string& block, std::size_t depth, const codegen::Target& target) {
  if (target.threads < 2 || !is_worth_threads(draft.program(), block)) return;
  const std::vector<std::string> loops = schedule::loops_of(draft.program(), block);
  std::vector<std::string> outer;
  std::int64_t iterations = 1;
  for (std::size_t i = 0; i < std::min(depth, loops.size()) && !is_even(iterations, target.threads); ++i) {
    outer.push_back(loops[i]);
    iterations *= extent_of(draft.program(), loops[i]);
  }
  if (outer.empty() || iterations < 2) return;
  if (outer.size() > 1 && !attempt(draft, schedule::Fuse{outer})) outer.resize(1);
  attempt(draft, schedule::Parallel{schedule::loops_of(draft.program(), block).front()});
}

}  // namespace hone::space
