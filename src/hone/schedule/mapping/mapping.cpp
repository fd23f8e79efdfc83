#include "hone/schedule/mapping/mapping.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "hone/schedule/program.h"
#include "hone/support/arithmetic.h"

namespace hone::schedule {

namespace {

std::string_view to_string(PartKind kind) { return kind == PartKind::Spatial ? "spatial" : "repeat"; }

std::int64_t product(const Index& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Index times(Index a, const Index& b) {
  for (std::size_t axis = 0; axis < a.size(); ++axis) a[axis] *= b[axis];
  return a;
}

/// The number of tasks, or nothing if it is more than a program can count.
std::optional<std::int64_t> task_count(const Index& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent > kMaxExtent / count) return std::nullopt;
    count *= extent;
  }
  return count;
}

Result<void> check_shape(std::string_view name, const Index& shape) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] < 1 || shape[axis] > kMaxExtent)
      return error(ErrorCode::InvalidArgument, "{}: extent {} of axis {} is outside 1..{}", name, shape[axis], axis,
                   kMaxExtent);
  if (!task_count(shape))
    return error(ErrorCode::InvalidArgument, "{}: ({}) has more than {} tasks", name, fmt::join(shape, ", "),
                 kMaxExtent);
  return {};
}

Result<void> check_workers(std::string_view name, std::int64_t workers) {
  if (workers >= 1 && workers <= kMaxExtent) return {};
  return error(ErrorCode::InvalidArgument, "{}: {} workers, allowed are 1..{}", name, workers, kMaxExtent);
}

/// The shape of spatial parts with the fewest rounds that `workers` can do, chosen axis by axis from the fastest.
class FewestRounds {
 public:
  FewestRounds(const Index& shape, std::int64_t workers) : shape_(shape), workers_(workers), now_(shape.size(), 1) {
    choose(shape.size(), 1, 1);
  }

  const Index& best() const { return best_; }

 private:
  void choose(std::size_t axes_left, std::int64_t used, std::int64_t rounds) {
    if (axes_left == 0) {
      if (rounds == best_rounds_ && used >= best_workers_) return;
      best_ = now_;
      best_rounds_ = rounds;
      best_workers_ = used;
      return;
    }
    const std::size_t axis = axes_left - 1;
    // Of the extents with equally many rounds the smallest is enough.
    for (std::int64_t extent = std::min(shape_[axis], workers_ / used); extent >= 1;) {
      const std::int64_t repeats = ceil_div(shape_[axis], extent);
      if (best_rounds_ > 0 && rounds * repeats > best_rounds_) return;  // and smaller extents take more
      now_[axis] = ceil_div(shape_[axis], repeats);
      choose(axis, used * now_[axis], rounds * repeats);
      extent = now_[axis] - 1;
    }
  }

  const Index& shape_;
  std::int64_t workers_;
  Index now_, best_;
  std::int64_t best_rounds_ = 0, best_workers_ = 0;
};

}  // namespace

Index Mapping::grid() const {
  Index shape(rank(), 1);
  for (const Part& part : parts_) shape = times(std::move(shape), part.shape);
  return shape;
}

std::int64_t Mapping::workers() const {
  std::int64_t count = 1;
  for (const Part& part : parts_)
    if (part.kind == PartKind::Spatial) count *= product(part.shape);
  return count;
}

std::vector<Digit> Mapping::digits() const {
  std::vector<Digit> digits;
  Index stride = grid();
  for (const Part& part : parts_) {
    for (std::size_t axis = 0; axis < rank(); ++axis) stride[axis] /= part.shape[axis];
    for (std::size_t place = 0; place < rank(); ++place) {
      const auto found = std::find(part.ranks.begin(), part.ranks.end(), static_cast<std::int64_t>(place));
      const std::size_t axis = static_cast<std::size_t>(found - part.ranks.begin());
      digits.push_back({part.kind, axis, part.shape[axis], stride[axis]});
    }
  }
  return digits;
}

std::vector<Index> Mapping::tasks_of(std::int64_t worker) const {
  HONE_CHECK(worker >= 0 && worker < workers(), "worker {} of {}", worker, workers());
  std::vector<Index> tasks{Index(rank(), 0)};
  std::int64_t faster = workers();
  for (const Digit& digit : digits()) {
    std::int64_t first = 0, end = digit.extent;
    if (digit.kind == PartKind::Spatial) {
      faster /= digit.extent;
      first = worker / faster % digit.extent;
      end = first + 1;
    }
    std::vector<Index> longer;
    for (const Index& task : tasks)
      for (std::int64_t value = first; value < end; ++value) {
        longer.push_back(task);
        longer.back()[digit.axis] += value * digit.stride;
      }
    tasks = std::move(longer);
  }
  if (is_limited_)
    std::erase_if(
        tasks, [&](const Index& task) { return !std::equal(task.begin(), task.end(), limit_.begin(), std::less<>()); });
  return tasks;
}

