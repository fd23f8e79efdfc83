#include "hone/space/channel_parts.h"

#include <algorithm>

#include "hone/ir/interval.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/primitives.h"

namespace hone::space {
namespace {

/// Whether everything but constants is read lane by lane as it stands in memory.
bool is_read_along_lanes(const Program& program, const ChannelParts& parts, std::span<const std::size_t> constants) {
  return std::all_of(parts.reads.begin(), parts.reads.end(), [&](const Read& read) {
    return read.is_constant(program, constants) || !read.uses(parts.lanes.inner) || is_vector_of(read, parts);
  });
}

/// Computes what the block reads where it is read; says whether there was anything.
bool inline_inputs(Schedule& draft, const ChannelParts& parts) {
  bool is_changed = false;
  for (const Read& read : parts.reads) {
    if (schedule::is_param(draft.program(), read.buffer)) continue;
    for (const schedule::Path& writer : schedule::writers(draft.program(), read.buffer))
      is_changed |= attempt(draft, schedule::ComputeInline{writer.block().name});
  }
  return is_changed;
}

/// Whether `count` neighbouring vectors of channels, beginning at a multiple of that, read the same.
bool is_shared(const Read& read, const ChannelParts& parts, std::int64_t count) {
  ir::Bounds bounds;
  for (const std::vector<NaiveLoop>& loops : {parts.spatial, parts.reduced})
    for (const NaiveLoop& loop : loops) bounds.add_extent(loop.var, ir::imm(loop.extent));
  const ir::Expr several = ir::var("several");
  bounds.add_extent(several, ir::imm(parts.lanes.outer.extent / count));
  return std::all_of(read.indices.begin(), read.indices.end(), [&](const ir::Expr& index) {
    const auto at = [&](std::int64_t i) { return ir::substitute(index, parts.lanes.outer.var, several * count + i); };
    for (std::int64_t i = 1; i < count; ++i)
      if (!ir::is_int(ir::simplify(at(i) - at(0), bounds), 0)) return false;
    return true;
  });
}

std::int64_t sharing_vectors(const ChannelParts& parts) {
  const std::int64_t all = parts.lanes.outer.extent;
  if (parts.has_products) return all;
  for (const std::int64_t count : {4, 2})
    if (all % count == 0 && std::any_of(parts.reads.begin(), parts.reads.end(),
                                        [&](const Read& read) { return is_shared(read, parts, count); }))
      return count;
  return 1;
}

}  // namespace

bool is_vector_of(const Read& read, const ChannelParts& parts) {
  if (read.is_contiguous_in(parts.lanes.inner)) return true;
  std::vector<NaiveLoop> loops = parts.spatial;
  loops.insert(loops.end(), parts.reduced.begin(), parts.reduced.end());
  return read.is_within_reach_in(parts.lanes.inner, loops);
}

std::optional<ChannelParts> channel_parts(const Program& program, const std::string& block) {
  const std::vector<NaiveLoop> loops = naive_loops(program, block);
  const std::optional<Lanes> lanes = lanes_of(loops);
  if (!lanes) return std::nullopt;
  ChannelParts parts{.lanes = *lanes};
  for (const NaiveLoop& loop : loops) (loop.is_reduction ? parts.reduced : parts.spatial).push_back(loop);
  if (parts.reduced.empty()) return std::nullopt;
  parts.reads = reads_of(schedule::find_block(program, block, "default")->block());
  for (const NaiveLoop& loop : parts.spatial)
    if (!loop.var.is(lanes->outer.var) && !loop.var.is(lanes->inner.var) && loop.extent > 1) parts.row = loop;
  parts.has_products = std::any_of(parts.reads.begin(), parts.reads.end(), [&](const Read& read) {
    return !read.uses(lanes->outer) && !read.uses(lanes->inner);
  });
  parts.sharing_vectors = sharing_vectors(parts);
  return parts;
}

bool inline_padding(Schedule& draft, const std::string& block, std::span<const std::size_t> constants) {
  Schedule inlined = draft;
  const std::optional<ChannelParts> before = channel_parts(draft.program(), block);
  if (!before || !inline_inputs(inlined, *before)) return false;
  const std::optional<ChannelParts> after = channel_parts(inlined.program(), block);
  if (!after || !is_read_along_lanes(inlined.program(), *after, constants)) return false;
  draft = std::move(inlined);
  return true;
}

void attach_readers(Schedule& draft, const std::string& block, const std::string& loop) {
  const ir::Block found = schedule::find_block(draft.program(), block, "default")->block();
  const ir::Expr result = schedule::written_buffers(found)[0];
  for (const schedule::Path& reader : schedule::readers(draft.program(), result)) {
    const std::string name = reader.block().name;
    if (schedule::is_reduction(reader.block())) continue;
    if (attempt(draft, schedule::ReverseComputeAt{name, loop})) {
      const std::vector<std::string> moved = schedule::loops_of(draft.program(), name);
      attempt(draft, schedule::Vectorize{moved.back()});
      std::int64_t copies = 1;
      for (std::size_t i = moved.size() - 1; i-- > 0 && moved[i] != loop;) {
        copies *= ir::as_int(schedule::find_loop(draft.program(), moved[i], "default")->loop().extent).value_or(1);
        if (copies > 32) break;
        attempt(draft, schedule::Unroll{moved[i]});
      }
    }
    break;
  }
}

}  // namespace hone::space
