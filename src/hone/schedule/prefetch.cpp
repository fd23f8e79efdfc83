/// prefetch.
#include "hone/ir/region.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/accesses.h"
#include "hone/schedule/primitives.h"

namespace hone::schedule {

using namespace ir;

namespace {

constexpr std::int64_t kCacheLineBytes = 64;
/// More outstanding fetches than a core can hold would only push each other out.
constexpr std::int64_t kMostPrefetches = 64;

/// One axis of the box to fetch: `count` places, `step` elements apart, from `min` on.
struct Places {
  Expr min;
  std::int64_t count, step;
};

/// The places of a box where a cache line may begin.
Result<std::vector<Places>> lines_of(const Region& region, const Expr& buffer, std::string_view loop) {
  std::vector<Places> lines;
  std::int64_t total = 1;
  for (std::size_t axis = 0; axis < region.size(); ++axis) {
    const std::optional<std::int64_t> extent =
        region[axis].is_known() ? as_int(region[axis].extent) : std::optional<std::int64_t>();
    if (!extent)
      return error(ErrorCode::IllegalStep,
                   "prefetch: the part of axis {} of buffer '{}' that loop '{}' touches is not of constant size", axis,
                   name_of(buffer), loop);
    const bool is_innermost = axis + 1 == region.size();
    const std::int64_t step = is_innermost ? kCacheLineBytes / buffer.type().bytes() : 1;
    lines.push_back({region[axis].min, (*extent + step - 1) / step, step});
    if (lines.back().count > kMostPrefetches || (total *= lines.back().count) > kMostPrefetches)
      return error(
          ErrorCode::IllegalStep,
          "prefetch: an iteration of loop '{}' touches {} cache lines of buffer '{}' or more, allowed are 1..{}", loop,
          std::max(total, lines.back().count), name_of(buffer), kMostPrefetches);
  }
  return lines;
}

/// The statement without the prefetches that stand in it.
Stmt without_prefetches(const Stmt& s) {
  if (s.as<Block>()) return s;
  if (s.as<Evaluate>()) return make(Seq{});
  return map_children(s, [](const Stmt& child) { return without_prefetches(child); });
}

/// An error if the loop, or one around it, is run in lanes: a prefetch has no lanes.
Result<void> check_no_lanes(const Path& path) {
  for (const Stmt& s : path.stmts) {
    const For* loop = s.as<For>();
    if (loop && loop->how == ForKind::Vectorized)
      return error(ErrorCode::IllegalStep, "prefetch: loop '{}' is vectorized, allowed are loops outside of it",
                   name_of(loop->var));
  }
  return {};
}

}  // namespace

Result<Program> prefetch(const Program& program, std::string_view name, std::string_view loop_name,
                         std::int64_t distance) {
  constexpr std::int64_t kFarthest = 1 << 20;
  HONE_TRY(const Expr buffer, find_buffer(program, name, "prefetch"));
  HONE_TRY(const Path path, find_loop(program, loop_name, "prefetch"));
  if (distance < 1 || distance > kFarthest)
    return error(ErrorCode::IllegalStep, "prefetch: distance {} of buffer '{}' is outside 1..{}", distance, name,
                 kFarthest);
  HONE_TRY(check_no_lanes(path));
  HONE_TRY(const std::vector<std::int64_t> shape, constant_shape(buffer, "prefetch"));
  const For& loop = path.loop();
  Bounds bounds = path.bounds();
  const std::optional<Region> region = region_of(without_prefetches(loop.body), buffer, Access::Any, {}, bounds);
  if (!region)
    return error(ErrorCode::IllegalStep, "prefetch: the body of loop '{}' does not touch buffer '{}'", loop_name, name);
  HONE_TRY(const std::vector<Places> lines, lines_of(*region, buffer, loop_name));

  std::vector<Expr> vars;
  Indices indices;
  for (std::size_t axis = 0; axis < lines.size(); ++axis) {
    const Places& line = lines[axis];
    vars.push_back(line.count == 1 ? Expr() : var(fresh_loop_name(program, fmt::format("pf{}", axis))));
    Expr index = substitute(line.min, loop.var, loop.var + distance);
    if (vars[axis]) {
      bounds.add_extent(vars[axis], imm(line.count));
      index = index + vars[axis] * line.step;
    }
    // The last iterations look beyond the end; their fetches stay within the buffer.
    indices.push_back(simplify(min(max(index, imm(0)), imm(std::max<std::int64_t>(shape[axis] - 1, 0))), bounds));
  }
  Stmt fetch = make(Evaluate{call(Intrinsic::Prefetch, {load(buffer, indices)})});
  for (std::size_t axis = lines.size(); axis-- > 0;)
    if (vars[axis])
      fetch = make(For{.var = vars[axis], .extent = imm(lines[axis].count), .how = ForKind::Unrolled, .body = fetch});
  return replace(program, path, make(For{loop.var, loop.extent, loop.how, seq({fetch, loop.body}), loop.annotations}));
}

}  // namespace hone::schedule
