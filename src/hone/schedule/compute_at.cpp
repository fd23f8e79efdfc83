/// compute_at: a producer moves to where one iteration of a loop needs it.
#include <algorithm>

#include "hone/ir/affine.h"
#include "hone/ir/region.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/nest.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/visited.h"

namespace hone::schedule {

using namespace ir;

namespace {

constexpr std::string_view kComputeAt = "compute_at";

/// An error unless the block alone makes its outputs, whole, for blocks below the loop only.
Result<void> check_movable(const Program& program, const Path& path, const Path& loop) {
  const Block& block = path.block();
  const std::string& loop_name = name_of(loop.loop().var);
  if (is_below(path, loop.target()))
    return error(ErrorCode::IllegalStep, "{}: block '{}' is already below loop '{}'", kComputeAt, block.name,
                 loop_name);
  if (is_reduction(block) && !block.init)
    return error(ErrorCode::IllegalStep, "{}: block '{}' is a reduction initialised elsewhere", kComputeAt, block.name);
  bool is_read = false;
  for (const Expr& buffer : written_buffers(block)) {
    if (is_param(program, buffer))
      return error(ErrorCode::IllegalStep, "{}: buffer '{}' of block '{}' is an output of the function", kComputeAt,
                   name_of(buffer), block.name);
    if (const std::size_t count = writers(program, buffer).size(); count != 1)
      return error(ErrorCode::IllegalStep, "{}: buffer '{}' is written by {} blocks, allowed is 1", kComputeAt,
                   name_of(buffer), count);
    for (const Path& reader : readers(program, buffer)) {
      is_read = true;
      if (!is_below(reader, loop.target()))
        return error(ErrorCode::IllegalStep, "{}: block '{}' is read by block '{}', which is not below loop '{}'",
                     kComputeAt, block.name, reader.block().name, loop_name);
    }
  }
  if (!is_read) return error(ErrorCode::IllegalStep, "{}: no block reads block '{}'", kComputeAt, block.name);
  HONE_TRY(check_no_scan(block, kComputeAt));
  HONE_TRY(check_may_move(path, kComputeAt));
  return check_none_pipelined(loop, kComputeAt);
}

/// How a store's index gives a spatial variable: index = variable + offset. Constant indices have no variable.
struct AxisOfIter {
  Expr var;
  std::int64_t offset;
};

Result<AxisOfIter> axis_of_iter(const Block& block, const Store& store, std::size_t axis) {
  const std::optional<Affine> index = to_affine(store.indices[axis]);
  if (index && index->terms.empty()) return AxisOfIter{{}, index->constant};
  if (index && index->terms.size() == 1 && index->terms[0].second == 1)
    for (const Iter& iter : block.iters)
      if (iter.kind == IterKind::Spatial && iter.var.is(index->terms[0].first))
        return AxisOfIter{iter.var, index->constant};
  return error(ErrorCode::IllegalStep,
               "{}: index {} of buffer '{}' in block '{}' is not a spatial variable plus a constant", kComputeAt, axis,
               name_of(store.buffer), block.name);
}

/// The values of each iteration variable that make the elements that `needed` asks for.
class NeededRanges {
 public:
  NeededRanges(const Block& block, const Bounds& outer) : block_(block), outer_(outer), ranges_(block.iters.size()) {}

  /// Adds the elements of one store's buffer. A variable that is no index there is needed in full.
  Result<void> add(const Store& store, const Region& needed) {
    std::vector<bool> is_index(ranges_.size());
    for (std::size_t axis = 0; axis < store.indices.size(); ++axis) {
      HONE_TRY(const AxisOfIter found, axis_of_iter(block_, store, axis));
      for (std::size_t i = 0; found.var && i < ranges_.size(); ++i) {
        if (!block_.iters[i].var.is(found.var)) continue;
        if (is_index[i])
          return error(ErrorCode::IllegalStep, "{}: variable '{}' of block '{}' is two indices of buffer '{}'",
                       kComputeAt, name_of(found.var), block_.name, name_of(store.buffer));
        is_index[i] = true;
        const Range& range = needed[axis];
        unite_with(i, range.is_known() ? Range{range.min - found.offset, range.extent} : Range());
      }
    }
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      if (!is_index[i]) unite_with(i, Range{imm(0), block_.iters[i].extent});
    return {};
  }

