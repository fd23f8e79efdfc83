#include "hone/cost/loop_nest.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace hone::cost {
namespace {

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Nothing counts as a thousandth.
float log_of(double value) {
  constexpr double kScale = 2, kNothing = 1e-3;
  return static_cast<float>(std::log2(std::max(value, kNothing)) / kScale);
}

double stride_along(const NestLoop& at, std::size_t access) {
  return at.loop->axis ? static_cast<double>(at.loop->axis->strides[access]) : 0;
}

/// What loops cover of one access, in elements, as loops are added from the inside to the outside.
class Covered {
 public:
  void add(const WalkedLoop& loop, std::size_t access) {
    const std::int64_t stride = loop.axis ? std::abs(loop.axis->strides[access]) : 0;
    if (stride == 0) return;
    const auto found = std::find_if(axes_.begin(), axes_.end(), [&](const Axis& at) { return at.axis == loop.axis; });
    if (found == axes_.end())
      axes_.push_back({loop.axis, static_cast<double>(stride), static_cast<double>(loop.extent)});
    else
      found->extent *= static_cast<double>(loop.extent);
  }

  /// Axes that move by about the same step run along one dimension, as those of an image and of a filter do: what they
  /// cover overlaps.
  double elements() const {
    constexpr double kAlike = 4;
    std::vector<Axis> axes = axes_;
    std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.stride < b.stride; });
    double all = 1;
    for (std::size_t begin = 0, end = 0; begin < axes.size(); begin = end) {
      double apart = 1, along = 1;
      for (; end < axes.size() && axes[end].stride <= kAlike * axes[begin].stride; ++end) {
        apart *= axes[end].extent;
        along += (axes[end].extent - 1) * axes[end].stride / axes[begin].stride;
      }
      all *= std::min(apart, along);
    }
    return all;
  }

 private:
  struct Axis {
    const NaiveAxis* axis;
    double stride, extent;
  };
  std::vector<Axis> axes_;
};

}  // namespace

TraceMarks find_marks(const schedule::Trace& trace) {
  TraceMarks marks;
  for (const schedule::Step& step : trace) {
    if (const auto* parallel = std::get_if<schedule::Parallel>(&step)) marks.parallel.push_back(parallel->loop);
    if (const auto* vectorize = std::get_if<schedule::Vectorize>(&step)) marks.vectorized.push_back(vectorize->loop);
    if (const auto* unroll = std::get_if<schedule::Unroll>(&step)) marks.unrolled.push_back(unroll->loop);
    if (const auto* layout = std::get_if<schedule::TransformLayout>(&step)) marks.packed.push_back(layout->buffer);
    const auto* note = std::get_if<schedule::Annotate>(&step);
    if (!note || note->key != "unroll") continue;
    std::int64_t budget = 0;
    std::from_chars(note->value.data(), note->value.data() + note->value.size(), budget);
    marks.budgets.emplace_back(note->target, budget);
  }
  return marks;
}

LoopNest nest_of(const TraceWalk& walk, std::size_t block, const TraceMarks& marks) {
  LoopNest nest;
  if (block >= walk.blocks().size()) return nest;
  const WalkedBlock& walked = walk.blocks()[block];
  nest.block = walked.naive;
  if (nest.block)
    for (std::size_t i = 0; i < nest.block->accessed.size(); ++i)
      nest.is_packed[i] = contains(marks.packed, nest.block->accessed[i]);
  // A budget holds inside the loop that has it.
  std::vector<std::int64_t> budgets;
  std::int64_t budget = 0;
  for (const std::size_t id : walked.loops) {
    for (const auto& [name, limit] : marks.budgets)
      if (name == walk.loops()[id].name) budget = limit;
    budgets.push_back(budget);
  }
  double points = 1, statements = 1;
  bool is_straight = true;
  std::array<Covered, NaiveAxis::kAccesses> covered;
  for (std::size_t i = walked.loops.size(); i-- > 0;) {
    const WalkedLoop& loop = walk.loops()[walked.loops[i]];
    if (loop.extent <= 1) continue;
    NestLoop at{.loop = &loop};
    const auto extent = static_cast<double>(loop.extent);
    at.is_vector = contains(marks.vectorized, loop.name);
    at.is_parallel = contains(marks.parallel, loop.name);
    if (!at.is_vector) statements *= extent;
    const bool is_unrolled =
        contains(marks.unrolled, loop.name) || (is_straight && statements <= static_cast<double>(budgets[i]));
    is_straight &= at.is_vector || is_unrolled;
    at.is_straight = is_straight;
    at.points = points *= extent;
    for (std::size_t a = 0; a < covered.size(); ++a) {
      covered[a].add(loop, a);
      at.covered[a] = covered[a].elements();
    }
    nest.loops.push_back(at);
  }
  return nest;
}

