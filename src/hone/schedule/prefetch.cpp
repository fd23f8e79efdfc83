/// prefetch, spread_prefetch.
#include <algorithm>
#include <limits>
#include <optional>

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
/// The bytes of an L1 cache, about.
constexpr std::int64_t kUsualL1 = 32 << 10;
/// 64 MiB: more than any cache that one would fetch into holds.
constexpr std::int64_t kMostSpread = 1 << 20;

/// One axis of the box to fetch: `count` places from `min` on, so many elements `apart`.
struct Places {
  Expr min;
  std::int64_t count, apart;
};

/// The places of the box that the body of `loop` touches where a cache line may begin, `most` at most.
Result<std::vector<Places>> lines_of(const Region& region, const Expr& buffer, std::string_view loop, std::int64_t most,
                                     std::string_view step) {
  std::vector<Places> lines;
  std::int64_t total = 1;
  for (std::size_t axis = 0; axis < region.size(); ++axis) {
    const std::optional<std::int64_t> extent =
        region[axis].is_known() ? as_int(region[axis].extent) : std::optional<std::int64_t>();
    if (!extent)
      return error(ErrorCode::IllegalStep,
                   "{}: the part of axis {} of buffer '{}' that loop '{}' touches is not of constant size", step, axis,
                   name_of(buffer), loop);
    const bool is_innermost = axis + 1 == region.size();
    const std::int64_t apart = is_innermost ? kCacheLineBytes / buffer.type().bytes() : 1;
    lines.push_back({region[axis].min, (*extent + apart - 1) / apart, apart});
    if (lines.back().count <= most) total *= lines.back().count;
    if (lines.back().count > most || total > most)
      return error(ErrorCode::IllegalStep,
                   "{}: an iteration of loop '{}' touches {} cache lines of buffer '{}' or more, allowed are 1..{}",
                   step, loop, std::max(total, lines.back().count), name_of(buffer), most);
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
Result<void> check_no_lanes(const Path& path, std::string_view step) {
  for (const Stmt& s : path.stmts) {
    const For* loop = s.as<For>();
    if (loop && loop->how == ForKind::Vectorized)
      return error(ErrorCode::IllegalStep, "{}: loop '{}' is vectorized, allowed are loops outside of it", step,
                   name_of(loop->var));
  }
  return {};
}

/// The lines of `buffer` that the body of the loop at `path` touches, `most` at most; checks `distance` as well.
Result<std::vector<Places>> lines_to_fetch(const Path& path, const Expr& buffer, std::int64_t distance,
                                           std::int64_t most, std::string_view step) {
  constexpr std::int64_t kFarthest = 1 << 20;
  if (distance < 1 || distance > kFarthest)
    return error(ErrorCode::IllegalStep, "{}: distance {} of buffer '{}' is outside 1..{}", step, distance,
                 name_of(buffer), kFarthest);
  const For& loop = path.loop();
  const std::optional<Region> region = region_of(without_prefetches(loop.body), buffer, Access::Any, {}, path.bounds());
  if (!region)
    return error(ErrorCode::IllegalStep, "{}: the body of loop '{}' does not touch buffer '{}'", step,
                 name_of(loop.var), name_of(buffer));
  return lines_of(*region, buffer, name_of(loop.var), most, step);
}

/// Fetches the element of `buffer` at these indices, moved into the buffer where they lie beyond it: the last
/// iterations look past the end.
Stmt fetch_at(Intrinsic function, const Expr& buffer, Indices indices, const std::vector<std::int64_t>& shape,
              const Bounds& bounds) {
  for (std::size_t axis = 0; axis < indices.size(); ++axis)
    indices[axis] = simplify(min(max(indices[axis], imm(0)), imm(std::max<std::int64_t>(shape[axis] - 1, 0))), bounds);
  return make(Evaluate{call(function, {load(buffer, indices)})});
}

/// The program with `fetch` at the start of each iteration of the loop at `path`.
Program with_fetch(const Program& program, const Path& path, const Stmt& fetch) {
  const For& loop = path.loop();
  return replace(program, path, make(For{loop.var, loop.extent, loop.how, seq({fetch, loop.body}), loop.annotations}));
}

/// The loops below `outer` down to the one at `path`, outermost first.
Result<std::vector<const For*>> loops_within(const Path& path, const Path& outer) {
  constexpr std::string_view step = "spread_prefetch";
  std::vector<const For*> loops;
  bool is_inside = false;
  for (const Stmt& s : path.stmts) {
    const For* loop = s.as<For>();
    if (is_inside && loop) loops.push_back(loop);
    if (s.is(outer.target())) is_inside = true;
  }
  if (loops.empty())
    return error(ErrorCode::IllegalStep, "{}: loop '{}' does not stand inside loop '{}'", step,
                 name_of(path.loop().var), name_of(outer.loop().var));
  return loops;
}

/// The number of an iteration of nested loops, counted through all of them, and how many there are.
struct Turn {
  Expr index;
  std::int64_t count;
};

Result<Turn> turn_of(const std::vector<const For*>& loops) {
  Turn turn{imm(0), 1};
  for (const For* loop : loops) {
    const std::optional<std::int64_t> extent = as_int(loop->extent);
    if (!extent)
      return error(ErrorCode::IllegalStep, "spread_prefetch: the extent of loop '{}' is not constant",
                   name_of(loop->var));
    if (*extent > 0 && turn.count > std::numeric_limits<std::int32_t>::max() / *extent)
      return error(ErrorCode::IllegalStep, "spread_prefetch: the loops down to '{}' have more than {} iterations",
                   name_of(loop->var), std::numeric_limits<std::int32_t>::max());
    turn = {turn.index * *extent + loop->var, turn.count * *extent};
  }
  return turn;
}

/// How the lines are dealt out: so many places, of each of which `length` lines are fetched at a time.
struct Runs {
  std::int64_t places, length;
  std::optional<std::size_t> axis;  ///< the axis along which they run; nothing if they run through all axes
};

/// Shares along the innermost axis where that is possible: one address then serves all lines of a share.
Runs runs_of(const std::vector<Places>& lines, std::int64_t turns, std::int64_t share) {
  std::int64_t total = 1;
  for (const Places& line : lines) total *= line.count;
  if (share > 1)
    for (std::size_t axis = lines.size(); axis-- > 0;) {
      const std::int64_t count = lines[axis].count;
      if (count <= 1) continue;
      const std::int64_t others = total / count, parts = turns / others;
      if (parts == 0) break;
      const std::int64_t length = (count + parts - 1) / parts;
      if (length > kMostPrefetches || length == 1) break;
      return {others * ((count + length - 1) / length), length, axis};
    }
  return {total, share, std::nullopt};
}

}  // namespace

Result<Program> prefetch(const Program& program, std::string_view name, std::string_view loop_name,
                         std::int64_t distance) {
  constexpr std::string_view step = "prefetch";
  HONE_TRY(const Expr buffer, find_buffer(program, name, step));
  HONE_TRY(const Path path, find_loop(program, loop_name, step));
  HONE_TRY(check_no_lanes(path, step));
  HONE_TRY(const std::vector<std::int64_t> shape, constant_shape(buffer, step));
  HONE_TRY(const std::vector<Places> lines, lines_to_fetch(path, buffer, distance, kMostPrefetches, step));

  const Expr& at = path.loop().var;
  Bounds bounds = path.bounds();
  std::vector<Expr> vars;
  Indices indices;
  for (std::size_t axis = 0; axis < lines.size(); ++axis) {
    const Places& line = lines[axis];
    vars.push_back(line.count == 1 ? Expr() : var(fresh_loop_name(program, fmt::format("pf{}", axis))));
    indices.push_back(substitute(line.min, at, at + distance));
    if (!vars[axis]) continue;
    bounds.add_extent(vars[axis], imm(line.count));
    indices[axis] = indices[axis] + vars[axis] * line.apart;
  }
  Stmt fetch = fetch_at(Intrinsic::Prefetch, buffer, indices, shape, bounds);
  for (std::size_t axis = lines.size(); axis-- > 0;)
    if (vars[axis])
      fetch = make(For{.var = vars[axis], .extent = imm(lines[axis].count), .how = ForKind::Unrolled, .body = fetch});
  return with_fetch(program, path, fetch);
}

Result<Program> spread_prefetch(const Program& program, std::string_view name, std::string_view loop_name,
                                std::string_view inner_name, std::int64_t distance) {
  constexpr std::string_view step = "spread_prefetch";
  HONE_TRY(const Expr buffer, find_buffer(program, name, step));
  HONE_TRY(const Path outer, find_loop(program, loop_name, step));
  HONE_TRY(const Path path, find_loop(program, inner_name, step));
  HONE_TRY(const std::vector<const For*> loops, loops_within(path, outer));
  HONE_TRY(check_no_lanes(path, step));
  HONE_TRY(const std::vector<std::int64_t> shape, constant_shape(buffer, step));
  HONE_TRY(const Turn turn, turn_of(loops));
  HONE_TRY(const std::vector<Places> lines, lines_to_fetch(outer, buffer, distance, kMostSpread, step));

  std::int64_t total = 1;
  for (const Places& line : lines) total *= line.count;
  const std::int64_t turns = std::max<std::int64_t>(turn.count, 1);
  const std::int64_t share = (total + turns - 1) / turns;
  if (share > kMostPrefetches)
    return error(ErrorCode::IllegalStep,
                 "{}: an iteration of loop '{}' would fetch {} of the {} cache lines of buffer '{}', allowed are 1..{}",
                 step, inner_name, share, total, name, kMostPrefetches);

  const Expr& at = outer.loop().var;
  Bounds bounds = path.bounds();
  const Runs runs = runs_of(lines, turns, share);
  const Expr part = runs.length == 1 ? Expr() : var(fresh_loop_name(program, "pf"));
  if (part) bounds.add_extent(part, imm(runs.length));
  Expr place = turn.index;
  if (part && !runs.axis) place = place * runs.length + part;
  place = min(place, imm(std::max<std::int64_t>(runs.places - 1, 0)));  // the last turns may have nothing left to fetch
  Indices indices(lines.size());
  for (std::size_t axis = lines.size(); axis-- > 0;) {
    const Places& line = lines[axis];
    const Expr first = substitute(line.min, at, at + distance);
    if (part && runs.axis == axis) {
      // The whole run is moved into the buffer, so that its lines keep their distances.
      const std::int64_t count = (line.count + runs.length - 1) / runs.length, reach = (runs.length - 1) * line.apart;
      const Expr start = min(floor_mod(place, count) * runs.length, imm(line.count - runs.length));
      const Expr inside =
          min(max(first + start * line.apart, imm(0)), imm(std::max<std::int64_t>(shape[axis] - 1 - reach, 0)));
      indices[axis] = inside + part * line.apart;
      place = floor_div(place, count);
    } else {
      const std::int64_t count = std::max<std::int64_t>(line.count, 1);
      indices[axis] = first + floor_mod(place, count) * line.apart;
      place = floor_div(place, count);
    }
  }
  // A block of this size is, for a good part, in the L1 while it is used: the next one would push it out of there.
  const std::int64_t bytes = total * kCacheLineBytes;
  const bool pushes_out = bytes > kUsualL1 / 4 && bytes <= 3 * kUsualL1;
  Stmt fetch = fetch_at(pushes_out ? Intrinsic::PrefetchL2 : Intrinsic::Prefetch, buffer, indices, shape, bounds);
  if (part) fetch = make(For{.var = part, .extent = imm(runs.length), .how = ForKind::Unrolled, .body = fetch});
  return with_fetch(program, path, fetch);
}

}  // namespace hone::schedule
