#include "hone/codegen/hoist_inits.h"

#include <algorithm>

#include "hone/codegen/names.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"

namespace hone::codegen {

using namespace ir;

namespace {

/// The statements from a reduction loop down to a block with `init`, outermost first; the block itself comes last.
using Path = std::vector<Stmt>;

void find_reductions(const Stmt& s, Path& path, std::vector<Path>& found) {
  path.push_back(s);
  const Block* block = s.as<Block>();
  if (block && block->init) found.push_back(path);
  for_each_child(s, [&](const Stmt& child) { find_reductions(child, path, found); }, [](const Expr&) {});
  path.pop_back();
}

bool in_reduction(const Block& block, const Expr& var) {
  return std::any_of(block.iters.begin(), block.iters.end(),
                     [&](const Iter& iter) { return iter.kind == IterKind::Reduce && uses(iter.binding, var); });
}

bool in_space(const Block& block, const Expr& var) {
  return std::any_of(block.iters.begin(), block.iters.end(),
                     [&](const Iter& iter) { return iter.kind == IterKind::Spatial && uses(iter.binding, var); });
}

std::vector<Expr> stored_in(const Stmt& s) {
  std::vector<Expr> buffers;
  walk(s, [&](const Stmt& child) {
    if (const Store* store = child.as<Store>()) buffers.push_back(store->buffer);
  });
  return buffers;
}

/// Whether any of the buffers is accessed in `s` outside of the statement `except`.
bool touches(const Stmt& s, const std::vector<Expr>& buffers, const Stmt& except) {
  if (s.is(except)) return false;
  bool found = false;
  for_each_child(
      s, [&](const Stmt& child) { found = found || touches(child, buffers, except); },
      [&](const Expr& e) {
        for (const Expr& buffer : buffers) found = found || uses(e, buffer);
      });
  return found;
}

/// Whether the loops of the path either carry only the reduction, at least one iteration of it, or only space. `outer`
/// are the loops of the reduction around the path.
bool has_clear_loops(const Path& path, const std::vector<Expr>& outer) {
  const Block& block = path.back().get<Block>();
  Substitution first;
  for (const Expr& var : outer) {
    if (in_space(block, var)) return false;
    first.emplace_back(var, imm(0));
  }
  for (const Stmt& s : path) {
    if (s.as<Seq>() || s.as<If>() || s.as<Allocate>() || s.is(path.back())) continue;
    const For* loop = s.as<For>();
    if (!loop) return false;
    if (!in_reduction(block, loop->var)) continue;
    if (in_space(block, loop->var) || as_int(loop->extent).value_or(0) < 1) return false;
    first.emplace_back(loop->var, imm(0));
  }
  return std::all_of(block.iters.begin(), block.iters.end(), [&](const Iter& iter) {
    return iter.kind == IterKind::Spatial || is_int(simplify(substitute(iter.binding, first)), 0);
  });
}

/// Whether no loop over space stands between the path's loops of the reduction. From such a place on, what is
/// initialised is what one run of these loops accumulates: small, and still in cache or registers.
bool is_innermost(const Path& path) {
  const Block& block = path.back().get<Block>();
  bool has_space = false;
  for (const Stmt& s : path) {
    const For* loop = s.as<For>();
    if (!loop) continue;
    if (!in_reduction(block, loop->var)) {
      has_space = true;
    } else if (has_space) {
      return false;
    }
  }
  return true;
}

bool is_hoistable(const Path& path, const std::vector<Expr>& outer) {
  const Stmt& block = path.back();
  const std::vector<Expr> results = stored_in(block.get<Block>().init);
  if (!is_innermost(path) || !has_clear_loops(path, outer) || touches(path.front(), results, block)) return false;
  std::vector<Expr> changed = stored_in(path.front());
  std::erase_if(changed, [&](const Expr& buffer) {
    return std::any_of(results.begin(), results.end(), [&](const Expr& result) { return result.is(buffer); });
  });
  return !touches(block.get<Block>().init, changed, {});
}

/// The block's initialisation, inside copies of the path's loops over space and of its guards.
Stmt init_nest(const Path& path) {
  const Block& block = path.back().get<Block>();
  Substitution first;
  for (const Stmt& s : path)
    if (const For* loop = s.as<For>(); loop && in_reduction(block, loop->var)) first.emplace_back(loop->var, imm(0));

  Block init{.name = block.name + "_init", .predicate = block.predicate, .body = block.init};
  Substitution reduction_start;
  for (const Iter& iter : block.iters) {
    if (iter.kind == IterKind::Spatial) {
      init.iters.push_back(iter);
    } else {
      reduction_start.emplace_back(iter.var, imm(0));
    }
  }
  Stmt nest = substitute(make(std::move(init)), reduction_start);
  for (auto s = path.rbegin() + 1; s != path.rend(); ++s) {
    if (const For* loop = s->as<For>(); loop && !in_reduction(block, loop->var)) {
      nest = make(For{loop->var, loop->extent, loop->how, nest, loop->annotations});
    } else if (const If* guard = s->as<If>()) {
      nest = make(If{.condition = guard->condition, .then = nest});
    }
  }
  return substitute(nest, first);
}

Stmt without_init(const Stmt& s, const Stmt& reduction) {
  if (s.is(reduction)) {
    Block block = s.get<Block>();
    block.init = {};
    return make(std::move(block));
  }
  return map_children(s, [&](const Stmt& child) { return without_init(child, reduction); });
}

Stmt hoist(const Stmt& s, std::vector<Expr>& outer) {
  const For* loop = s.as<For>();
  if (!loop) return map_children(s, [&](const Stmt& child) { return hoist(child, outer); });

  std::vector<Path> reductions;
  Path path;
  find_reductions(s, path, reductions);
  std::vector<Stmt> result;
  Stmt rest = s;
  for (const Path& reduction : reductions) {
    const Block& block = reduction.back().get<Block>();
    std::vector<Expr> around;
    std::copy_if(outer.begin(), outer.end(), std::back_inserter(around),
                 [&](const Expr& var) { return in_reduction(block, var); });
    if (!in_reduction(block, loop->var) || !is_hoistable(reduction, around)) continue;
    Stmt init = init_nest(reduction);
    for (const Expr& var : around) init = make(If{.condition = eq(var, 0), .then = init});
    result.push_back(init);
    rest = without_init(rest, reduction.back());
  }
  outer.push_back(loop->var);
  result.push_back(map_children(rest, [&](const Stmt& child) { return hoist(child, outer); }));
  outer.pop_back();
  return seq(std::move(result));
}

}  // namespace

Function hoist_inits(const Function& function) {
  std::vector<Expr> outer;
  return with_unique_names({function.name, function.params, hoist(function.body, outer)});
}

}  // namespace hone::codegen
