/// Memory for tensors: aligned for vector loads, and an error instead of a crash when there is none.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "hone/support/result.h"

namespace hone::runtime {

/// The alignment of every tensor: a cache line, and the widest vector of any target.
inline constexpr std::size_t kTensorAlignment = 64;

/// The alignment that lets the system back a large buffer with huge pages, which saves most of its TLB misses.
inline constexpr std::size_t kHugePageAlignment = std::size_t{2} << 20;

/// The alignment of a tensor or arena of so many bytes: huge pages for all that fills one.
inline std::size_t tensor_alignment(std::size_t bytes) {
  return bytes >= kHugePageAlignment ? kHugePageAlignment : kTensorAlignment;
}

/// A block of memory that frees itself.
class AlignedBytes {
 public:
  /// A block of no bytes, without an address.
  AlignedBytes() = default;

  /// Takes `size` bytes from the system, not initialised, at an address divisible by `alignment` (a power of two from
  /// 8 on). The address is never null, also for no bytes. With kHugePageAlignment the system is asked for huge pages,
  /// as far as the bytes fill them.
  static Result<AlignedBytes> allocate(std::size_t size, std::size_t alignment = kTensorAlignment);

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }

  /// The number of bytes asked for.
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };

  AlignedBytes(std::byte* data, std::size_t size) : data_(data), size_(size) {}

  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace hone::runtime
