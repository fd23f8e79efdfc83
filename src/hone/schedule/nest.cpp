#include "hone/schedule/nest.h"

#include <algorithm>
#include <iterator>

#include "hone/ir/region.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/legality.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// Hands out loop names that neither the program nor the nest being built has.
class LoopNames {
 public:
  explicit LoopNames(const Program& program) : program_(program) {}

  std::string fresh(const std::string& base) {
    std::string name = fresh_loop_name(program_, base);
    for (int i = 1; std::find(given_.begin(), given_.end(), name) != given_.end(); ++i)
      name = fresh_loop_name(program_, fmt::format("{}_{}", base, i));
    given_.push_back(name);
    return name;
  }

 private:
  const Program& program_;
  std::vector<std::string> given_;
};

std::string loop_base_name(const Expr& iter_var) {
  const std::string& name = name_of(iter_var);
  return name.size() > 1 && name[0] == 'v' ? name.substr(1) : name;
}

Expr conjoin(const Expr& a, const Expr& b) { return a ? logical_and(a, b) : b; }

}  // namespace

IterRange full_range(const Iter& iter) { return {imm(0), constant_value(iter.extent)}; }

IterRange within(const Range& range, const Iter& iter, const Bounds& outer) {
  const IterRange full = full_range(iter);
  if (!range.is_known()) return full;
  const Interval extent = bounds_of(range.extent, outer);
  if (extent.max == Interval::kNoMax || extent.max >= full.extent) return full;
  const Expr min = simplify(range.min, outer);
  // A box that sticks out at a known end is cut there; elsewhere the predicate guards.
  const std::optional<std::int64_t> fixed = as_int(min);
  if (!fixed) return {min, std::max<std::int64_t>(extent.max, 0)};
  const std::int64_t first = std::clamp<std::int64_t>(*fixed, 0, full.extent);
  const std::int64_t end = std::clamp<std::int64_t>(*fixed + extent.max, first, full.extent);
  return {imm(first), end - first};
}

Stmt make_nest(const Program& program, const Block& block, std::span<const IterRange> ranges,
               std::span<const Expr> conditions, const Bounds& outer) {
  HONE_CHECK(ranges.size() == block.iters.size(), "{} ranges for {} variables", ranges.size(), block.iters.size());
  LoopNames names(program);
  Block moved = block;
  moved.predicate = {};
  Bounds bounds = outer;
  Substitution values;
  std::vector<std::pair<Expr, std::int64_t>> loops;
  for (const IterKind kind : {IterKind::Spatial, IterKind::Reduce}) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      Iter& iter = moved.iters[i];
      if (iter.kind != kind) continue;
      const auto& [min, extent] = ranges[i];
      const Expr loop = var(names.fresh(loop_base_name(iter.var)));
      loops.emplace_back(loop, extent);
      bounds.add_extent(loop, imm(extent));
      iter.binding = simplify(min + loop, bounds);
      if (!can_prove(iter.binding >= 0, bounds)) moved.predicate = conjoin(moved.predicate, imm(0) <= iter.binding);
      if (!can_prove(iter.binding < iter.extent, bounds))
        moved.predicate = conjoin(moved.predicate, iter.binding < iter.extent);
      values.emplace_back(iter.var, iter.binding);
    }
  }
  for (const Expr& condition : conditions) {
    const Expr now = simplify(substitute(condition, values), bounds);
    if (!is_int(now, 1)) moved.predicate = conjoin(moved.predicate, now);
  }
  Stmt nest = make(std::move(moved));
  for (std::size_t i = loops.size(); i-- > 0;)
    nest = make(For{.var = loops[i].first, .extent = imm(loops[i].second), .body = nest});
  return nest;
}

Stmt make_copy(const Program& program, const std::string& name, const Expr& from, const Expr& to,
               std::span<const IterRange> ranges) {
  Block copy{.name = name};
  std::vector<Expr> indices;
  const std::vector<Expr>& shape = from.get<Buffer>().shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    indices.push_back(var(fmt::format("vax{}", axis)));
    copy.iters.push_back({.var = indices[axis], .extent = shape[axis], .kind = IterKind::Spatial, .binding = {}});
  }
  copy.body = store(to, indices, load(from, indices));
  return make_nest(program, copy, ranges, {}, Bounds());
}

