#include "hone/runtime/buffer.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <sys/mman.h>

namespace hone::runtime {

Result<AlignedBytes> AlignedBytes::allocate(std::size_t size, std::size_t alignment) {
  HONE_CHECK(std::has_single_bit(alignment) && alignment >= alignof(void*), "a buffer aligned to {} bytes", alignment);

  // aligned_alloc wants a multiple of the alignment.
  void* data = nullptr;
  std::size_t capacity = 0;
  if (size <= std::numeric_limits<std::size_t>::max() - alignment) {
    capacity = std::max((size + alignment - 1) & ~(alignment - 1), alignment);
    data = std::aligned_alloc(alignment, capacity);
  }
  if (!data)
    return error(ErrorCode::OutOfMemory, "allocate: the system has no {} bytes aligned to {}", size, alignment);

  if (alignment >= kHugePageAlignment) madvise(data, capacity, MADV_HUGEPAGE);  // a wish: small pages work as well
  return AlignedBytes(static_cast<std::byte*>(data), size);
}

}  // namespace hone::runtime
