/// Memory that notices when generated code leaves it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/codegen/compile.h"

namespace hone::differential {

/// Where the bytes lie between the two pages that nobody may touch.
enum class Against { PageBefore, PageAfter };

/// Bytes that touch an inaccessible page on one side; what is left of their own page on the other side holds a pattern.
class GuardedMemory {
 public:
  GuardedMemory(std::size_t bytes, Against against);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() { return data_; }
  /// Whether the pattern is as it was.
  bool is_intact() const;

 private:
  std::byte *mapping_, *begin_, *end_, *data_;
  std::size_t bytes_, mapped_bytes_;
};

/// The runtime of generated code, with scratch memory that starts as NaNs and has guarded ends.
codegen::RuntimeSymbols guarded_runtime();

/// How often scratch memory was released with damaged ends, since the start of the process.
std::int64_t damaged_scratch();

}  // namespace hone::differential
