#include "hone/codegen/hoist_guards.h"

#include "hone/codegen/conditions.h"
#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"

namespace hone::codegen {

using namespace ir;

namespace {

Stmt hoist_out_of(const Stmt& s, const For& loop) {
  const If* guard = loop.body.as<If>();
  if (!guard || guard->otherwise) return s;
  std::vector<Expr> outside, inside;
  for (const Expr& conjunct : conjuncts(guard->condition))
    (uses(conjunct, loop.var) || has_load(conjunct) ? inside : outside).push_back(conjunct);
  if (outside.empty()) return s;
  const Stmt body = guarded(conjunction(inside), guard->then);
  return guarded(conjunction(outside), make(For{loop.var, loop.extent, loop.how, body, loop.annotations}));
}

bool have_equal_guards(const If& a, const If& b) {
  return !a.otherwise && !b.otherwise && !has_load(a.condition) && equal(a.condition, b.condition);
}

Stmt join_neighbours(const Stmt& s, const Seq& sequence) {
  std::vector<Stmt> joined;
  for (const Stmt& next : sequence.stmts) {
    const If* a = joined.empty() ? nullptr : joined.back().as<If>();
    const If* b = next.as<If>();
    if (a && b && have_equal_guards(*a, *b)) {
      joined.back() = make(If{.condition = a->condition, .then = seq({a->then, b->then})});
    } else {
      joined.push_back(next);
    }
  }
  return joined.size() == sequence.stmts.size() ? s : seq(std::move(joined));
}

Stmt hoist(const Stmt& s) {
  const Stmt inner_done = map_children(s, [](const Stmt& child) { return hoist(child); });
  if (const For* loop = inner_done.as<For>()) return hoist_out_of(inner_done, *loop);
  if (const Seq* sequence = inner_done.as<Seq>()) return join_neighbours(inner_done, *sequence);
  return inner_done;
}

}  // namespace

Function hoist_guards(const Function& function) { return {function.name, function.params, hoist(function.body)}; }

}  // namespace hone::codegen