Result<Mapping> make_part(PartKind kind, Index shape, std::vector<std::int64_t> ranks) {
  const std::string_view name = to_string(kind);
  HONE_TRY(check_shape(name, shape));
  std::vector<std::int64_t> in_order(shape.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  if (ranks.empty()) ranks = in_order;
  if (!std::is_permutation(ranks.begin(), ranks.end(), in_order.begin(), in_order.end()))
    return error(ErrorCode::InvalidArgument, "{}: ranks [{}] for {} axes, allowed are the permutations of [{}]", name,
                 fmt::join(ranks, ", "), shape.size(), fmt::join(in_order, ", "));
  Mapping mapping;
  mapping.parts_.push_back({kind, std::move(shape), std::move(ranks)});
  return mapping;
}

Result<Mapping> compose(const Mapping& outer, const Mapping& inner) {
  if (outer.rank() != inner.rank())
    return error(ErrorCode::InvalidArgument, "product: '{}' has {} axes, '{}' has {}, both must have as many",
                 to_text(outer), outer.rank(), to_text(inner), inner.rank());
  if (inner.is_limited_)
    return error(ErrorCode::InvalidArgument, "product: '{}' is limited, allowed is a limit of the first factor or all",
                 to_text(inner));
  const Index outer_grid = outer.grid(), inner_grid = inner.grid();
  for (std::size_t axis = 0; axis < outer.rank(); ++axis)
    if (outer_grid[axis] > kMaxExtent / inner_grid[axis])
      return error(ErrorCode::InvalidArgument, "product: '{}' times '{}' has more than {} tasks along axis {}",
                   to_text(outer), to_text(inner), kMaxExtent, axis);
  HONE_TRY(check_shape("product", times(outer_grid, inner_grid)));
  Mapping mapping = outer;
  mapping.parts_.insert(mapping.parts_.end(), inner.parts_.begin(), inner.parts_.end());
  if (outer.is_limited_) mapping.limit_ = times(outer.limit_, inner_grid);
  return mapping;
}

Result<Mapping> within(Mapping mapping, Index shape) {
  const Index allowed = mapping.task_shape();
  if (shape.size() != allowed.size())
    return error(ErrorCode::InvalidArgument, "within: ({}) has {} axes, '{}' has {}", fmt::join(shape, ", "),
                 shape.size(), to_text(mapping), allowed.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] < 0 || shape[axis] > allowed[axis])
      return error(ErrorCode::InvalidArgument, "within: extent {} of axis {} is outside 0..{}", shape[axis], axis,
                   allowed[axis]);
  mapping.is_limited_ = shape != mapping.grid();
  mapping.limit_ = mapping.is_limited_ ? std::move(shape) : Index();
  return mapping;
}

Mapping spatial(Index shape, std::vector<std::int64_t> ranks) {
  return make_part(PartKind::Spatial, std::move(shape), std::move(ranks)).value();
}

Mapping repeat(Index shape, std::vector<std::int64_t> ranks) {
  return make_part(PartKind::Repeat, std::move(shape), std::move(ranks)).value();
}

Mapping operator*(const Mapping& outer, const Mapping& inner) { return compose(outer, inner).value(); }

Result<Mapping> auto_map(const Index& shape, std::int64_t workers) {
  HONE_TRY(check_shape("auto_map", shape));
  HONE_TRY(check_workers("auto_map", workers));
  if (product(shape) % workers != 0)
    return error(ErrorCode::InvalidArgument,
                 "auto_map: {} workers for the {} tasks of ({}), allowed are divisors of {}", workers, product(shape),
                 fmt::join(shape, ", "), product(shape));
  Index repeats = shape, lanes(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    lanes[axis] = std::gcd(workers, shape[axis]);
    repeats[axis] /= lanes[axis];
    workers /= lanes[axis];
  }
  return repeat(repeats) * spatial(lanes);
}

Result<Mapping> auto_map_within(const Index& shape, std::int64_t workers) {
  HONE_TRY(check_shape("auto_map_within", shape));
  HONE_TRY(check_workers("auto_map_within", workers));
  if (product(shape) % workers == 0) return auto_map(shape, workers);
  const Index lanes = FewestRounds(shape, workers).best();
  Index repeats(shape.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) repeats[axis] = ceil_div(shape[axis], lanes[axis]);
  HONE_TRY(Mapping mapping, compose(repeat(repeats), spatial(lanes)));
  return within(std::move(mapping), shape);
}

std::string to_text(const Mapping& mapping) {
  std::string text;
  for (const Part& part : mapping.parts()) {
    text += fmt::format("{}{}({}", text.empty() ? "" : " * ", to_string(part.kind), fmt::join(part.shape, ", "));
    if (!std::is_sorted(part.ranks.begin(), part.ranks.end()))
      text += fmt::format(", ranks=[{}]", fmt::join(part.ranks, ", "));
    text += ")";
  }
  if (mapping.is_limited()) text += fmt::format(" within ({})", fmt::join(mapping.task_shape(), ", "));
  return text;
}

}  // namespace hone::schedule
