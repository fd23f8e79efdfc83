/// split_variable.
#include <algorithm>
#include <fmt/format.h>

#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/nest.h"
#include "hone/schedule/primitives.h"

namespace hone::schedule {

using namespace ir;

namespace {

/// The block with one variable replaced by two, the inner one last of its kind, and what stands for the old one.
Block with_two(const Block& block, std::size_t place, std::int64_t factor) {
  const Iter& old = block.iters[place];
  const std::string name = name_of(old.var);
  const Iter outer{var(name + ".0"), imm(constant_value(old.extent) / factor), old.kind, {}};
  const Iter inner{var(name + ".1"), imm(factor), old.kind, {}};
  Block changed = block;
  changed.iters[place] = outer;
  std::size_t last = place;
  for (std::size_t i = place; i < block.iters.size(); ++i)
    if (block.iters[i].kind == old.kind) last = i;
  changed.iters.insert(changed.iters.begin() + static_cast<std::ptrdiff_t>(last) + 1, inner);

  Bounds bounds;
  for (const Iter& iter : changed.iters) bounds.add_extent(iter.var, iter.extent);
  const Expr value = outer.var * factor + inner.var;
  const auto rewrite = [&](const Stmt& s) { return s ? simplify(substitute(s, old.var, value), bounds) : s; };
  changed.init = rewrite(block.init);
  changed.body = rewrite(block.body);
  return changed;
}

}  // namespace

Result<Program> split_variable(const Program& program, std::string_view block_name, std::string_view variable,
                               std::int64_t factor) {
  HONE_TRY(const Path path, find_block(program, block_name, "split_variable"));
  const Block& block = path.block();
  const auto found = std::find_if(block.iters.begin(), block.iters.end(),
                                  [&](const Iter& iter) { return name_of(iter.var) == variable; });
  if (found == block.iters.end()) {
    std::vector<std::string> names;
    for (const Iter& iter : block.iters) names.push_back(name_of(iter.var));
    return error(ErrorCode::IllegalStep, "split_variable: block '{}' has no variable '{}', allowed are: {}", block_name,
                 variable, fmt::join(names, ", "));
  }
  HONE_TRY(const Path nest, naive_nest(path, "split_variable"));
  const std::optional<std::int64_t> extent = as_int(found->extent);
  if (!extent || factor < 1 || *extent % factor != 0)
    return error(ErrorCode::IllegalStep,
                 "split_variable: factor {} of variable '{}' of block '{}', allowed are the divisors of its extent {}",
                 factor, variable, block_name, extent.value_or(0));

  Block changed = with_two(block, static_cast<std::size_t>(found - block.iters.begin()), factor);
  const std::string loop = name_of(found->binding);
  // The loops of the other variables stay what they are.
  for (Iter& iter : changed.iters)
    if (!iter.binding) iter.binding = var(fresh_loop_name(program, loop + name_of(iter.var).substr(variable.size())));
  std::vector<std::pair<Expr, Expr>> loops;
  for (const IterKind kind : {IterKind::Spatial, IterKind::Reduce})
    for (const Iter& iter : changed.iters)
      if (iter.kind == kind) loops.emplace_back(iter.binding, iter.extent);
  Stmt rebuilt = make(std::move(changed));
  for (std::size_t i = loops.size(); i-- > 0;)
    rebuilt = make(For{.var = loops[i].first, .extent = loops[i].second, .body = rebuilt});
  return replace(program, nest, rebuilt);
}

}  // namespace hone::schedule
