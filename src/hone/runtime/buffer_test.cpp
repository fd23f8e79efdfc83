#include "hone/runtime/buffer.h"

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <utility>

// The sanitizers' allocators end the process when memory is short, unless told to behave like the system's.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }  // NOLINT
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }  // NOLINT

namespace hone::runtime {
namespace {

bool is_aligned(const AlignedBytes& bytes, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0;
}

TEST(AlignedBytes, EveryByteIsAlignedAndWritable) {
  for (const std::size_t alignment : {std::size_t{8}, kTensorAlignment, std::size_t{4096}, kHugePageAlignment})
    for (const std::size_t size : {1u, 7u, 63u, 64u, 65u, 4097u, 1000003u}) {
      Result<AlignedBytes> bytes = AlignedBytes::allocate(size, alignment);
      ASSERT_TRUE(bytes) << bytes.error().message;
      EXPECT_EQ(bytes->size(), size);
      EXPECT_TRUE(is_aligned(*bytes, alignment)) << size << " bytes aligned to " << alignment;
      std::memset(bytes->data(), 0x5a, size);
      EXPECT_EQ(bytes->data()[size - 1], std::byte{0x5a});
    }
}

TEST(AlignedBytes, NoBytesStillHaveAnAlignedAddress) {
  const Result<AlignedBytes> bytes = AlignedBytes::allocate(0);
  ASSERT_TRUE(bytes);
  EXPECT_NE(bytes->data(), nullptr);
  EXPECT_TRUE(is_aligned(*bytes, kTensorAlignment));
  EXPECT_EQ(bytes->size(), 0u);
}

TEST(AlignedBytes, MemoryTheSystemDoesNotHaveIsAnError) {
  const std::size_t half_the_address_space = std::size_t{1} << 62;
  const Result<AlignedBytes> bytes = AlignedBytes::allocate(half_the_address_space);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::OutOfMemory);
  EXPECT_EQ(bytes.error().message, "allocate: the system has no 4611686018427387904 bytes aligned to 64");
}

TEST(AlignedBytes, ASizeThatOverflowsWhenRoundedUpIsAnError) {
  for (const std::size_t missing : {0u, 1u, 63u, 64u})
    EXPECT_FALSE(AlignedBytes::allocate(std::numeric_limits<std::size_t>::max() - missing)) << missing;
}

TEST(AlignedBytes, AnAlignmentThatIsNoPowerOfTwoIsOurMistake) {
  EXPECT_THROW((void)AlignedBytes::allocate(64, 48), InternalError);
  EXPECT_THROW((void)AlignedBytes::allocate(64, 0), InternalError);
  EXPECT_THROW((void)AlignedBytes::allocate(64, 4), InternalError);
}

TEST(AlignedBytes, MovingKeepsTheAddress) {
  Result<AlignedBytes> first = AlignedBytes::allocate(100);
  ASSERT_TRUE(first);
  const std::byte* address = first->data();
  const AlignedBytes second = *std::move(first);
  EXPECT_EQ(second.data(), address);
  EXPECT_EQ(second.size(), 100u);
}

}  // namespace
}  // namespace hone::runtime