  std::vector<IterRange> ranges() const {
    std::vector<IterRange> result;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const Iter& iter = block_.iters[i];
      const bool whole = iter.kind == IterKind::Reduce || !ranges_[i];
      result.push_back(whole ? full_range(iter) : within(*ranges_[i], iter, outer_));
    }
    return result;
  }

 private:
  void unite_with(std::size_t i, const Range& range) {
    ranges_[i] = ranges_[i] ? unite({*ranges_[i]}, {range}, outer_)[0] : range;
  }

  const Block& block_;
  const Bounds& outer_;
  std::vector<std::optional<Range>> ranges_;
};

/// The stores of a block's body, init aside: an init stores to the same places.
std::vector<const Store*> stores_of(const Block& block) {
  std::vector<const Store*> found;
  walk(block.body, [&](const Stmt& s) {
    if (const Store* store = s.as<Store>()) found.push_back(store);
  });
  return found;
}

/// The loops down to and including the target whose iterations use one copy of a buffer: those of the threads of a GPU
/// block, if they share it.
Bounds sharing_loops(const Path& loop, const Expr& buffer) {
  Bounds sharing;
  if (buffer.get<Buffer>().scope != Scope::Shared) return sharing;
  for (const Stmt& s : loop.stmts)
    if (const For* outer = s.as<For>(); outer && is_thread_index(outer->how))
      sharing.add_extent(outer->var, outer->extent);
  return sharing;
}

/// The first statement of a loop's body that reads what the block writes.
Path first_reader(const Path& loop, const Block& block) {
  Path place = loop;
  place.stmts.push_back(loop.loop().body);
  const Seq* body = place.target().as<Seq>();
  if (!body) return place;
  const std::vector<Expr> written = written_buffers(block);
  const auto child = std::find_if(body->stmts.begin(), body->stmts.end(), [&](const Stmt& s) {
    return std::any_of(written.begin(), written.end(), [&](const Expr& buffer) { return uses(s, buffer); });
  });
  HONE_CHECK(child != body->stmts.end(), "nothing below the loop reads block '{}'", block.name);
  place.stmts.push_back(*child);
  return place;
}

}  // namespace

Result<Program> compute_at(const Program& program, std::string_view block_name, std::string_view loop_name) {
  HONE_TRY(const Path path, find_block(program, block_name, kComputeAt));
  HONE_TRY(const Path old_loop, find_loop(program, loop_name, kComputeAt));
  HONE_TRY(check_movable(program, path, old_loop));
  const Block& block = path.block();

  const Bounds outer = old_loop.bounds();
  NeededRanges needed(block, outer);
  for (const Store* store : stores_of(block))
    if (const auto region =
            region_of(old_loop.loop().body, store->buffer, Access::Read, sharing_loops(old_loop, store->buffer), outer))
      HONE_TRY(needed.add(*store, *region));

  HONE_TRY(const Visited visited, visited_below(path, common_loops(path, old_loop), kComputeAt));

  const Program without = replace(program, path, Stmt());
  HONE_TRY(const Path loop, find_loop(without, loop_name, kComputeAt));
  const Stmt nest = make_nest(without, block, needed.ranges(), visited.conditions, outer);
  Program moved = insert_before(without, first_reader(loop, block), nest);
  HONE_TRY(const Path place, find_block(moved, block_name, kComputeAt));
  HONE_TRY(check_loops_above(moved, place, kComputeAt));
  return moved;
}

}  // namespace hone::schedule
