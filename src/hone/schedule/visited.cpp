#include "hone/schedule/visited.h"

#include <algorithm>

#include "hone/ir/linear.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/legality.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// The loops around a block: those that stand still, and those that run.
struct Surroundings {
  Bounds still, running;
  std::vector<Expr> running_vars;

  bool runs(const Expr& e) const {
    return std::any_of(running_vars.begin(), running_vars.end(), [&](const Expr& var) { return uses(e, var); });
  }
};

Surroundings surroundings_of(const Path& block, std::size_t still) {
  Surroundings around;
  for (const Stmt& s : block.loops()) {
    const For& loop = s.get<For>();
    if (still > 0) {
      around.still.add_extent(loop.var, loop.extent);
      --still;
    } else {
      around.running.add_extent(loop.var, loop.extent);
      around.running_vars.push_back(loop.var);
    }
  }
  return around;
}

/// A comparison over loops as one over iteration variables and loops that stand still: where its two sides differ by
/// such loops from a variable's binding, the variable stands for them. Null if that is not so for any variable.
Expr in_terms_of_iters(const Expr& condition, const Block& block, const Surroundings& around) {
  if (!around.runs(condition)) return condition;
  const Lt* less = condition.as<Lt>();
  const Le* at_most = condition.as<Le>();
  if (!less && !at_most) return {};
  const Expr difference = less ? less->a - less->b : at_most->a - at_most->b;
  for (const Iter& iter : block.iters)
    for (const std::int64_t sign : {1, -1}) {
      Linear rest = linear_of(difference);
      rest.add(linear_of(iter.binding), -sign);
      rest.drop_zeros();
      const Expr others = to_expr(rest);
      if (around.runs(others)) continue;
      const Expr left = iter.var * sign + others;
      return less ? left < 0 : left <= 0;
    }
  return {};
}

/// Whether the condition is on reduction loops only: reductions are always complete.
bool is_on_reduction(const Expr& condition, const Block& block, const Surroundings& around) {
  return std::all_of(around.running_vars.begin(), around.running_vars.end(),
                     [&](const Expr& var) { return !uses(condition, var) || role_of(var, block) == Role::Reduce; });
}

bool is_whole(const IterRange& range, const Iter& iter) {
  return is_int(range.min, 0) && is_int(iter.extent, range.extent);
}

}  // namespace

std::vector<Expr> conjuncts_of(const Expr& predicate) {
  const And* both = predicate.as<And>();
  if (!both) return {predicate};
  std::vector<Expr> parts = conjuncts_of(both->a);
  for (const Expr& part : conjuncts_of(both->b)) parts.push_back(part);
  return parts;
}

Result<Visited> visited_below(const Path& path, std::size_t still, std::string_view step) {
  const Block& block = path.block();
  const Surroundings around = surroundings_of(path, still);
  Bounds domain = around.still;
  for (const Iter& iter : block.iters) domain.add_extent(iter.var, iter.extent);

  Visited visited;
  const auto add = [&](const Expr& condition) {
    const Expr simple = simplify(condition, domain);
    if (!is_int(simple, 1)) visited.conditions.push_back(simple);
  };
  for (const Iter& iter : block.iters) {
    const bool is_spatial = iter.kind == IterKind::Spatial;
    const IterRange range = is_spatial
                                ? within(range_of(iter.binding, around.running, around.still), iter, around.still)
                                : full_range(iter);
    if (!is_whole(range, iter)) {
      add(range.min <= iter.var);
      add(iter.var < range.min + range.extent);
    }
    visited.ranges.push_back(range);
  }
  for (const Expr& condition : block.predicate ? conjuncts_of(block.predicate) : std::vector<Expr>()) {
    if (const Expr translated = in_terms_of_iters(condition, block, around)) {
      add(translated);
    } else if (still > 0 && !is_on_reduction(condition, block, around)) {
      return error(ErrorCode::IllegalStep, "{}: a condition of block '{}' is not one on its variables", step,
                   block.name);
    }  // else: it cuts off what split or fused loops have beyond the domain
  }
  return visited;
}

bool visits_whole_domain(const Path& block) {
  const Result<Visited> visited = visited_below(block, 0, "visits_whole_domain");
  return visited && visited->conditions.empty();
}

const For* outermost_reduce_loop(const Path& path) {
  for (const Stmt& s : path.loops()) {
    const For& loop = s.get<For>();
    const Role role = role_of(loop.var, path.block());
    if (role == Role::Reduce || role == Role::Mixed) return &loop;
  }
  return nullptr;
}

bool visits_once_below(const Path& path, const For& loop) {
  const Block& block = path.block();
  std::vector<Expr> point, loops;
  double iterations = 1, points = 1;  // exact as long as it matters
  for (const Iter& iter : block.iters) {
    point.push_back(iter.binding);
    points *= static_cast<double>(constant_value(iter.extent));
  }
  for (const Stmt& s : path.loops()) {
    const For& here = s.get<For>();
    iterations *= static_cast<double>(constant_value(here.extent));
    if (!loops.empty() || here.var.is(loop.var)) loops.push_back(here.var);
  }
  // As many iterations as points, all of which are visited: each is visited once.
  if (iterations == points && visits_whole_domain(path)) return true;
  return determines_all(point, loops, {}, path.bounds());
}

}  // namespace hone::schedule
