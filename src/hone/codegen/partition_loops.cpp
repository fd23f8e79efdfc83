#include "hone/codegen/partition_loops.h"

#include <algorithm>

#include "hone/codegen/conditions.h"
#include "hone/codegen/names.h"
#include "hone/ir/affine.h"
#include "hone/ir/equal.h"
#include "hone/ir/region.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {

using namespace ir;

namespace {

/// A loop is cut into at most this many parts.
constexpr std::size_t kMaxParts = 4;
/// What is shared by so few iterations of a parallel loop are large pieces, no borders.
constexpr std::int64_t kFewPieces = 16;

/// A conjunct of a guard below a loop: holds where its slack is positive.
struct Guard {
  Expr condition;
  Range slack_range;  ///< over all iterations of the loops between
};

/// Part of a loop's range, and what the guard is there.
struct Part {
  std::int64_t begin, end;
  enum class Holds { Always, Never, Sometimes } holds;
};

std::int64_t count_statements(const Stmt& s) {
  std::int64_t count = s.as<Store>() || s.as<Evaluate>() ? 1 : 0;
  for_each_child(s, [&](const Stmt& child) { count += count_statements(child); }, [](const Expr&) {});
  const For* loop = s.as<For>();
  return loop && loop->how == ForKind::Unrolled ? count * as_int(loop->extent).value_or(1) : count;
}

/// Which conditions count as guards: those of branches alone, or those of Selects within stores too.
enum class Selects : std::uint8_t { Leave, Cut };

/// The guards inside a loop's body that depend on its variable, outermost first.
void find_guards(const Stmt& s, const Expr& var, const Bounds& inner, Selects selects, std::vector<Guard>& found) {
  const auto add = [&](const Expr& condition) {
    for (const Expr& conjunct : conjuncts(condition)) {
      const Expr slack = slack_of(conjunct);
      if (slack && uses(conjunct, var) && !has_load(conjunct))
        found.push_back({conjunct, range_of(simplify(slack), inner)});
    }
  };
  if (const If* node = s.as<If>()) add(node->condition);
  if (const Store* node = s.as<Store>(); node && selects == Selects::Cut)
    walk(node->value, [&](const Expr& e) {
      if (const Select* select = e.as<Select>()) add(select->condition);
    });
  Bounds below = inner;
  if (const For* loop = s.as<For>()) below.add_extent(loop->var, loop->extent);
  for_each_child(s, [&](const Stmt& child) { find_guards(child, var, below, selects, found); }, [](const Expr&) {});
}

/// Whether the expression depends on `var` and on nothing else.
bool is_over(const Expr& e, const Expr& var) {
  bool found = false, others = false;
  walk(e, [&](const Expr& part) {
    if (part.as<Var>()) (part.is(var) ? found : others) = true;
    others = others || part.as<Load>();
  });
  return found && !others;
}

/// The values of an affine `e` of one variable that are positive: all below `end`, or all from `begin` on.
struct Positive {
  std::int64_t begin, end;
};

std::optional<Positive> where_positive(const Expr& e, const Expr& var, std::int64_t extent) {
  const std::optional<Affine> affine = to_affine(e);
  if (!affine || affine->terms.size() > 1 || (affine->terms.size() == 1 && !affine->terms[0].first.is(var)))
    return std::nullopt;
  const std::int64_t slope = affine->coefficient(var), start = affine->constant;
  const auto is_positive = [&](std::int64_t v) { return slope * v + start > 0; };
  if (slope == 0) return is_positive(0) ? Positive{0, extent} : Positive{0, 0};
  std::int64_t low = 0, high = extent;
  while (low < high) {  // bisect for the first value on the other side
    const std::int64_t middle = low + (high - low) / 2;
    if (is_positive(middle) == (slope < 0)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return slope < 0 ? Positive{0, low} : Positive{low, extent};
}

/// The parts of [0, extent) by what the guard does there, or one part if this loop does not decide it.
std::vector<Part> parts_of(const Guard& guard, const Expr& var, std::int64_t extent) {
  const Range& range = guard.slack_range;
  const std::vector<Part> undecided = {{0, extent, Part::Holds::Sometimes}};
  if (!range.min || !range.extent || !as_int(range.extent)) return undecided;
  const auto always = where_positive(simplify(range.min), var, extent);
  const auto possible = where_positive(simplify(range.min + range.extent - 1), var, extent);
  if (!always || !possible) return undecided;

  std::vector<std::int64_t> cuts = {0, always->begin, always->end, possible->begin, possible->end, extent};
  std::sort(cuts.begin(), cuts.end());
  std::vector<Part> parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i] == cuts[i + 1]) continue;
    const bool holds = cuts[i] >= always->begin && cuts[i] < always->end;
    const bool may_hold = cuts[i] >= possible->begin && cuts[i] < possible->end;
    parts.push_back({cuts[i], cuts[i + 1],
                     holds      ? Part::Holds::Always
                     : may_hold ? Part::Holds::Sometimes
                                : Part::Holds::Never});
  }
  return parts;
}

