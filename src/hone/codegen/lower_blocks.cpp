#include "hone/codegen/lower_blocks.h"

#include "hone/codegen/conditions.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {

using namespace ir;

namespace {

Stmt lower(const Stmt& s, const Bounds& bounds);

/// The conjuncts that are not known to hold.
Expr undecided(const std::vector<Expr>& conditions, const Bounds& bounds) {
  std::vector<Expr> open;
  for (const Expr& condition : conditions)
    for (const Expr& conjunct : conjuncts(simplify(condition, bounds)))
      if (!can_prove(conjunct, bounds)) open.push_back(conjunct);
  return conjunction(open);
}

/// Writes the extent of loops that a binding made negative as 0: both run their body never, but only 0 verifies.
Stmt with_allowed_extents(const Stmt& s) {
  const Stmt inner = map_children(s, [](const Stmt& child) { return with_allowed_extents(child); });
  const For* loop = inner.as<For>();
  if (!loop) return inner;
  const std::optional<std::int64_t> extent = as_int(loop->extent);
  if (!extent || *extent >= 0) return inner;
  return make(For{loop->var, imm(0), loop->how, loop->body, loop->annotations});
}

/// A part of a block with its variables bound.
Stmt bound(const Stmt& s, const Substitution& bindings) { return with_allowed_extents(substitute(s, bindings)); }

Stmt lower_block(const Block& block, const Bounds& bounds) {
  Bounds inner = bounds;
  Substitution bindings;
  std::vector<Expr> at_first;
  for (const Iter& iter : block.iters) {
    const Expr binding = simplify(iter.binding, bounds);
    inner.add_extent(iter.var, iter.extent);
    bindings.emplace_back(iter.var, binding);
    if (iter.kind == IterKind::Reduce) at_first.push_back(eq(binding, 0));
  }
  Stmt body = bound(lower(block.body, inner), bindings);
  if (block.init) {
    const Stmt init = bound(lower(block.init, inner), bindings);
    body = seq({guarded(undecided(at_first, bounds), init), body});
  }
  return block.predicate ? guarded(undecided({substitute(block.predicate, bindings)}, bounds), body) : body;
}

Stmt lower(const Stmt& s, const Bounds& bounds) {
  if (const Block* block = s.as<Block>()) return lower_block(*block, bounds);
  if (const For* loop = s.as<For>()) {
    Bounds inner = bounds;
    inner.add_extent(loop->var, loop->extent);
    return map_children(s, [&](const Stmt& child) { return lower(child, inner); });
  }
  return map_children(s, [&](const Stmt& child) { return lower(child, bounds); });
}

}  // namespace

Function lower_blocks(const Function& function) { return {function.name, function.params, lower(function.body, {})}; }

}  // namespace hone::codegen
