#include "hone/schedule/mapping/map_block.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>

#include "hone/ir/simplify.h"
#include "hone/schedule/legality.h"
#include "hone/schedule/mapping/lower_mapping.h"
#include "hone/schedule/nest.h"
#include "hone/schedule/primitives.h"

namespace hone::schedule {

using namespace ir;

namespace {

bool has_workers(const Mapping& mapping) {
  return std::any_of(mapping.parts().begin(), mapping.parts().end(),
                     [](const Part& part) { return part.kind == PartKind::Spatial; });
}

Result<void> check_level(const Level& level, std::string_view block, std::size_t rank) {
  const auto is_allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (level.name.empty() || !std::all_of(level.name.begin(), level.name.end(), is_allowed))
    return error(ErrorCode::IllegalStep, "map_block: level name '{}', allowed are letters, digits and '_'", level.name);
  if (level.mapping.rank() != rank)
    return error(ErrorCode::IllegalStep, "map_block: level '{}' has {} axes, block '{}' has {} spatial variables",
                 level.name, level.mapping.rank(), block, rank);
  if (!has_workers(level.mapping) && level.how != ForKind::Serial && level.how != ForKind::Unrolled)
    return error(ErrorCode::IllegalStep, "map_block: level '{}' repeats and is {}, allowed are serial and unrolled",
                 level.name, to_string(level.how));
  return {};
}

/// The product of all levels, which must reach every point of the block.
Result<Mapping> product_of(std::span<const Level> levels, std::string_view block, std::span<const Iter* const> iters) {
  Mapping product = spatial(Index(iters.size(), 1));
  for (std::size_t i = 0; i < levels.size(); ++i) {
    HONE_TRY(check_level(levels[i], block, iters.size()));
    for (std::size_t other = 0; other < i; ++other)
      if (levels[other].name == levels[i].name)
        return error(ErrorCode::IllegalStep, "map_block: level '{}' is given twice", levels[i].name);
    HONE_TRY(product, i == 0 ? levels[i].mapping : compose(product, levels[i].mapping));
  }
  const Index shape = product.task_shape();
  for (std::size_t axis = 0; axis < iters.size(); ++axis)
    if (shape[axis] < constant_value(iters[axis]->extent))
      return error(ErrorCode::IllegalStep,
                   "map_block: the levels reach {} values of variable '{}' of block '{}', at least its extent {} is "
                   "needed",
                   shape[axis], name_of(iters[axis]->var), block, constant_value(iters[axis]->extent));
  return product;
}

/// Builds the loops of one level after the other.
class Builder {
 public:
  Builder(const Program& program, Index grid)
      : program_(program), stride_(std::move(grid)), index_(stride_.size(), imm(0)) {}

  void add(const Level& level) {
    const Index grid = level.mapping.grid();
    for (std::size_t axis = 0; axis < grid.size(); ++axis) stride_[axis] /= grid[axis];
    const std::string name = fresh_name(level);
    Expr worker = imm(0);
    if (has_workers(level.mapping)) {
      worker = var(name);
      add(For{.var = worker, .extent = imm(level.mapping.workers()), .body = {}});
      kinds_.emplace_back(name, level.how);
    }
    const TaskLoops tasks = task_loops(level.mapping, worker, name, bounds_);
    for (const For& loop : tasks.loops) {
      add(loop);
      if (!has_workers(level.mapping)) kinds_.emplace_back(name_of(loop.var), level.how);
    }
    for (std::size_t axis = 0; axis < grid.size(); ++axis)
      index_[axis] = index_[axis] + tasks.task[axis] * stride_[axis];
  }

  void add(For loop) {
    bounds_.add_extent(loop.var, loop.extent);
    taken_.push_back(name_of(loop.var));
    loop.body = {};
    loops_.push_back(std::move(loop));
  }

  /// The loops around the block, with its spatial variables bound to what the levels computed.
  Stmt finish(Block block) const {
    std::size_t axis = 0;
    for (Iter& iter : block.iters) {
      if (iter.kind != IterKind::Spatial) continue;
      iter.binding = simplify(index_[axis++], bounds_);
      const Expr guard = simplify(iter.binding < iter.extent, bounds_);
      if (!is_int(guard, 1)) block.predicate = block.predicate ? logical_and(block.predicate, guard) : guard;
    }
    return nest(loops_, make(std::move(block)));
  }