/// The guards that a loop decides in some part of its range, and where that range is to be cut.
struct Plan {
  std::vector<Guard> guards;
  std::vector<std::vector<Part>> parts;  ///< of each guard
  std::vector<std::int64_t> cuts;        ///< 0, …, extent
};

Plan plan_for(const For& loop, std::int64_t extent, Selects selects) {
  Plan plan{.cuts = {0, extent}};
  std::vector<Guard> guards;
  find_guards(loop.body, loop.var, {}, selects, guards);
  for (const Guard& guard : guards) {
    std::vector<Part> parts = parts_of(guard, loop.var, extent);
    if (parts.size() == 1 && parts[0].holds == Part::Holds::Sometimes) continue;
    std::vector<std::int64_t> cuts = plan.cuts;
    for (const Part& part : parts) cuts.push_back(part.begin);
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    if (cuts.size() > kMaxParts + 1) continue;
    plan.cuts = std::move(cuts);
    plan.guards.push_back(guard);
    plan.parts.push_back(std::move(parts));
  }
  return plan;
}

/// The conjuncts of a condition but for one (this very node); none if it is not among them.
std::optional<std::vector<Expr>> without(const Expr& condition, const Expr& conjunct) {
  const std::vector<Expr> all = conjuncts(condition);
  std::vector<Expr> rest;
  std::copy_if(all.begin(), all.end(), std::back_inserter(rest), [&](const Expr& c) { return !c.is(conjunct); });
  return rest.size() < all.size() ? std::optional(rest) : std::nullopt;
}

/// The value with a conjunct of the conditions of its Selects decided.
Expr decide(const Expr& e, const Expr& condition, bool holds) {
  const Expr inner = map_children(e, [&](const Expr& child) { return decide(child, condition, holds); });
  const Select* node = inner.as<Select>();
  const auto rest = node ? without(node->condition, condition) : std::nullopt;
  if (!rest) return inner;
  if (!holds) return node->b;
  return rest->empty() ? node->a : select(conjunction(*rest), node->a, node->b);
}

/// `s` with a conjunct of a guard (this very node) decided.
Stmt decide(const Stmt& s, const Expr& condition, bool holds) {
  const If* node = s.as<If>();
  const auto rest = node ? without(node->condition, condition) : std::nullopt;
  if (!rest)
    return map_children(
        s, [&](const Stmt& child) { return decide(child, condition, holds); },
        [&](const Expr& e) { return s.as<Store>() ? decide(e, condition, holds) : e; });
  if (!holds) return node->otherwise ? node->otherwise : make(Seq{});
  return rest->empty() ? node->then : make(If{conjunction(*rest), node->then, node->otherwise});
}

/// The loop's body as it is for values from `begin` up to the next cut.
Stmt body_from(const For& loop, const Plan& plan, std::int64_t begin) {
  Stmt body = loop.body;
  for (std::size_t i = 0; i < plan.guards.size(); ++i)
    for (const Part& part : plan.parts[i])
      if (part.begin <= begin && begin < part.end && part.holds != Part::Holds::Sometimes)
        body = decide(body, plan.guards[i].condition, part.holds == Part::Holds::Always);
  return body;
}

/// Selects are cut where everything around holds; a border, which costs little, is not cut again.
Selects selects_at(const Plan& plan, std::int64_t begin, Selects selects) {
  for (const std::vector<Part>& parts : plan.parts)
    for (const Part& part : parts)
      if (part.begin <= begin && begin < part.end && part.holds != Part::Holds::Always) return Selects::Leave;
  return selects;
}

Stmt partition(const Stmt& s, const Bounds& bounds, Selects selects);

