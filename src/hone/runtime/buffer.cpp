#include "hone/runtime/buffer.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <sys/mman.h>

namespace hone::runtime {

Result<AlignedBytes> AlignedBytes::allocate(std::size_t size, std::size_t alignment) {
  HONE_CHECK(std::has_single_bit(alignment) && alignment >= alignof(void*), "a buffer aligned to {} bytes", alignment);

  void* data = nullptr;
  if (size <= std::numeric_limits<std::size_t>::max() - alignment &&
      posix_memalign(&data, alignment, std::max(size, kTensorAlignment)) != 0)
    data = nullptr;
  if (!data)
    return error(ErrorCode::OutOfMemory, "allocate: the system has no {} bytes aligned to {}", size, alignment);

  const std::size_t whole_pages = size / kHugePageAlignment * kHugePageAlignment;
  if (alignment >= kHugePageAlignment && whole_pages > 0)
    madvise(data, whole_pages, MADV_HUGEPAGE);  // a wish: small pages work as well
  return AlignedBytes(static_cast<std::byte*>(data), size);
}

}  // namespace hone::runtime
