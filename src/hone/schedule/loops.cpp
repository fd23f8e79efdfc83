/// split, fuse and reorder.
#include <algorithm>
#include <numeric>

#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/primitives.h"
#include "hone/schedule/visited.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// Replaces variables below a loop that changed. Bindings and predicates are simplified within `bounds`; `guard`, if
/// not null, is added to the predicate of every block.
Stmt rebind(const Stmt& s, const Substitution& values, const Expr& guard, Bounds& bounds) {
  if (const For* loop = s.as<For>()) {
    bounds.add_extent(loop->var, loop->extent);
    Stmt body = rebind(loop->body, values, guard, bounds);
    bounds.remove_last();
    return body.is(loop->body) ? s : make(For{loop->var, loop->extent, loop->how, std::move(body), loop->annotations});
  }
  const Block* block = s.as<Block>();
  if (!block)
    return map_children(
        s, [&](const Stmt& child) { return rebind(child, values, guard, bounds); },
        [&](const Expr& child) { return substitute(child, values); });

  Block rebound = *block;
  for (Iter& iter : rebound.iters) {
    const Expr binding = substitute(iter.binding, values);
    if (!binding.is(iter.binding)) iter.binding = simplify(binding, bounds);
  }
  if (block->predicate) {
    rebound.predicate = substitute(block->predicate, values);
    if (!rebound.predicate.is(block->predicate)) rebound.predicate = simplify(rebound.predicate, bounds);
  }
  if (guard) rebound.predicate = rebound.predicate ? logical_and(rebound.predicate, guard) : guard;
  if (rebound.predicate && is_int(rebound.predicate, 1)) rebound.predicate = {};
  if (rebound.init) rebound.init = substitute(rebound.init, values);
  rebound.body = substitute(rebound.body, values);
  return make(std::move(rebound));
}

Result<void> check_serial(const For& loop, std::string_view step) {
  HONE_TRY(check_not_pipelined(loop, step));
  if (loop.how == ForKind::Serial) return {};
  return error(ErrorCode::IllegalStep, "{}: loop '{}' is {}, allowed are serial loops", step, name_of(loop.var),
               to_string(loop.how));
}

std::int64_t product(std::span<const std::int64_t> factors) {
  return std::accumulate(factors.begin(), factors.end(), std::int64_t{1}, std::multiplies<>());
}

/// The factors with kRest worked out.
Result<std::vector<std::int64_t>> complete_factors(std::span<const std::int64_t> given, std::int64_t extent,
                                                   std::string_view loop) {
  if (given.empty()) return error(ErrorCode::IllegalStep, "split: loop '{}' is given no factors", loop);
  std::vector<std::int64_t> factors(given.begin(), given.end());
  if (std::count(factors.begin(), factors.end(), kRest) > 1)
    return error(ErrorCode::IllegalStep, "split: loop '{}' has more than one factor {} (the rest)", loop, kRest);
  std::int64_t known = 1;
  for (const std::int64_t factor : factors) {
    if (factor == kRest) continue;
    if (factor < 1 || factor > kMaxExtent / known)
      return error(ErrorCode::IllegalStep, "split: factor {} of loop '{}' is outside 1..{}", factor, loop,
                   kMaxExtent / known);
    known *= factor;
  }
  const auto rest = std::find(factors.begin(), factors.end(), kRest);
  if (rest != factors.end()) *rest = (extent + known - 1) / known;
  if (product(factors) < extent)
    return error(ErrorCode::IllegalStep, "split: factors of loop '{}' multiply to {}, at least its extent {} is needed",
                 loop, product(factors), extent);
  return factors;
}

}  // namespace

Result<Program> split(const Program& program, std::string_view name, std::span<const std::int64_t> given) {
  HONE_TRY(const Path path, find_loop(program, name, "split"));
  const For& loop = path.loop();
  HONE_TRY(check_serial(loop, "split"));
  const std::int64_t extent = constant_value(loop.extent);
  HONE_TRY(const std::vector<std::int64_t> factors, complete_factors(given, extent, name));

  Bounds bounds = path.bounds();
  std::vector<Expr> parts;
  Expr index;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    parts.push_back(var(fresh_loop_name(program, fmt::format("{}.{}", name, i))));
    bounds.add_extent(parts[i], imm(factors[i]));
    index = index ? index * factors[i] + parts[i] : parts[i];
  }
  const Expr guard = product(factors) > extent ? simplify(index < extent, bounds) : Expr();
  Stmt now = rebind(loop.body, {{loop.var, index}}, guard, bounds);
  for (std::size_t i = factors.size(); i-- > 0;)
    now = make(For{.var = parts[i],
                   .extent = imm(factors[i]),
                   .body = now,
                   .annotations = i == 0 ? loop.annotations : Annotations{}});
  return replace(program, path, now);
}

