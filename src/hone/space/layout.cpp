#include "hone/space/layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "hone/ir/rewrite.h"
#include "hone/schedule/primitives.h"
#include "hone/support/arithmetic.h"

namespace hone::space {
namespace {

using ir::Expr;

/// An access of a block.
struct Access {
  Expr buffer;
  std::vector<Expr> indices;
};

std::vector<Access> accesses_of(const ir::Block& block) {
  std::vector<Access> accesses;
  ir::walk(
      block.body,
      [&](const ir::Stmt& s) {
        if (const ir::Store* store = s.as<ir::Store>()) accesses.push_back({store->buffer, store->indices});
      },
      [&](const Expr& e) {
        if (const ir::Load* load = e.as<ir::Load>()) accesses.push_back({load->buffer, load->indices});
      });
  return accesses;
}

/// The block size B if the last index is `something % B`, or a variable that fills the only block there is.
std::optional<std::int64_t> block_size(const Access& access) {
  if (access.indices.size() < 3) return std::nullopt;
  if (const ir::FloorMod* mod = access.indices.back().as<ir::FloorMod>()) return ir::as_int(mod->b);
  const std::vector<Expr>& shape = access.buffer.get<ir::Buffer>().shape;
  const bool is_only_block = shape.size() == 5 && ir::is_int(shape[1], 1) && access.indices.back().as<ir::Var>();
  return is_only_block ? ir::as_int(shape.back()) : std::nullopt;
}

/// The smallest block in which each variable of the block occurs in an index.
std::map<std::string, std::int64_t> blocked_variables(const ir::Block& block) {
  std::map<std::string, std::int64_t> sizes;
  for (const Access& access : accesses_of(block)) {
    const std::optional<std::int64_t> size = block_size(access);
    if (!size) continue;
    for (const ir::Iter& iter : block.iters) {
      if (!ir::uses(access.indices.back(), iter.var) || ir::as_int(iter.extent).value_or(0) % *size != 0) continue;
      std::int64_t& known = sizes.try_emplace(ir::name_of(iter.var), *size).first->second;
      known = std::min(known, *size);
    }
  }
  return sizes;
}

/// Stores one more allocated tensor in blocks, if there is one with an axis 1 that is blocked elsewhere in its block.
bool block_a_buffer(Schedule& draft) {
  const Program program = draft.program();
  for (const schedule::Path& path : schedule::blocks(program)) {
    const std::map<std::string, std::int64_t> sizes = blocked_variables(path.block());
    if (sizes.empty()) continue;
    for (const Access& access : accesses_of(path.block())) {
      if (access.indices.size() < 3 || block_size(access) || schedule::is_param(program, access.buffer)) continue;
      if (!access.indices[1].as<ir::Var>()) continue;
      const auto size = sizes.find(ir::name_of(access.indices[1]));
      if (size == sizes.end()) continue;
      const std::optional<std::int64_t> channels = ir::as_int(access.buffer.get<ir::Buffer>().shape[1]);
      if (!channels || *channels % size->second != 0) continue;
      if (attempt(draft, schedule::TransformLayout{ir::name_of(access.buffer),
                                                   blocked_map(access.indices.size(), size->second)}))
        return true;
    }
  }
  return false;
}

/// The map that undoes blocked_map().
std::string plain_map(std::size_t rank, std::int64_t block) {
  std::vector<std::string> from, to;
  for (std::size_t i = 0; i < rank; ++i) {
    from.push_back(fmt::format("d{}", i));
    if (i + 1 < rank) to.push_back(i == 1 ? fmt::format("d1 * {} + d{}", block, rank - 1) : from.back());
  }
  return fmt::format("({}) -> ({})", fmt::join(from, ", "), fmt::join(to, ", "));
}

/// Lets sums over the channels of a parameter that is stored in blocks, if their result is not, read a copy of it that
/// is not either: their vectors are of neighbouring positions.
void read_plain_copies(Schedule& draft) {
  const Program program = draft.program();
  for (const schedule::Path& path : schedule::blocks(program)) {
    const ir::Block& block = path.block();
    const std::vector<Expr> written = schedule::written_buffers(block);
    const std::vector<Access> accesses = accesses_of(block);
    const auto is_blocked_result = [&](const Access& a) { return a.buffer.is(written[0]) && block_size(a); };
    if (!schedule::is_reduction(block) || std::any_of(accesses.begin(), accesses.end(), is_blocked_result)) continue;
    for (const Access& access : accesses) {
      const std::optional<std::int64_t> size = block_size(access);
      const ir::FloorMod* lane = size ? access.indices.back().as<ir::FloorMod>() : nullptr;
      const bool is_summed = lane && std::any_of(block.iters.begin(), block.iters.end(), [&](const ir::Iter& iter) {
                               return iter.kind == ir::IterKind::Reduce && iter.var.is(lane->a);
                             });
      if (!is_summed || !schedule::is_param(program, access.buffer)) continue;
      Schedule changed = draft;
      const std::string name = ir::name_of(access.buffer);
      if (attempt(changed, schedule::CacheRead{block.name, name, ir::Scope::Global}) &&
          attempt(changed, schedule::TransformLayout{name + ".global", plain_map(access.indices.size(), *size)}))
        draft = std::move(changed);
    }
  }
}

}  // namespace

std::string blocked_map(std::size_t rank, std::int64_t block) {
  std::vector<std::string> from, to;
  for (std::size_t i = 0; i < rank; ++i) {
    from.push_back(fmt::format("d{}", i));
    to.push_back(i == 1 ? fmt::format("d1 // {}", block) : from.back());
  }
  return fmt::format("({}) -> ({}, d1 % {})", fmt::join(from, ", "), fmt::join(to, ", "), block);
}

void sum_in_lanes(Schedule& draft, std::span<const std::size_t> constants, const codegen::Target& target) {
  const Program program = draft.program();
  for (const schedule::Path& path : schedule::blocks(program)) {
    const ir::Block& block = path.block();
    const std::vector<Expr> written = schedule::written_buffers(block);
    const std::vector<NaiveLoop> loops = naive_loops(program, block.name);
    if (!schedule::is_reduction(block) || written.size() != 1 || loops.empty()) continue;
    const std::size_t rank = written[0].get<ir::Buffer>().shape.size();
    const auto spatial = std::find_if(loops.begin(), loops.end(), [](const NaiveLoop& l) { return l.is_reduction; });
    if (rank < 3 || static_cast<std::size_t>(spatial - loops.begin()) != rank) continue;
    const NaiveLoop &channel = loops[1], &column = loops[rank - 1];
    const std::int64_t lanes = target.lanes(32), width = channel.extent % lanes == 0 ? lanes : lanes / 2;
    if (width < 4 || channel.extent % width != 0 || column.extent < 2) continue;
    if (rank != 4 && channel.extent == width) continue;  // a single block is recognized in images alone
    // Vectors along the last axis are not full, or not contiguous.
    bool pays = 5 * ceil_div(column.extent, lanes) * lanes > 6 * column.extent, has_weights = true;
    for (const Read& read : reads_of(block)) {
      pays |= read.uses(column) && !read.is_contiguous_in(column);
      has_weights &= !read.uses(channel) || (!read.uses(column) && read.is_constant(program, constants));
    }
    const auto is_blocked = [](const Access& access) { return block_size(access).has_value(); };
    const std::vector<Access> accesses = accesses_of(block);
    if (!pays || !has_weights || std::any_of(accesses.begin(), accesses.end(), is_blocked)) continue;
    Schedule changed = draft;
    std::string sums = ir::name_of(written[0]);
    if (schedule::is_param(program, written[0])) {
      if (!attempt(changed, schedule::CacheWrite{block.name, ir::Scope::Global})) continue;
      sums = ir::name_of(
          schedule::written_buffers(schedule::find_block(changed.program(), block.name, "layout")->block())[0]);
    }
    if (attempt(changed, schedule::TransformLayout{sums, blocked_map(rank, width)})) draft = std::move(changed);
  }
}

void follow_layouts(Schedule& draft) {
  while (block_a_buffer(draft)) {}
  read_plain_copies(draft);
  std::vector<std::string> names;
  for (const schedule::Path& path : schedule::blocks(draft.program())) names.push_back(path.block().name);
  for (const std::string& name : names) {
    const ir::Block block = schedule::find_block(draft.program(), name, "layout")->block();
    for (const auto& [variable, size] : blocked_variables(block))
      attempt(draft, schedule::SplitVariable{name, variable, size});
  }
}

std::optional<Lanes> lanes_of(const std::vector<NaiveLoop>& loops) {
  const NaiveLoop* last = nullptr;
  for (const NaiveLoop& loop : loops)
    if (!loop.is_reduction) last = &loop;
  if (!last || !last->name.ends_with(".1")) return std::nullopt;
  const std::string outer = last->name.substr(0, last->name.size() - 1) + "0";
  for (const NaiveLoop& loop : loops)
    if (loop.name == outer) return Lanes{loop, *last};
  return std::nullopt;
}

}  // namespace hone::space
