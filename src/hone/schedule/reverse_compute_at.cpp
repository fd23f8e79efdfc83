/// reverse_compute_at: a consumer moves to where one iteration of a loop has produced its part.
#include <algorithm>

#include "hone/ir/equal.h"
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

constexpr std::string_view kReverseComputeAt = "reverse_compute_at";

Result<void> check_movable(const Path& path, const Path& loop) {
  const Block& block = path.block();
  if (is_below(path, loop.target()))
    return error(ErrorCode::IllegalStep, "{}: block '{}' is already below loop '{}'", kReverseComputeAt, block.name,
                 name_of(loop.loop().var));
  if (is_reduction(block) || block.init)
    return error(ErrorCode::IllegalStep, "{}: block '{}' is a reduction, allowed are elementwise blocks",
                 kReverseComputeAt, block.name);
  for (const Expr& buffer : written_buffers(block))
    for (const Expr& read : read_buffers(block))
      if (read.is(buffer))
        return error(ErrorCode::IllegalStep, "{}: block '{}' reads the buffer '{}' it writes", kReverseComputeAt,
                     block.name, name_of(buffer));
  const bool is_empty =
      std::any_of(block.iters.begin(), block.iters.end(), [](const Iter& i) { return is_int(i.extent, 0); });
  for (const Stmt& s : loop.stmts)
    if (const For* outer = s.as<For>(); outer && is_int(outer->extent, 0) && !is_empty)
      return error(ErrorCode::IllegalStep, "{}: loop '{}' has no iterations, in which block '{}' would never run",
                   kReverseComputeAt, name_of(outer->var), block.name);
  HONE_TRY(check_may_move(path, kReverseComputeAt));
  return check_none_pipelined(loop, kReverseComputeAt);
}

/// The loops down to and including `loop`, without the first `count`, which stand around the consumer too.
std::vector<Expr> loops_from(const Path& loop, std::size_t count) {
  std::vector<Expr> vars;
  for (const Stmt& s : loop.stmts)
    if (const For* outer = s.as<For>()) vars.push_back(outer->var);
  vars.erase(vars.begin(), vars.begin() + static_cast<std::ptrdiff_t>(count));
  return vars;
}

/// An error unless the writer, which stands elsewhere, is done when the loop begins.
Result<void> check_done_before(const Program& program, const Path& writer, const Path& consumer, const Path& loop,
                               const Expr& buffer) {
  const std::vector<Path> below = blocks_below(loop);
  bool before = false;
  for (const Path& path : blocks(program)) {
    if (!below.empty() && path.target().is(below.front().target())) break;
    before |= path.target().is(writer.target());
  }
  if (before && common_loops(writer, loop) <= common_loops(consumer, loop)) return {};
  return error(ErrorCode::IllegalStep,
               "{}: block '{}' reads buffer '{}', which block '{}' has not completed before loop '{}' begins",
               kReverseComputeAt, consumer.block().name, name_of(buffer), writer.block().name,
               name_of(loop.loop().var));
}

/// Whether boxes of different settings of the loops have no element in common.
bool boxes_are_disjoint(const std::vector<IterRange>& box, const std::vector<Expr>& loops, Bounds bounds) {
  std::vector<Expr> elements, offsets;
  for (const IterRange& range : box) {
    elements.push_back(range.min);
    if (range.extent <= 1) continue;
    offsets.push_back(var("offset"));
    bounds.add_extent(offsets.back(), imm(range.extent));
    elements.back() = range.min + offsets.back();
  }
  return determines_all(elements, loops, offsets, bounds);
}

