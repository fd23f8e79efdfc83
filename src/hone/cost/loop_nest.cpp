#include "hone/cost/loop_nest.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace hone::cost {
namespace {

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

float log_of(double value) {
  constexpr float kScale = 2;
  return static_cast<float>(std::log2(std::max(value, 1e-3))) / kScale;
}

double stride_along(const NestLoop& at, std::size_t access) {
  return at.loop->axis ? static_cast<double>(at.loop->axis->strides[access]) : 0;
}

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
  std::array<double, NaiveAxis::kAccesses> covered;
  covered.fill(1);
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
      if (stride_along(at, a) != 0) covered[a] *= extent;
      at.covered[a] = covered[a];
    }
    nest.loops.push_back(at);
  }
  return nest;
}

std::array<float, kTileNumbers> tile_numbers(const LoopNest& nest, const VectorUnit& unit) {
  const auto lanes = static_cast<double>(unit.lanes), registers = static_cast<double>(unit.registers);
  double width = 1;                                        // of the vectorized loop
  double tile = 1, steps = 1;                              // rows of vectors, and sums at each, in straight code
  double run = 1;                                          // steps of sums until they are moved
  double outside = 1, waste = 1;                           // sums that are begun anew outside of that; what splits added
  std::array<double, NaiveAxis::kAccesses> along, moved;   // stride in a vector, and rows of the tile that move it
  along.fill(0);
  moved.fill(1);
  const NestLoop* rolled = nullptr;  // the innermost loop that stays one
  bool is_running = true;
  double in_cache = 0;  // bytes that are touched until the sums move
  constexpr double kBytes = 4;
  for (const NestLoop& at : nest.loops) {
    const auto extent = static_cast<double>(at.loop->extent);
    waste *= 1 - at.loop->waste;
    if (at.is_straight) {
      if (at.is_vector) {
        width = extent;
        for (std::size_t a = 0; a < along.size(); ++a) along[a] = stride_along(at, a);
      } else if (at.loop->is_reduction) {
        steps *= extent;
      } else {
        tile *= extent;
        for (std::size_t a = 0; a < moved.size(); ++a)
          if (stride_along(at, a) != 0) moved[a] *= extent;
      }
    } else if (!rolled) {
      rolled = &at;
    }
    if (!at.loop->is_reduction && !at.is_straight) is_running = false;
    if (at.loop->is_reduction) (is_running ? run : outside) *= extent;
    if (is_running) {
      in_cache = 0;
      for (const double elements : at.covered) in_cache += elements * kBytes;
    }
  }
  const double vectors = std::ceil(width / lanes);
  const double sums = tile * vectors;
  double whole = 0, single = 0, gathered = 0;  // loads at a step: vectors, numbers for all lanes, lanes one by one
  double least = 1e9;
  const std::size_t accesses = nest.block ? nest.block->accessed.size() : 0;
  for (std::size_t a = 1; a < accesses; ++a) {
    const bool is_whole = along[a] == 1 || (along[a] != 0 && nest.is_packed[a]);
    const double loads = moved[a] * (along[a] == 0 ? 1 : is_whole ? vectors : width);
    (along[a] == 0 ? single : is_whole ? whole : gathered) += loads;
    least = std::min(least, along[a] == 0 ? 1 : moved[a] * vectors);
  }
  if (accesses <= 1) least = 0;
  const double live = sums + least + 1;
  const double loads = whole + single + gathered;
  const bool stores_whole = along[0] == 1 || (along[0] != 0 && accesses > 0 && nest.is_packed[0]);
  return {log_of(width),
          log_of(width / lanes),
          static_cast<float>(width / (vectors * lanes)),
          log_of(tile),
          log_of(sums),
          log_of(live),
          log_of(live / registers),
          live > registers ? 1.0F : 0.0F,
          static_cast<float>(std::min(2.0, std::max(0.0, live / registers - 1))),
          static_cast<float>(std::min(1.0, live / registers)),
          log_of(whole),
          log_of(single),
          log_of(gathered),
          log_of(sums / std::max(1.0, loads)),
          log_of(steps),
          log_of(steps * sums),
          log_of(run),
          log_of(outside),
          log_of(in_cache),
          static_cast<float>(1 - waste),
          stores_whole ? 1.0F : 0.0F,
          rolled && rolled->loop->is_reduction ? 1.0F : 0.0F,
          log_of(lanes),
          unit.has_fma ? 1.0F : 0.0F};
}

}  // namespace hone::cost