InnerTile inner_tile(const LoopNest& nest, const ComputeUnit& unit) {
  InnerTile tile;
  const std::size_t accesses = nest.block ? nest.block->accessed.size() : 0;
  std::array<double, NaiveAxis::kAccesses> along, moved;  // by each access: its stride in a vector, and its rows
  along.fill(0);
  moved.fill(1);
  double used = 1;  // the share of iterations that is not waste
  bool is_first = true, is_running = true;
  for (const NestLoop& at : nest.loops) {
    const auto extent = static_cast<double>(at.loop->extent);
    const bool is_sum = at.loop->is_reduction;
    used *= 1 - at.loop->waste;
    if (!at.is_straight) {
      if (is_first) tile.is_in_sum = is_sum;
      is_first = false;
      is_running &= is_sum;
    } else if (at.is_vector) {
      tile.width = extent;
      for (std::size_t a = 0; a < along.size(); ++a) along[a] = stride_along(at, a);
    } else if (is_sum) {
      tile.steps *= extent;
    } else {
      tile.rows *= extent;
      for (std::size_t a = 0; a < moved.size(); ++a)
        if (stride_along(at, a) != 0) moved[a] *= extent;
    }
    if (is_sum) (is_running ? tile.run : tile.outside) *= extent;
    if (!is_running) continue;
    constexpr double kBytes = 4;
    tile.bytes = std::accumulate(at.covered.begin(), at.covered.end(), 0.0) * kBytes;
  }
  tile.waste = 1 - used;
  tile.vectors = std::ceil(tile.width / static_cast<double>(unit.lanes));
  tile.sums = tile.rows * tile.vectors;
  const auto is_whole = [&](std::size_t a) { return along[a] == 1 || (along[a] != 0 && nest.is_packed[a]); };
  double held = 0;  // what one operand takes while the other passes by
  for (std::size_t a = 1; a < accesses; ++a) {
    const bool is_single = along[a] == 0;
    if (is_single)
      tile.single += moved[a];
    else if (is_whole(a))
      tile.whole += moved[a] * tile.vectors;
    else
      tile.gathered += moved[a] * tile.width;
    const double takes = is_single ? 1 : moved[a] * tile.vectors;
    held = a == 1 ? takes : std::min(held, takes);
  }
  tile.live = tile.sums + held + 1;
  tile.stores_whole = accesses > 0 && is_whole(0);
  return tile;
}

std::array<float, kTileNumbers> tile_numbers(const InnerTile& tile, const ComputeUnit& unit) {
  const auto lanes = static_cast<double>(unit.lanes);
  const double filled = tile.live / static_cast<double>(unit.registers);
  const double loads = tile.whole + tile.single + tile.gathered;
  const auto flag = [](bool is) { return is ? 1.0F : 0.0F; };
  constexpr double kMostSpilled = 2;
  constexpr float kMostMultiplyAdds = 2;
  return {log_of(tile.width),
          log_of(tile.width / lanes),
          static_cast<float>(tile.width / (tile.vectors * lanes)),
          log_of(tile.rows),
          log_of(tile.sums),
          log_of(tile.live),
          log_of(filled),
          flag(filled > 1),
          static_cast<float>(std::clamp(filled - 1, 0.0, kMostSpilled)),
          static_cast<float>(std::min(1.0, filled)),
          log_of(tile.whole),
          log_of(tile.single),
          log_of(tile.gathered),
          log_of(tile.sums / std::max(1.0, loads)),
          log_of(tile.steps),
          log_of(tile.steps * tile.sums),
          log_of(tile.run),
          log_of(tile.outside),
          log_of(tile.bytes),
          static_cast<float>(tile.waste),
          flag(tile.stores_whole),
          flag(tile.is_in_sum),
          log_of(lanes),
          static_cast<float>(unit.multiply_adds) / kMostMultiplyAdds};
}

std::array<float, kShareNumbers> share_numbers(const LoopNest& nest, const ComputeUnit& unit) {
  double pieces = 1;
  for (const NestLoop& at : nest.loops)
    if (at.is_parallel) pieces *= static_cast<double>(at.loop->extent);
  const double points = nest.loops.empty() ? 1 : nest.loops.back().points;
  const auto threads = static_cast<double>(unit.threads);
  const double busy = pieces / (std::ceil(pieces / threads) * threads);
  return {unit.threads > 1 ? 1.0F : 0.0F, static_cast<float>(busy), log_of(pieces), log_of(points / pieces)};
}

double traffic_beyond(const LoopNest& nest, double cache_bytes) {
  constexpr double kBytes = 4;
  const std::size_t accesses = nest.block ? nest.block->accessed.size() : 0;
  std::array<double, NaiveAxis::kAccesses> inside;  // elements of each access that the loops inside touch
  inside.fill(1);
  std::size_t fitting = 0;
  for (const NestLoop& at : nest.loops) {
    if (std::accumulate(at.covered.begin(), at.covered.begin() + accesses, 0.0) * kBytes > cache_bytes) break;
    inside = at.covered;
    ++fitting;
  }
  double sum = 0;
  for (std::size_t a = 0; a < accesses; ++a) {
    double elements = inside[a];
    for (std::size_t i = fitting; i < nest.loops.size(); ++i)
      if (i > fitting || stride_along(nest.loops[i], a) != 0)
        elements *= static_cast<double>(nest.loops[i].loop->extent);
    sum += elements;
  }
  return sum * kBytes;
}

std::array<float, kTrafficNumbers> traffic_numbers(const LoopNest& nest, const ComputeUnit& unit) {
  const double points = nest.loops.empty() ? 1 : nest.loops.back().points;
  std::array<float, kTrafficNumbers> numbers;
  for (std::size_t i = 0; i < kCacheBytes.size(); ++i)
    numbers[i] = log_of(traffic_beyond(nest, kCacheBytes[i]) / points);
  numbers.back() = log_of(unit.l3_bytes_per_cycle);
  return numbers;
}

}  // namespace hone::cost