/// What one iteration of the loop writes of a buffer, whole: none of it is also written by another iteration, except by
/// one that writes all the same.
Result<std::vector<IterRange>> produced_box(std::span<const Path> made_by, const Path& consumer, const Path& loop,
                                            const Expr& buffer) {
  std::vector<Expr> apart;
  for (const Expr& var : loops_from(loop, common_loops(consumer, loop))) {
    bool is_used = false;
    for (const Path& writer : made_by) {
      const Block& block = writer.block();
      const Role role = role_of(var, block);
      if (role == Role::Reduce || role == Role::Mixed)
        return error(ErrorCode::IllegalStep, "{}: block '{}' reduces over loop '{}', which is not below loop '{}'",
                     kReverseComputeAt, block.name, name_of(var), name_of(loop.loop().var));
      is_used |= role != Role::None || (block.predicate && uses(block.predicate, var));
    }
    if (is_used) apart.push_back(var);
  }
  const Bounds bounds = loop.bounds();
  const std::optional<Region> region = region_of(loop.loop().body, buffer, Access::Write, Bounds(), bounds);
  std::vector<IterRange> box;
  const std::vector<Expr>& shape = buffer.get<Buffer>().shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const Range range = region ? (*region)[axis] : Range();  // no region: a loop inside has extent 0
    box.push_back(within(range, Iter{.extent = shape[axis], .kind = IterKind::Spatial}, bounds));
  }
  if (!region) return box;
  if (!boxes_are_disjoint(box, apart, bounds))
    return error(ErrorCode::IllegalStep,
                 "{}: iterations of loop '{}' and those around it may share elements of buffer '{}'", kReverseComputeAt,
                 name_of(loop.loop().var), name_of(buffer));
  return box;
}

bool is_whole(const IterRange& range, const Expr& extent) {
  return is_int(range.min, 0) && is_int(extent, range.extent);
}

/// The values of the consumer's variables for which one iteration of the loop has produced everything.
class ProducedRanges {
 public:
  explicit ProducedRanges(const Block& consumer) : consumer_(consumer), ranges_(consumer.iters.size()) {}

  /// Takes in what is produced of one buffer: axes of which an iteration produces a part only must be read at a
  /// variable.
  Result<void> add(const Expr& buffer, const std::vector<IterRange>& box) {
    std::vector<bool> bound(ranges_.size());
    Result<void> status;
    walk(
        consumer_.body, [](const Stmt&) {},
        [&](const Expr& e) {
          const Load* load = e.as<Load>();
          if (!load || !load->buffer.is(buffer) || !status) return;
          status = add_load(*load, box, bound);
        });
    HONE_TRY(status);
    bound_by_.push_back(std::move(bound));
    return {};
  }

  /// An error unless one buffer's parts alone decide all: two buffers may be produced in step.
  Result<void> check_one_decides() const {
    const bool one_decides = std::any_of(bound_by_.begin(), bound_by_.end(), [&](const std::vector<bool>& bound) {
      for (std::size_t i = 0; i < ranges_.size(); ++i)
        if (ranges_[i] && !bound[i]) return false;
      return true;
    });
    if (one_decides) return {};
    return error(ErrorCode::IllegalStep,
                 "{}: block '{}' reads several buffers of which an iteration produces unrelated parts",
                 kReverseComputeAt, consumer_.name);
  }

  /// The range of one variable; nothing if no buffer restricts it.
  const std::optional<IterRange>& range(std::size_t i) const { return ranges_[i]; }

 private:
  Result<void> add_load(const Load& load, const std::vector<IterRange>& box, std::vector<bool>& bound) {
    const std::vector<Expr>& shape = load.buffer.get<Buffer>().shape;
    for (std::size_t axis = 0; axis < box.size(); ++axis) {
      if (is_whole(box[axis], shape[axis])) continue;
      const auto iter = std::find_if(consumer_.iters.begin(), consumer_.iters.end(),
                                     [&](const Iter& candidate) { return candidate.var.is(load.indices[axis]); });
      if (iter == consumer_.iters.end())
        return error(ErrorCode::IllegalStep,
                     "{}: index {} of buffer '{}' in block '{}' is not an iteration variable, and an iteration "
                     "produces {} of {} elements there",
                     kReverseComputeAt, axis, name_of(load.buffer), consumer_.name, box[axis].extent,
                     constant_value(shape[axis]));
      if (constant_value(iter->extent) > constant_value(shape[axis]))
        return error(ErrorCode::IllegalStep,
                     "{}: variable '{}' of block '{}' goes beyond axis {} of buffer '{}', where no iteration produces "
                     "anything",
                     kReverseComputeAt, name_of(iter->var), consumer_.name, axis, name_of(load.buffer));
      const std::size_t i = static_cast<std::size_t>(iter - consumer_.iters.begin());
      if (ranges_[i] && (ranges_[i]->extent != box[axis].extent || !equal(ranges_[i]->min, box[axis].min)))
        return error(ErrorCode::IllegalStep,
                     "{}: variable '{}' of block '{}' reads differing parts of what an iteration produces",
                     kReverseComputeAt, name_of(iter->var), consumer_.name);
      ranges_[i] = box[axis];
      bound[i] = true;
    }
    return {};
  }

