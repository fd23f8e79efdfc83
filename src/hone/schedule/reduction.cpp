/// decompose_reduction: the initialisation of a reduction becomes a block of its own.
#include <algorithm>

#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/nest.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/visited.h"

namespace hone::schedule {

using namespace ir;

namespace {

constexpr std::string_view kDecomposeReduction = "decompose_reduction";

/// The loops around a block, sorted by whether the new initialisation stands below them.
struct SortedLoops {
  std::vector<const For*> outside;  ///< around the initialisation too
  std::vector<const For*> spatial;  ///< to be copied for the initialisation
  std::vector<const For*> reduce;   ///< passed by: the initialisation is for their first iteration
};

Result<SortedLoops> split_loops(const Path& path, const Path& loop) {
  const Block& block = path.block();
  SortedLoops split;
  bool below = false;
  for (const Stmt& s : path.loops()) {
    const For& here = s.get<For>();
    below |= s.is(loop.target());
    const Role role = role_of(here.var, block);
    if (!below && (role == Role::Reduce || role == Role::Mixed))
      return error(ErrorCode::IllegalStep, "{}: block '{}' reduces over loop '{}', which is outside loop '{}'",
                   kDecomposeReduction, block.name, name_of(here.var), name_of(loop.loop().var));
    if (below && role == Role::Mixed)
      return error(ErrorCode::IllegalStep, "{}: loop '{}' runs through spatial and reduction variables of block '{}'",
                   kDecomposeReduction, name_of(here.var), block.name);
    (!below ? split.outside : role == Role::Reduce ? split.reduce : split.spatial).push_back(&here);
  }
  return split;
}

/// The loops and the block that initialise what the update below them adds to.
Result<Stmt> make_init(const Program& program, const Block& block, const SortedLoops& split) {
  Substitution loops;  // the loops of the update as the initialisation sees them
  std::vector<std::pair<const For*, Expr>> copies;
  for (const For* loop : split.spatial) {
    copies.emplace_back(loop, var(fresh_loop_name(program, name_of(loop->var) + "_init")));
    loops.emplace_back(loop->var, copies.back().second);
  }
  for (const For* loop : split.reduce) loops.emplace_back(loop->var, imm(0));

  Bounds bounds;
  for (const For* loop : split.outside) bounds.add_extent(loop->var, loop->extent);
  for (const auto& [loop, copy] : copies) bounds.add_extent(copy, loop->extent);
  Block init{.name = fresh_block_name(program, block.name + ".init"), .annotations = {}};
  Substitution vars;
  for (const Iter& iter : block.iters) {
    const Expr binding = simplify(substitute(iter.binding, loops), bounds);
    if (iter.kind == IterKind::Reduce && !is_int(binding, 0))
      return error(ErrorCode::IllegalStep, "{}: variable '{}' of block '{}' does not begin at 0", kDecomposeReduction,
                   name_of(iter.var), block.name);
    if (iter.kind == IterKind::Reduce) continue;
    vars.emplace_back(iter.var, var(name_of(iter.var)));
    init.iters.push_back({vars.back().second, iter.extent, IterKind::Spatial, binding});
  }
  if (block.predicate) init.predicate = simplify(substitute(block.predicate, loops), bounds);
  if (init.predicate && is_int(init.predicate, 1)) init.predicate = {};
  init.body = substitute(block.init, vars);

  Stmt nest = make(std::move(init));
  for (std::size_t i = copies.size(); i-- > 0;)
    nest = make(
        For{.var = copies[i].second, .extent = copies[i].first->extent, .how = copies[i].first->how, .body = nest});
  return nest;
}

}  // namespace

Result<Program> decompose_reduction(const Program& program, std::string_view block_name, std::string_view loop_name) {
  HONE_TRY(const Path path, find_block(program, block_name, kDecomposeReduction));
  HONE_TRY(const Path loop, find_loop(program, loop_name, kDecomposeReduction));
  const Block& block = path.block();
  if (!is_below(path, loop.target()))
    return error(ErrorCode::IllegalStep, "{}: loop '{}' is not around block '{}'", kDecomposeReduction, loop_name,
                 block_name);
  if (!block.init || !is_reduction(block))
    return error(ErrorCode::IllegalStep, "{}: block '{}' has no initialisation of a reduction", kDecomposeReduction,
                 block_name);
  HONE_TRY(check_may_move(path, kDecomposeReduction));
  HONE_TRY(const SortedLoops split, split_loops(path, loop));
  if (!visits_once_below(path, loop.loop()))
    return error(ErrorCode::IllegalStep, "{}: block '{}' may visit a point more than once below loop '{}'",
                 kDecomposeReduction, block_name, loop_name);
  HONE_TRY(const Stmt init, make_init(program, block, split));

  Block update = block;
  update.init = {};
  const Program updated = replace(program, path, make(std::move(update)));
  HONE_TRY(const Path place, find_loop(updated, loop_name, kDecomposeReduction));
  Program result = insert_before(updated, place, init);
  HONE_TRY(const Path init_path,
           find_block(result, blocks_below(Path{{init}}).front().block().name, kDecomposeReduction));
  HONE_TRY(check_loops_above(result, init_path, kDecomposeReduction));
  return result;
}

}  // namespace hone::schedule
