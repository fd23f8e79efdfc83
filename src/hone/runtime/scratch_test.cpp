#include "hone/runtime/scratch.h"

#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <thread>
#include <vector>

namespace {

bool is_aligned(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % 64 == 0; }

TEST(Scratch, MemoryIsAlignedAndWritable) {
  for (const std::int64_t bytes : {0, 1, 63, 4096, 4097, 1 << 20, (1 << 20) + 1}) {
    void* memory = hone_allocate(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_TRUE(is_aligned(memory));
    std::memset(memory, 1, static_cast<std::size_t>(bytes));
    hone_release(memory, bytes);
  }
}

TEST(Scratch, AFreedBlockIsUsedAgain) {
  void* first = hone_allocate(100'000);
  hone_release(first, 100'000);
  void* second = hone_allocate(99'000);
  EXPECT_EQ(first, second);
  hone_release(second, 99'000);
}

TEST(Scratch, BlocksInUseAreDistinct) {
  void* a = hone_allocate(5000);
  void* b = hone_allocate(5000);
  EXPECT_NE(a, b);
  hone_release(a, 5000);
  hone_release(b, 5000);
}

TEST(Scratch, ManyBlocksAndOtherThreadsAreFine) {
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(hone_allocate(10'000));
  std::thread([&] {
    for (void* block : blocks) hone_release(block, 10'000);
  }).join();
}

TEST(Scratch, ImpossibleSizesGiveNull) {
  EXPECT_EQ(hone_allocate(-1), nullptr);
  EXPECT_EQ(hone_allocate(std::numeric_limits<std::int64_t>::max()), nullptr);
  EXPECT_EQ(hone_allocate(std::numeric_limits<std::int64_t>::max() / 4), nullptr);
  hone_release(nullptr, 0);
}

}  // namespace
