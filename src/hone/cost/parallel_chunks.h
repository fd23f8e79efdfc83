/// Doing independent pieces of work in several threads.
#pragma once

#include <cstddef>

#include "hone/support/function_ref.h"
#include "hone/support/result.h"

namespace hone::cost {

/// Candidates that a thread takes at a time.
inline constexpr std::size_t kChunk = 64;

/// Calls `work(begin, end)` for consecutive parts of [0, count), none larger than `chunk`, in up to `threads` threads
/// (0: one per core). The parts do not depend on the number of threads. The error of the first part that has one comes
/// back.
Result<void> for_chunks(std::size_t count, std::size_t chunk, int threads,
                        FunctionRef<Result<void>(std::size_t begin, std::size_t end)> work);

}  // namespace hone::cost
