/// rfactor: a reduction becomes partial reductions, one per value of a loop, and a reduction of those.
#include <algorithm>

#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/combiner.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/nest.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/visited.h"

namespace hone::schedule {

using namespace ir;

namespace {

constexpr std::string_view kRfactor = "rfactor";

/// A block's predicate taken apart by what its conditions speak of.
struct Guards {
  Expr spatial;    ///< keeps the points inside the domain; null: always true
  Expr reduction;  ///< says which values of the reduction loops count; null: all
};

bool uses_any(const Expr& e, const std::vector<const For*>& loops) {
  return std::any_of(loops.begin(), loops.end(), [&](const For* loop) { return uses(e, loop->var); });
}

/// The loops around a block by their role.
struct Loops {
  std::vector<const For*> spatial, reduce;
};

Result<Loops> sort_loops(const Path& path) {
  Loops loops;
  for (const Stmt& s : path.loops()) {
    const For& loop = s.get<For>();
    const Role role = role_of(loop.var, path.block());
    if (role == Role::Mixed)
      return error(ErrorCode::IllegalStep, "{}: loop '{}' runs through spatial and reduction variables of block '{}'",
                   kRfactor, name_of(loop.var), path.block().name);
    (role == Role::Reduce ? loops.reduce : loops.spatial).push_back(&loop);
  }
  return loops;
}

Result<Guards> sort_guards(const Block& block, const Loops& loops) {
  Guards guards;
  if (!block.predicate) return guards;
  for (const Expr& condition : conjuncts_of(block.predicate)) {
    const bool is_reduction = uses_any(condition, loops.reduce);
    if (is_reduction && uses_any(condition, loops.spatial))
      return error(ErrorCode::IllegalStep, "{}: a condition of block '{}' is on spatial and reduction loops at once",
                   kRfactor, block.name);
    Expr& guard = is_reduction ? guards.reduction : guards.spatial;
    guard = guard ? logical_and(guard, condition) : condition;
  }
  return guards;
}

Result<void> check_factorable(const Program& program, const Path& path, const Path& loop) {
  const Block& block = path.block();
  const std::string& loop_name = name_of(loop.loop().var);
  if (!is_below(path, loop.target()))
    return error(ErrorCode::IllegalStep, "{}: loop '{}' is not around block '{}'", kRfactor, loop_name, block.name);
  if (role_of(loop.loop().var, block) != Role::Reduce)
    return error(ErrorCode::IllegalStep, "{}: loop '{}' is not a reduction loop of block '{}'", kRfactor, loop_name,
                 block.name);
  if (!block.init)
    return error(ErrorCode::IllegalStep, "{}: block '{}' is a reduction initialised elsewhere", kRfactor, block.name);
  if (const For* outermost = outermost_reduce_loop(path); !visits_once_below(path, *outermost))
    return error(ErrorCode::IllegalStep, "{}: block '{}' may visit a point more than once below loop '{}'", kRfactor,
                 block.name, name_of(outermost->var));
  for (const Expr& buffer : written_buffers(block))
    for (const Path& reader : readers(program, buffer))
      if (is_below(reader, top_level(path).target()))
        return error(ErrorCode::IllegalStep, "{}: buffer '{}' is read by block '{}' in the nest of block '{}'",
                     kRfactor, name_of(buffer), reader.block().name, block.name);
  return check_may_move(path, kRfactor);
}

/// A buffer for each output with one more axis, the first, for the values of the loop.
std::vector<Expr> partial_buffers(const Program& program, const Combiner& combiner, const For& loop) {
  std::vector<Expr> partials;
  for (const Expr& original : combiner.buffers) {
    std::vector<Expr> shape = original.get<Buffer>().shape;
    shape.insert(shape.begin(), loop.extent);
    partials.push_back(
        buffer(fresh_buffer_name(program, name_of(original) + ".rf"), original.type(), std::move(shape)));
  }
  return partials;
}

/// What the parts of a factored reduction are made from.
struct Parts {
  const Path& original;
  const For& factored;
  Loops loops;
  Guards guards;
  Combiner combiner;
  std::vector<Expr> partials;  ///< one per buffer of the combiner

  /// The place of output `i` in the partial results.
  std::vector<Expr> place(std::size_t i, const Expr& slot) const {
    std::vector<Expr> indices = combiner.indices[i];
    indices.insert(indices.begin(), slot);
    return indices;
  }

