#include "hone/runtime/memory_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "hone/runtime/buffer.h"

namespace hone::runtime {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment; }

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes) {
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t i : order) {
    const std::size_t wanted = aligned(lifetimes[i].bytes);
    std::size_t best = 0, best_gap = std::numeric_limits<std::size_t>::max(), end = 0;
    bool has_gap = false;
    for (const std::size_t other : placed) {
      if (!overlap(lifetimes[i], lifetimes[other])) continue;
      const std::size_t start = plan.offsets[other];
      if (start >= end && start - end >= wanted && start - end < best_gap) {
        best = end;
        best_gap = start - end;
        has_gap = true;
      }
      end = std::max(end, start + aligned(lifetimes[other].bytes));
    }
    plan.offsets[i] = has_gap ? best : end;
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + wanted);
    const auto place = std::upper_bound(placed.begin(), placed.end(), i, [&](std::size_t a, std::size_t b) {
      return plan.offsets[a] < plan.offsets[b];
    });
    placed.insert(place, i);
  }
  return plan;
}

}  // namespace hone::runtime