std::vector<IterRange> written_ranges(const Program& program, const Expr& buffer) {
  const std::optional<Region> written = region_of(program.body, buffer, Access::Write);
  std::vector<IterRange> ranges;
  const std::vector<Expr>& shape = buffer.get<Buffer>().shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const Iter all{.var = {}, .extent = shape[axis], .kind = IterKind::Spatial, .binding = {}};
    ranges.push_back(written ? within((*written)[axis], all, Bounds()) : full_range(all));
  }
  return ranges;
}

Result<Path> naive_nest(const Path& path, std::string_view step) {
  const Block& block = path.block();
  const Error is_scheduled =
      error(ErrorCode::IllegalStep, "{0}: the loops of block '{1}' are not the naive ones, {0} before other steps",
            step, block.name);
  const std::size_t depth = path.stmts.size() - 1;
  const std::size_t count = block.iters.size();
  if (path.loops().size() != count || depth < count || block.predicate) return is_scheduled;
  std::vector<bool> is_bound(count, false);
  for (const Iter& iter : block.iters) {
    bool has_loop = false;
    for (std::size_t i = 0; i < count; ++i) {
      const For* loop = path.stmts[depth - count + i].as<For>();
      if (!loop || loop->how != ForKind::Serial) return is_scheduled;
      if (!iter.binding.is(loop->var) || !is_int(loop->extent, constant_value(iter.extent))) continue;
      has_loop = !is_bound[i];
      is_bound[i] = true;
    }
    if (!has_loop) return is_scheduled;
  }
  return path.prefix(depth - count);
}

Path top_level(const Path& path) {
  std::size_t depth = 0;
  while (path.stmts[depth].as<Allocate>() || path.stmts[depth].as<Seq>()) ++depth;
  return path.prefix(depth);
}

bool is_below(const Path& path, const Stmt& stmt) {
  return std::any_of(path.stmts.begin(), path.stmts.end(), [&](const Stmt& s) { return s.is(stmt); });
}

std::size_t common_loops(const Path& a, const Path& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(a.stmts.size(), b.stmts.size()) && a.stmts[i].is(b.stmts[i]); ++i)
    count += a.stmts[i].as<For>() != nullptr;
  return count;
}

bool determines_all(std::span<const Expr> indices, std::span<const Expr> loops, std::span<const Expr> free,
                    const Bounds& bounds) {
  std::vector<Expr> simple;
  for (const Expr& index : indices) simple.push_back(simplify(index, bounds));
  return std::all_of(loops.begin(), loops.end(), [&](const Expr& loop) {
    Bounds inner;
    for (const Expr& var : free) inner.add(var, bounds.of(var));
    for (const Expr& var : loops)
      if (!var.is(loop)) inner.add(var, bounds.of(var));
    return is_disjoint(simple, loop, bounds.of(loop), inner);
  });
}

Result<void> check_none_pipelined(const Path& path, std::string_view step) {
  for (const Stmt& s : path.stmts)
    if (const For* loop = s.as<For>()) HONE_TRY(check_not_pipelined(*loop, step));
  return {};
}

Result<void> check_may_move(const Path& path, std::string_view step) {
  HONE_TRY(check_none_pipelined(path, step));
  const Block& block = path.block();
  for (const Stmt& s : path.loops()) {
    const Expr& var = s.get<For>().var;
    if (uses(block.body, var) || (block.init && uses(block.init, var)))
      return error(ErrorCode::IllegalStep,
                   "{}: block '{}' uses loop '{}' itself, as for buffers used in turn, and stays", step, block.name,
                   name_of(var));
  }
  return {};
}

std::vector<std::pair<Expr, Expr>> bindings_of(const Block& block) {
  std::vector<std::pair<Expr, Expr>> values;
  for (const Iter& iter : block.iters) values.emplace_back(iter.var, iter.binding);
  return values;
}

}  // namespace hone::schedule