  Stmt store_partials(const Expr& slot, const std::vector<Expr>& values) const {
    std::vector<Stmt> stores;
    for (std::size_t i = 0; i < partials.size(); ++i) stores.push_back(store(partials[i], place(i, slot), values[i]));
    return seq(std::move(stores));
  }
};

/// The iteration variables of the partial reduction: the slot, the old spatial variables, and one variable for each
/// other reduction loop. `vars` gets what stands for the old variables, `loops` what stands for the reduction loops.
std::vector<Iter> partial_iters(const Parts& parts, const Expr& slot, Substitution& vars, Substitution& loops) {
  const Block& block = parts.original.block();
  std::vector<Iter> iters{{slot, parts.factored.extent, IterKind::Spatial, parts.factored.var}};
  loops.emplace_back(parts.factored.var, slot);
  for (const Iter& iter : block.iters) {
    if (iter.kind == IterKind::Reduce) continue;
    vars.emplace_back(iter.var, var(name_of(iter.var)));
    iters.push_back({vars.back().second, iter.extent, IterKind::Spatial, iter.binding});
  }
  for (const For* loop : parts.loops.reduce) {
    if (loop->var.is(parts.factored.var)) continue;
    loops.emplace_back(loop->var, var("v" + name_of(loop->var)));
    iters.push_back({loops.back().second, loop->extent, IterKind::Reduce, loop->var});
  }
  Bounds bounds;
  for (const Iter& iter : iters) bounds.add_extent(iter.var, iter.extent);
  for (const Iter& iter : block.iters)
    if (iter.kind == IterKind::Reduce) vars.emplace_back(iter.var, simplify(substitute(iter.binding, loops), bounds));
  return iters;
}

/// The block that computes the partial results, in the place of the original.
Stmt make_partial(const std::string& name, const Parts& parts) {
  const Block& block = parts.original.block();
  const Combiner& combiner = parts.combiner;
  const Expr slot = var("v" + name_of(parts.factored.var));
  Substitution vars, loops;
  Block partial{.name = name, .predicate = parts.guards.spatial, .annotations = block.annotations};
  partial.iters = partial_iters(parts, slot, vars, loops);

  // The guard of a split reduction loop moves into the value, so that every slot is filled, if only by the identity.
  std::vector<Expr> sources = combiner.sources;
  for (std::size_t i = 0; parts.guards.reduction && i < sources.size(); ++i)
    sources[i] = select(substitute(parts.guards.reduction, loops), sources[i], combiner.identities[i]);
  if (is_reduction(partial)) {
    partial.init = substitute(parts.store_partials(slot, combiner.identities), vars);
    partial.body = substitute(rewrite_update(block.body, combiner, {parts.partials, sources, {slot}}), vars);
  } else {
    partial.body = substitute(parts.store_partials(slot, sources), vars);
  }
  return make(std::move(partial));
}

/// The block that reduces the partial results, with the original's name, below loops of its own.
Result<Stmt> make_final(const Program& program, const Parts& parts) {
  const Block& block = parts.original.block();
  const Expr slot = var("v" + name_of(parts.factored.var));
  Block final{.name = block.name, .init = block.init, .annotations = block.annotations};
  HONE_TRY(const Visited visited, visited_below(parts.original, 0, kRfactor));
  std::vector<IterRange> ranges;
  for (std::size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind == IterKind::Reduce) continue;
    final.iters.push_back(block.iters[i]);
    ranges.push_back(visited.ranges[i]);
  }
  final.iters.push_back({slot, parts.factored.extent, IterKind::Reduce, parts.factored.var});
  ranges.push_back(full_range(final.iters.back()));

  std::vector<Expr> sources;
  for (std::size_t i = 0; i < parts.partials.size(); ++i)
    sources.push_back(load(parts.partials[i], parts.place(i, slot)));
  final.body = rewrite_update(block.body, parts.combiner, {parts.combiner.buffers, sources, {}});
  for (const Iter& iter : block.iters)
    if (iter.kind == IterKind::Reduce && uses(final.body, iter.var))
      return error(ErrorCode::IllegalStep, "{}: how block '{}' combines depends on variable '{}'", kRfactor, block.name,
                   name_of(iter.var));
  // The partial results heed the conditions on reduction variables.
  std::vector<Expr> conditions = visited.conditions;
  for (const Iter& iter : block.iters)
    if (iter.kind == IterKind::Reduce)
      std::erase_if(conditions, [&](const Expr& condition) { return uses(condition, iter.var); });
  return make_nest(program, final, ranges, conditions, Bounds());
}

}  // namespace

Result<Program> rfactor(const Program& program, std::string_view block_name, std::string_view loop_name) {
  HONE_TRY(const Path path, find_block(program, block_name, kRfactor));
  HONE_TRY(const Path loop, find_loop(program, loop_name, kRfactor));
  HONE_TRY(check_factorable(program, path, loop));
  const Block& block = path.block();
  HONE_TRY(Combiner combiner, find_combiner(block, kRfactor));
  HONE_TRY(Loops loops, sort_loops(path));
  HONE_TRY(Guards guards, sort_guards(block, loops));
  std::vector<Expr> partials = partial_buffers(program, combiner, loop.loop());
  const Parts parts{path, loop.loop(), std::move(loops), std::move(guards), std::move(combiner), std::move(partials)};

  const std::string partial_name = fresh_block_name(program, fmt::format("{}.rf", block_name));
  Program now = replace(program, path, make_partial(partial_name, parts));
  HONE_TRY(const Path partial, find_block(now, partial_name, kRfactor));
  HONE_TRY(check_loops_above(now, partial, kRfactor));
  HONE_TRY(const Stmt final, make_final(now, parts));
  now = insert_after(now, top_level(partial), final);
  for (const Expr& buffer : parts.partials) now = allocate(now, buffer);
  return now;
}

}  // namespace hone::schedule
