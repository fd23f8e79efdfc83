#include "hone/runtime/scratch.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <limits>

namespace {

constexpr std::size_t kAlign = 64;
constexpr std::size_t kMinBytes = 4096;
/// What a thread keeps at most for its next allocations.
constexpr std::size_t kMaxCachedBytes = std::size_t{256} << 20;
constexpr std::size_t kMaxCachedBlocks = 16;

/// Blocks come in sizes of 4, 5, 6 or 7 times a power of two: at most a quarter is wasted, and a freed block serves
/// every later request of about its size.
std::size_t block_bytes(std::int64_t wanted) {
  const std::size_t bytes =
      wanted < static_cast<std::int64_t>(kMinBytes) ? kMinBytes : static_cast<std::size_t>(wanted);
  const std::size_t step = std::bit_floor(bytes) / 4;
  return (bytes + step - 1) / step * step;
}

struct Block {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

/// The blocks that a thread has freed and not used again; the oldest goes first when there are too many.
class Cache {
 public:
  ~Cache() {
    while (count_ > 0) drop_oldest();
  }

  void* take(std::size_t bytes) {
    for (std::size_t i = count_; i-- > 0;)
      if (blocks_[i].bytes == bytes) return remove(i).memory;
    return nullptr;
  }

  void put(Block block) {
    if (block.bytes > kMaxCachedBytes) return std::free(block.memory);
    while (count_ == kMaxCachedBlocks || bytes_ + block.bytes > kMaxCachedBytes) drop_oldest();
    blocks_[count_++] = block;
    bytes_ += block.bytes;
  }

 private:
  Block remove(std::size_t at) {
    const Block block = blocks_[at];
    for (std::size_t i = at + 1; i < count_; ++i) blocks_[i - 1] = blocks_[i];
    --count_;
    bytes_ -= block.bytes;
    return block;
  }
  void drop_oldest() { std::free(remove(0).memory); }

  std::array<Block, kMaxCachedBlocks> blocks_ = {};
  std::size_t count_ = 0, bytes_ = 0;
};

thread_local Cache cache;

}  // namespace

void* hone_allocate(std::int64_t bytes) {
  if (bytes < 0 || bytes > std::numeric_limits<std::int64_t>::max() / 2) return nullptr;
  const std::size_t wanted = block_bytes(bytes);
  if (void* known = cache.take(wanted)) return known;
  return std::aligned_alloc(kAlign, wanted);
}

void hone_release(void* memory, std::int64_t bytes) {
  if (memory) cache.put({memory, block_bytes(bytes)});
}