  /// How each loop of a level is to run.
  const std::vector<std::pair<std::string, ForKind>>& kinds() const { return kinds_; }

 private:
  bool is_taken(const std::string& name) const {
    return fresh_loop_name(program_, name) != name || std::find(taken_.begin(), taken_.end(), name) != taken_.end();
  }

  /// The level's name, with a number if a loop of the program has it or what is made from it.
  std::string fresh_name(const Level& level) const {
    const std::size_t loops = level.mapping.parts().size() * level.mapping.rank();
    std::string name = level.name;
    const auto is_free = [&] {
      if (is_taken(name)) return false;
      for (std::size_t i = 0; i < loops; ++i)
        if (is_taken(fmt::format("{}.{}", name, i))) return false;
      return true;
    };
    for (int number = 1; !is_free(); ++number) name = fmt::format("{}_{}", level.name, number);
    return name;
  }

  const Program& program_;
  Index stride_;  ///< how far a step of the level added last goes along each axis
  std::vector<Expr> index_;
  Bounds bounds_;
  std::vector<For> loops_;
  std::vector<std::string> taken_;
  std::vector<std::pair<std::string, ForKind>> kinds_;
};

Result<Program> run_as(const Program& program, const std::string& loop, ForKind how) {
  switch (how) {
    case ForKind::Serial:
      return program;
    case ForKind::Parallel:
      return parallel(program, loop);
    case ForKind::Vectorized:
      return vectorize(program, loop);
    case ForKind::Unrolled:
      return unroll(program, loop);
    case ForKind::BlockX:
    case ForKind::BlockY:
    case ForKind::BlockZ:
    case ForKind::ThreadX:
    case ForKind::ThreadY:
    case ForKind::ThreadZ:
    case ForKind::VThread:
      return schedule::bind(program, loop, how);
  }
  HONE_CHECK(false, "a loop of unknown kind");
}

}  // namespace

std::string to_text(const Level& level) {
  const std::string text = fmt::format("{}: {}", level.name, to_text(level.mapping));
  return level.how == ForKind::Serial ? text : fmt::format("{} {}", text, to_string(level.how));
}

Result<Level> parse_level(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return error(ErrorCode::ParseError, "level '{}' has no ':', allowed is 'name: mapping kind'", text);
  const std::string_view name = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 1);
  const std::size_t end = rest.rfind(')') == std::string_view::npos ? rest.size() : rest.rfind(')') + 1;
  HONE_TRY(Mapping mapping, parse_mapping(rest.substr(0, end)));
  const std::string_view spaced = rest.substr(end);
  const std::string_view kind = spaced.substr(std::min(spaced.find_first_not_of(' '), spaced.size()));
  const std::optional<ForKind> how = kind.empty() ? ForKind::Serial : find_for_kind(kind);
  if (!how)
    return error(ErrorCode::ParseError,
                 "level '{}' is '{}', allowed are kinds of loops such as parallel and vectorized", name, kind);
  return Level{std::string(name), std::move(mapping), *how};
}

Result<Program> map_block(const Program& program, std::string_view name, std::span<const Level> levels,
                          std::span<const Level> inner) {
  HONE_TRY(const Path path, find_block(program, name, "map_block"));
  const Block& block = path.block();
  HONE_TRY(const Path naive, naive_nest(path, "map_block"));
  HONE_TRY(check_no_scan(block, "map_block"));
  std::vector<const Iter*> spatial_iters;
  for (const Iter& iter : block.iters)
    if (iter.kind == IterKind::Spatial) spatial_iters.push_back(&iter);
  std::vector<Level> all(levels.begin(), levels.end());
  all.insert(all.end(), inner.begin(), inner.end());
  HONE_TRY(const Mapping product, product_of(all, name, spatial_iters));

  Builder builder(program, product.grid());
  for (const Level& level : levels) builder.add(level);
  for (const Stmt& loop : path.loops())
    if (role_of(loop.get<For>().var, block) == Role::Reduce) builder.add(loop.get<For>());
  for (const Level& level : inner) builder.add(level);
  Program mapped = replace(program, naive, builder.finish(block));
  for (const auto& [loop, how] : builder.kinds()) { HONE_TRY(mapped, run_as(mapped, loop, how)); }
  return mapped;
}

}  // namespace hone::schedule
