#include "hone/space/sketch/analysis.h"

#include <algorithm>

#include "hone/ir/affine.h"
#include "hone/ir/rewrite.h"

namespace hone::space {
namespace {

using ir::Expr;

std::int64_t product(const std::vector<NaiveLoop>& loops) {
  std::int64_t count = 1;
  for (const NaiveLoop& loop : loops) count *= loop.extent;
  return count;
}

/// Whether each index is a constant or a variable plus a constant, the variables in the order of the block, each once.
bool is_simple(const Read& read, const ir::Block& block) {
  std::size_t next = 0;
  for (const Expr& index : read.indices) {
    const std::optional<ir::Affine> affine = ir::to_affine(index);
    if (!affine || affine->terms.size() > 1) return false;
    if (affine->terms.empty()) continue;
    if (affine->terms[0].second != 1) return false;
    while (next < block.iters.size() && !block.iters[next].var.is(affine->terms[0].first)) ++next;
    if (next++ == block.iters.size()) return false;
  }
  return true;
}

bool has_branch_or_call(const ir::Block& block) {
  bool found = false;
  ir::walk(
      block.body, [&](const ir::Stmt& s) { found |= s.as<ir::If>() != nullptr; },
      [&](const Expr& e) { found |= e.as<ir::Select>() || e.as<ir::Call>(); });
  return found;
}

}  // namespace

std::int64_t BlockParts::iterations() const { return product(spatial) * product(reduced); }

BlockParts parts_of(const Program& program, const std::string& block) {
  BlockParts parts;
  const Result<schedule::Path> path = schedule::find_block(program, block, "sketch");
  if (!path) return parts;
  const std::vector<Expr> written = schedule::written_buffers(path->block());
  if (written.size() != 1) return parts;
  parts.written = written[0];
  const std::vector<NaiveLoop> loops = naive_loops(program, block);
  if (loops.size() != path->block().iters.size()) return parts;
  parts.is_naive = true;
  parts.reads = reads_of(path->block());
  for (const NaiveLoop& loop : loops) {
    (loop.is_reduction ? parts.reduced : parts.spatial).push_back(loop);
    parts.is_empty |= loop.extent < 1;
  }
  return parts;
}

bool needs_tiling(const BlockParts& parts) {
  std::vector<Expr> reused;
  for (const Read& read : parts.reads) {
    const bool is_missing = std::any_of(parts.spatial.begin(), parts.spatial.end(),
                                        [&](const NaiveLoop& loop) { return loop.extent > 1 && !read.uses(loop); });
    const bool is_known = std::any_of(reused.begin(), reused.end(), [&](const Expr& b) { return b.is(read.buffer); });
    if (is_missing && !is_known) reused.push_back(read.buffer);
  }
  return reused.size() >= 2 || (!reused.empty() && parts.is_reduction());
}

bool is_strictly_inlinable(const Program& program, const std::string& name) {
  const Result<schedule::Path> path = schedule::find_block(program, name, "sketch");
  if (!path || schedule::is_reduction(path->block())) return false;
  const std::vector<Expr> written = schedule::written_buffers(path->block());
  if (written.size() != 1 || schedule::is_param(program, written[0])) return false;
  const std::vector<Read> reads = reads_of(path->block());
  if (reads.empty()) return true;
  return !has_branch_or_call(path->block()) &&
         std::all_of(reads.begin(), reads.end(), [&](const Read& r) { return is_simple(r, path->block()); });
}

std::optional<std::string> elementwise_consumer(const Program& program, const std::string& block) {
  const BlockParts parts = parts_of(program, block);
  if (!parts.written || schedule::is_param(program, parts.written)) return std::nullopt;
  const std::vector<schedule::Path> readers = schedule::readers(program, parts.written);
  if (readers.size() != 1 || schedule::is_reduction(readers[0].block())) return std::nullopt;
  const std::string consumer = readers[0].block().name;
  const BlockParts reading = parts_of(program, consumer);
  if (!reading.is_naive) return std::nullopt;
  std::int64_t made = 1, used = 1;
  for (const NaiveLoop& loop : parts.spatial) made *= loop.extent;
  for (const NaiveLoop& loop : reading.spatial) used *= loop.extent;
  if (made != used) return std::nullopt;
  for (const Read& read : reading.reads) {
    if (!read.buffer.is(parts.written)) continue;
    for (const Expr& index : read.indices)
      if (!index.as<ir::Var>() && !ir::as_int(index)) return std::nullopt;
  }
  return consumer;
}

bool runs_along_space(const BlockParts& parts) {
  if (!parts.is_naive || parts.spatial.empty()) return false;
  const NaiveLoop& last = parts.spatial.back();
  return last.extent > 1 && std::any_of(parts.reads.begin(), parts.reads.end(),
                                        [&](const Read& read) { return read.uses(last) && read.is_strided_in(last); });
}

bool needs_rfactor(const BlockParts& parts, const codegen::Target& target) {
  if (!parts.is_naive || !parts.is_reduction()) return false;
  const std::int64_t space = product(parts.spatial), reduced = product(parts.reduced);
  if (needs_tiling(parts)) return space <= reduced && space <= 16 * target.threads;
  return reduced > std::max(target.threads, 2 * target.lanes(32));
}

}  // namespace hone::space