  const Block& consumer_;
  std::vector<std::optional<IterRange>> ranges_;
  std::vector<std::vector<bool>> bound_by_;
};

/// Whether a block below the statement writes one of the buffers.
bool writes_any(const Stmt& stmt, const std::vector<Expr>& buffers) {
  for (const Path& path : blocks_below(Path{{stmt}}))
    for (const Expr& written : written_buffers(path.block()))
      if (std::any_of(buffers.begin(), buffers.end(), [&](const Expr& b) { return b.is(written); })) return true;
  return false;
}

/// Sorts the buffers that the consumer reads into those made below the loop and those that must be complete before.
Result<ProducedRanges> find_produced(const Program& program, const Path& consumer, const Path& loop) {
  const std::vector<Expr> read = read_buffers(consumer.block());
  if (!writes_any(loop.target(), read))
    return error(ErrorCode::IllegalStep, "{}: nothing that block '{}' reads is made below loop '{}'", kReverseComputeAt,
                 consumer.block().name, name_of(loop.loop().var));
  ProducedRanges produced(consumer.block());
  for (const Expr& buffer : read) {
    const std::vector<Path> made_by = writers(program, buffer);
    const auto is_inside = [&](const Path& writer) { return is_below(writer, loop.target()); };
    if (std::none_of(made_by.begin(), made_by.end(), is_inside)) {
      for (const Path& writer : made_by) HONE_TRY(check_done_before(program, writer, consumer, loop, buffer));
      continue;
    }
    for (const Path& writer : made_by)
      if (!is_inside(writer))
        return error(ErrorCode::IllegalStep,
                     "{}: buffer '{}' is also written by block '{}', which is not below loop '{}'", kReverseComputeAt,
                     name_of(buffer), writer.block().name, name_of(loop.loop().var));
    HONE_TRY(const std::vector<IterRange> box, produced_box(made_by, consumer, loop, buffer));
    HONE_TRY(produced.add(buffer, box));
  }
  HONE_TRY(produced.check_one_decides());
  return produced;
}

/// The last statement of the loop's body that writes something the consumer reads.
Path last_writer(const Path& loop, const Block& consumer) {
  Path place = loop;
  place.stmts.push_back(loop.loop().body);
  const Seq* body = place.target().as<Seq>();
  if (!body) return place;
  const std::vector<Expr> read = read_buffers(consumer);
  const auto child =
      std::find_if(body->stmts.rbegin(), body->stmts.rend(), [&](const Stmt& s) { return writes_any(s, read); });
  HONE_CHECK(child != body->stmts.rend(), "nothing below the loop writes what block '{}' reads", consumer.name);
  place.stmts.push_back(*child);
  return place;
}

}  // namespace

Result<Program> reverse_compute_at(const Program& program, std::string_view block_name, std::string_view loop_name) {
  HONE_TRY(const Path path, find_block(program, block_name, kReverseComputeAt));
  HONE_TRY(const Path old_loop, find_loop(program, loop_name, kReverseComputeAt));
  HONE_TRY(check_movable(path, old_loop));
  HONE_TRY(const ProducedRanges produced, find_produced(program, path, old_loop));
  HONE_TRY(const Visited visited, visited_below(path, common_loops(path, old_loop), kReverseComputeAt));
  std::vector<IterRange> ranges;
  for (std::size_t i = 0; i < visited.ranges.size(); ++i)
    ranges.push_back(produced.range(i).value_or(visited.ranges[i]));

  const Program without = replace(program, path, Stmt());
  HONE_TRY(const Path loop, find_loop(without, loop_name, kReverseComputeAt));
  const Stmt nest = make_nest(without, path.block(), ranges, visited.conditions, loop.bounds());
  Program moved = insert_after(without, last_writer(loop, path.block()), nest);
  HONE_TRY(const Path place, find_block(moved, block_name, kReverseComputeAt));
  HONE_TRY(check_loops_above(moved, place, kReverseComputeAt));
  return moved;
}

}  // namespace hone::schedule