Result<Program> fuse(const Program& program, std::span<const std::string> names) {
  if (names.empty()) return error(ErrorCode::IllegalStep, "fuse: no loops are given, at least one is needed");
  HONE_TRY(const Path path, find_loop(program, names[0], "fuse"));

  std::vector<const For*> loops;
  std::vector<std::int64_t> extents;
  std::int64_t iterations = 1;
  const Stmt* here = &path.target();
  for (const std::string& name : names) {
    const For* loop = here->as<For>();
    if (!loop || name_of(loop->var) != name) {
      HONE_TRY(find_loop(program, name, "fuse"));
      return error(ErrorCode::IllegalStep, "fuse: loop '{}' is not directly inside loop '{}'", name,
                   name_of(loops.back()->var));
    }
    HONE_TRY(check_serial(*loop, "fuse"));
    extents.push_back(constant_value(loop->extent));
    if (extents.back() > kMaxExtent / iterations)
      return error(ErrorCode::IllegalStep, "fuse: loops '{}' to '{}' have more than {} iterations", names.front(),
                   names.back(), kMaxExtent);
    iterations *= std::max<std::int64_t>(extents.back(), 1);
    loops.push_back(loop);
    here = &loop->body;
  }
  for (const Path& block_path : blocks_below(path)) {
    const Block& block = block_path.block();
    bool spatial = false, reduce = false;
    for (const For* loop : loops) {
      const Role role = role_of(loop->var, block);
      spatial |= role == Role::Spatial || role == Role::Mixed;
      reduce |= role == Role::Reduce || role == Role::Mixed;
    }
    if (spatial && reduce)
      return error(ErrorCode::IllegalStep, "fuse: loops '{}' to '{}' are spatial and reduction loops of block '{}'",
                   names.front(), names.back(), block.name);
  }

  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : "@") + name;
  const Expr fused = var(fresh_loop_name(program, joined));
  Bounds bounds = path.prefix(path.stmts.size() - 1).bounds();
  bounds.add_extent(fused, imm(product(extents)));
  Substitution values;
  std::int64_t inner = 1;  // extents of 0 run no iteration, but must not divide by zero
  for (std::size_t i = loops.size(); i-- > 0;) {
    const Expr quotient = floor_div(fused, inner);
    inner *= std::max<std::int64_t>(extents[i], 1);
    const Expr value = i == 0 ? quotient : floor_mod(quotient, std::max<std::int64_t>(extents[i], 1));
    values.emplace_back(loops[i]->var, simplify(value, bounds));
  }
  const Stmt body = rebind(loops.back()->body, values, Expr(), bounds);
  return replace(
      program, path,
      make(
          For{.var = fused, .extent = imm(product(extents)), .body = body, .annotations = loops.front()->annotations}));
}

namespace {

/// An error if a reduction over one of the loops now meets a point again before it is complete: loops that compute a
/// block anew must stay outside its reduction loops.
Result<void> check_reductions(const Program& program, std::span<const std::string> loops) {
  HONE_TRY(const Path inner, find_loop(program, loops.back(), "reorder"));
  for (const Path& path : blocks_below(inner)) {
    const For* outermost = path.block().init ? outermost_reduce_loop(path) : nullptr;
    const bool is_touched = outermost && std::any_of(path.stmts.begin(), path.stmts.end(), [&](const Stmt& s) {
                              const For* loop = s.as<For>();
                              return loop && role_of(loop->var, path.block()) == Role::Reduce &&
                                     std::find(loops.begin(), loops.end(), name_of(loop->var)) != loops.end();
                            });
    if (is_touched && !visits_once_below(path, *outermost))
      return error(ErrorCode::IllegalStep, "reorder: block '{}' may visit a point more than once below loop '{}'",
                   path.block().name, name_of(outermost->var));
  }
  return {};
}

}  // namespace

Result<Program> reorder(const Program& program, std::span<const std::string> names) {
  if (names.empty()) return error(ErrorCode::IllegalStep, "reorder: no loops are given, at least one is needed");
  // The loop of the list that stands outermost heads the chain.
  std::vector<Path> paths;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      return error(ErrorCode::IllegalStep, "reorder: loop '{}' is given twice", names[i]);
    HONE_TRY(Path path, find_loop(program, names[i], "reorder"));
    paths.push_back(std::move(path));
  }
  const Path& head = *std::min_element(paths.begin(), paths.end(),
                                       [](const Path& a, const Path& b) { return a.stmts.size() < b.stmts.size(); });

  const auto is_listed = [&](const For& loop) {
    return std::find(names.begin(), names.end(), name_of(loop.var)) != names.end();
  };
  std::vector<const For*> chain;
  std::size_t missing = names.size();
  for (const Stmt* here = &head.target(); missing > 0; here = &chain.back()->body) {
    const For* loop = here->as<For>();
    if (!loop)
      return error(ErrorCode::IllegalStep, "reorder: loops '{}' to '{}' are not one chain of directly nested loops",
                   names.front(), names.back());
    if (is_listed(*loop)) --missing;
    chain.push_back(loop);
  }
  for (const For* loop : chain) HONE_TRY(check_not_pipelined(*loop, "reorder"));
  for (const Path& path : blocks_below(head)) {
    HONE_TRY(check_no_scan(path.block(), "reorder"));
    for (const For* loop : chain)
      if (path.block().init && role_of(loop->var, path.block()) == Role::Mixed)
        return error(ErrorCode::IllegalStep,
                     "reorder: loop '{}' runs through spatial and reduction variables of block '{}'",
                     name_of(loop->var), path.block().name);
  }

  Stmt now = chain.back()->body;
  std::size_t next = names.size();
  for (std::size_t i = chain.size(); i-- > 0;) {
    const For& loop = is_listed(*chain[i]) ? paths[--next].loop() : *chain[i];
    now = make(For{loop.var, loop.extent, loop.how, now, loop.annotations});
  }
  Program reordered = replace(program, head, now);
  HONE_TRY(check_reductions(reordered, names));
  for (const For* loop : chain)
    if (loop->how != ForKind::Serial && loop->how != ForKind::Unrolled) {
      HONE_TRY(const Path path, find_loop(reordered, name_of(loop->var), "reorder"));
      HONE_TRY(check_independent(reordered, path, loop->how, "reorder"));
    }
  return reordered;
}

}  // namespace hone::schedule
