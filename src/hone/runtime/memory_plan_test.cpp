#include "hone/runtime/memory_plan.h"

#include <gtest/gtest.h>

#include "hone/runtime/buffer.h"
#include "hone/support/rng.h"

namespace hone::runtime {
namespace {

bool overlap(std::size_t a_begin, std::size_t a_end, std::size_t b_begin, std::size_t b_end) {
  return a_begin < b_end && b_begin < a_end;
}

TEST(MemoryPlan, NoTwoTensorsThatAreAliveTogetherShareMemory) {
  Rng rng(/*seed=*/1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lifetimes;
    const std::int64_t count = rng.uniform(0, 30);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto first = static_cast<std::size_t>(rng.uniform(0, 20));
      lifetimes.push_back(
          {static_cast<std::size_t>(rng.uniform(0, 1000)), first, first + static_cast<std::size_t>(rng.uniform(0, 5))});
    }
    const MemoryPlan plan = plan_memory(lifetimes);
    for (std::size_t a = 0; a < lifetimes.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % kTensorAlignment, 0u);
      EXPECT_LE(plan.offsets[a] + lifetimes[a].bytes, plan.bytes);
      for (std::size_t b = 0; b < a; ++b) {
        const bool is_together =
            lifetimes[a].first_step <= lifetimes[b].last_step && lifetimes[b].first_step <= lifetimes[a].last_step;
        EXPECT_FALSE(is_together && overlap(plan.offsets[a], plan.offsets[a] + lifetimes[a].bytes, plan.offsets[b],
                                            plan.offsets[b] + lifetimes[b].bytes))
            << "round " << round;
      }
    }
  }
}

TEST(MemoryPlan, AChainNeedsTwoBuffersOnly) {
  std::vector<Lifetime> lifetimes;
  for (std::size_t i = 0; i < 10; ++i) lifetimes.push_back({640, i, i + 1});
  EXPECT_EQ(plan_memory(lifetimes).bytes, 2u * 640u);
}

}  // namespace
}  // namespace hone::runtime
