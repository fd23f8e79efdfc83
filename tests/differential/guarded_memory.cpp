#include "guarded_memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

#include "hone/runtime/parallel.h"
#include "hone/support/error.h"

namespace hone::differential {

namespace {

constexpr std::byte kPattern{0xA5};
constexpr std::byte kNaN{0xFF};  // in every byte: a NaN in every floating type

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

bool is_pattern(const std::byte* begin, const std::byte* end) {
  return std::all_of(begin, end, [](std::byte b) { return b == kPattern; });
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes, Against against) : bytes_(bytes) {
  const std::size_t page = page_bytes();
  const std::size_t inside = std::max<std::size_t>(1, (bytes + page - 1) / page) * page;
  mapped_bytes_ = inside + 2 * page;
  void* mapping = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  HONE_CHECK(mapping != MAP_FAILED, "no {} bytes of address space", mapped_bytes_);
  mapping_ = static_cast<std::byte*>(mapping);
  begin_ = mapping_ + page;
  end_ = begin_ + inside;
  HONE_CHECK(mprotect(begin_, inside, PROT_READ | PROT_WRITE) == 0, "no {} bytes of memory", inside);
  std::fill(begin_, end_, kPattern);
  data_ = against == Against::PageBefore ? begin_ : end_ - bytes;
}

GuardedMemory::~GuardedMemory() { munmap(mapping_, mapped_bytes_); }

bool GuardedMemory::is_intact() const { return is_pattern(begin_, data_) && is_pattern(data_ + bytes_, end_); }

namespace {

constexpr std::size_t kGuardBytes = 128;  // a multiple of the alignment that scratch memory promises
constexpr std::align_val_t kAlignment{64};
std::atomic<std::int64_t> damaged{0};

void* guarded_allocate(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  auto* memory = static_cast<std::byte*>(::operator new(size + 2 * kGuardBytes, kAlignment, std::nothrow));
  if (!memory) return nullptr;
  std::fill_n(memory, kGuardBytes, kPattern);
  std::fill_n(memory + kGuardBytes, size, kNaN);
  std::fill_n(memory + kGuardBytes + size, kGuardBytes, kPattern);
  return memory + kGuardBytes;
}

void guarded_release(void* pointer, std::int64_t bytes) {
  if (!pointer) return;
  std::byte* data = static_cast<std::byte*>(pointer);
  std::byte* end = data + bytes;
  if (!is_pattern(data - kGuardBytes, data) || !is_pattern(end, end + kGuardBytes)) ++damaged;
  ::operator delete(data - kGuardBytes, kAlignment);
}

}  // namespace

codegen::RuntimeSymbols guarded_runtime() {
  return {.parallel_for = hone_parallel_for, .allocate = guarded_allocate, .release = guarded_release};
}

std::int64_t damaged_scratch() { return damaged; }

}  // namespace hone::differential
