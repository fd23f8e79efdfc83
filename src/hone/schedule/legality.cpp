#include "hone/schedule/legality.h"

#include <algorithm>

#include "hone/ir/equal.h"
#include "hone/ir/region.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// Whether every access to the buffer stands below the loop, so that each iteration may have a copy of its own.
bool is_private(const Program& program, const Stmt& loop, const Expr& buffer) {
  if (is_param(program, buffer)) return false;
  bool inside_only = true;
  const auto visit = [&](const auto& self, const Stmt& s) -> void {
    if (!inside_only || s.is(loop)) return;
    const Block* block = s.as<Block>();
    if (block && uses(s, buffer)) inside_only = false;
    if (!block) for_each_child(s, [&](const Stmt& child) { self(self, child); }, [](const Expr&) {});
  };
  visit(visit, program.body);
  return inside_only;
}

/// Whether different iterations of the loop store to different elements of the buffer.
bool writes_apart(const Path& block_path, const For& loop, const Expr& buffer) {
  const Block& block = block_path.block();
  Substitution bindings;
  for (const Iter& iter : block.iters) bindings.emplace_back(iter.var, iter.binding);
  Bounds inner;
  bool has_lets = false;  // whose values are not looked into
  walk(block_path.target(), [&](const Stmt& s) {
    if (const For* body_loop = s.as<For>()) inner.add_extent(body_loop->var, body_loop->extent);
    has_lets = has_lets || s.as<Let>();
  });
  if (has_lets) return false;
  bool is_below = false;
  for (const Stmt& s : block_path.loops()) {
    const For& candidate = s.get<For>();
    if (is_below) inner.add_extent(candidate.var, candidate.extent);
    is_below |= candidate.var.is(loop.var);
  }
  const Bounds bounds = block_path.bounds();
  bool apart = true;
  const auto visit = [&](const Stmt& s) {
    const Store* store = s.as<Store>();
    if (!store || !store->buffer.is(buffer)) return;
    std::vector<Expr> indices;
    for (const Expr& index : store->indices) indices.push_back(simplify(substitute(index, bindings), bounds));
    apart = apart && is_disjoint(indices, loop.var, bounds.of(loop.var), inner);
  };
  walk(block.body, visit);
  if (block.init) walk(block.init, visit);
  return apart;
}

/// An error if something below the loop cannot run in lanes.
Result<void> check_lanes(const Path& loop_path, std::string_view step) {
  Result<void> result;
  const auto refuse = [&](std::string_view what) {
    if (result)
      result = error(ErrorCode::IllegalStep, "{}: below loop '{}' stands {}, which cannot run in lanes", step,
                     name_of(loop_path.loop().var), what);
  };
  walk(loop_path.target(), [&](const Stmt& s) {
    if (s.as<Evaluate>()) refuse("a prefetch");
    const Store* store = s.as<Store>();
    if (store && store->value.type().is_vector()) refuse("a store of vectors");
  });
  return result;
}

}  // namespace

Role role_of(const Expr& loop_var, const Block& block) {
  bool spatial = false, reduce = false;
  for (const Iter& iter : block.iters)
    if (uses(iter.binding, loop_var)) (iter.kind == IterKind::Spatial ? spatial : reduce) = true;
  if (spatial && reduce) return Role::Mixed;
  return spatial ? Role::Spatial : reduce ? Role::Reduce : Role::None;
}

Result<void> check_no_scan(const Block& block, std::string_view step) {
  std::vector<const Store*> stores;
  walk(block.body, [&](const Stmt& s) {
    if (const Store* store = s.as<Store>()) stores.push_back(store);
  });
  Result<void> result;
  const auto same_place = [](const Load& load, const Store& store) {
    return std::equal(load.indices.begin(), load.indices.end(), store.indices.begin(), store.indices.end(),
                      [](const Expr& a, const Expr& b) { return equal(a, b); });
  };
  const auto visit = [&](const Expr& e) {
    const Load* load = e.as<Load>();
    if (!load || !result) return;
    bool is_written = false, is_own = false;
    for (const Store* store : stores) {
      if (!store->buffer.is(load->buffer)) continue;
      is_written = true;
      is_own = is_own || same_place(*load, *store);
    }
    if (is_written && !is_own)
      result = error(ErrorCode::IllegalStep, "{}: block '{}' reads other elements of buffer '{}' than it writes", step,
                     block.name, name_of(load->buffer));
  };
  walk(block.body, [](const Stmt&) {}, visit);
  return result;
}

Result<void> check_not_pipelined(const For& loop, std::string_view step) {
  if (!find(loop.annotations, kPipelined)) return {};
  return error(ErrorCode::IllegalStep, "{}: loop '{}' is software-pipelined, its iterations depend on each other", step,
               name_of(loop.var));
}

Result<void> check_independent(const Program& program, const Path& loop_path, ForKind kind, std::string_view step) {
  const For& loop = loop_path.loop();
  HONE_TRY(check_not_pipelined(loop, step));
  if (kind == ForKind::Vectorized) HONE_TRY(check_lanes(loop_path, step));
  if (is_int(loop.extent, 1) || is_int(loop.extent, 0)) return {};
  for (const Path& path : blocks_below(loop_path)) {
    const Block& block = path.block();
    HONE_TRY(check_no_scan(block, step));
    const Role role = role_of(loop.var, block);
    if (role == Role::Reduce || role == Role::Mixed)
      return error(ErrorCode::IllegalStep,
                   "{}: block '{}' reduces over loop '{}', allowed are loops of spatial variables", step, block.name,
                   name_of(loop.var));
    for (const Expr& buffer : written_buffers(block)) {
      if (writes_apart(path, loop, buffer)) continue;
      if (kind != ForKind::Vectorized && is_private(program, loop_path.target(), buffer)) continue;
      return error(ErrorCode::IllegalStep, "{}: iterations of loop '{}' may write the same elements of buffer '{}'",
                   step, name_of(loop.var), name_of(buffer));
    }
  }
  return {};
}

Result<void> check_loops_above(const Program& program, const Path& path, std::string_view step) {
  for (std::size_t depth = 0; depth + 1 < path.stmts.size(); ++depth) {
    const For* loop = path.stmts[depth].as<For>();
    if (!loop || loop->how == ForKind::Serial || loop->how == ForKind::Unrolled) continue;
    HONE_TRY(check_independent(program, path.prefix(depth), loop->how, step));
  }
  return {};
}

}  // namespace hone::schedule