Stmt partition_below(const Stmt& s, const Bounds& bounds, Selects selects) {
  Bounds inner = bounds;
  if (const For* loop = s.as<For>()) inner.add_extent(loop->var, loop->extent);
  return map_children(s, [&](const Stmt& child) { return partition(child, inner, selects); });
}

Stmt one_loop_per_part(const For& loop, const Plan& plan, const Bounds& bounds, Selects selects) {
  std::vector<Stmt> loops;
  for (std::size_t i = 0; i + 1 < plan.cuts.size(); ++i) {
    const std::int64_t begin = plan.cuts[i], extent = plan.cuts[i + 1] - begin;
    const Expr index = var(name_of(loop.var));
    const Stmt body = substitute(body_from(loop, plan, begin), loop.var, index + begin);
    const Stmt part = remove_trivial_loops(make(For{index, imm(extent), loop.how, body, loop.annotations}));
    const Stmt simple = simplify(part, bounds);
    const For* rest = simple.as<For>();
    const bool is_done = rest && rest->var.is(index);
    const Selects below = selects_at(plan, begin, selects);
    loops.push_back(is_done ? partition_below(simple, bounds, below) : partition(simple, bounds, below));
  }
  return seq(std::move(loops));
}

Stmt one_branch_per_part(const For& loop, const Plan& plan, const Bounds& bounds, Selects selects) {
  Stmt branches;
  Bounds inner = bounds;
  inner.add_extent(loop.var, loop.extent);
  for (std::size_t i = plan.cuts.size() - 1; i-- > 0;) {
    const std::int64_t begin = plan.cuts[i], end = plan.cuts[i + 1];
    Stmt body = body_from(loop, plan, begin);
    if (end - begin == 1) body = substitute(body, loop.var, imm(begin));
    const bool are_pieces = as_int(loop.extent).value_or(0) <= kFewPieces;
    body = partition(simplify(body, inner), inner, are_pieces ? selects : selects_at(plan, begin, selects));
    branches = branches ? make(If{loop.var < end, body, branches}) : body;
  }
  return make(For{loop.var, loop.extent, loop.how, branches, loop.annotations});
}

/// For guards that this loop decides, though not in parts of its range (a fused loop, say): the body without them where
/// all of them hold, else the body as it is. Gives back the loop itself if there are no such guards.
Stmt branch_on_all(const Stmt& s, const For& loop, Selects selects) {
  std::vector<Guard> guards;
  find_guards(loop.body, loop.var, {}, selects, guards);
  Stmt body = loop.body;
  std::vector<Expr> all_hold;
  for (const Guard& guard : guards) {
    const Range& range = guard.slack_range;
    if (!range.is_known() || !as_int(range.extent) || is_int(range.extent, 1) || !is_over(range.min, loop.var))
      continue;
    const Expr holds = simplify(imm(0) < range.min);
    const auto is_same = [&](const Expr& known) { return equal(known, holds); };
    if (std::none_of(all_hold.begin(), all_hold.end(), is_same)) all_hold.push_back(holds);
    body = decide(body, guard.condition, true);
  }
  if (all_hold.empty()) return s;
  const Stmt branches = make(If{conjunction(all_hold), body, loop.body});
  return make(For{loop.var, loop.extent, loop.how, branches, loop.annotations});
}

Stmt partition(const Stmt& s, const Bounds& bounds, Selects selects) {
  const For* loop = s.as<For>();
  if (!loop) return partition_below(s, bounds, selects);
  const auto extent = as_int(loop->extent);
  const bool is_split = loop->how == ForKind::Serial || loop->how == ForKind::Parallel;
  if (!extent || *extent < 1 || !is_split || count_statements(loop->body) > kMaxPartitionedStatements)
    return partition_below(s, bounds, selects);
  const Plan plan = plan_for(*loop, *extent, selects);
  if (plan.guards.empty()) return partition_below(branch_on_all(s, *loop, selects), bounds, selects);
  return loop->how == ForKind::Serial ? one_loop_per_part(*loop, plan, bounds, selects)
                                      : one_branch_per_part(*loop, plan, bounds, selects);
}

}  // namespace

Function partition_loops(const Function& function) {
  return with_unique_names({function.name, function.params, partition(function.body, {}, Selects::Cut)});
}

}  // namespace hone::codegen
