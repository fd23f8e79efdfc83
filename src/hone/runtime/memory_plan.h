/// The memory plan: where in one arena each tensor lies, so that tensors that are never alive together share memory.
#pragma once

#include <cstddef>
#include <vector>

namespace hone::runtime {

/// A tensor in the arena: alive from the step that writes it to the last that reads it, both included.
struct Lifetime {
  std::size_t bytes;
  std::size_t first_step, last_step;
};

struct MemoryPlan {
  std::vector<std::size_t> offsets;  ///< one per lifetime, multiples of kTensorAlignment
  std::size_t bytes = 0;             ///< of the whole arena
};

/// Places the largest first, each in the smallest gap that fits between those alive at the same time.
MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes);

}  // namespace hone::runtime
