#include "hone/runtime/interrupt.h"

#include <atomic>
#include <chrono>

namespace hone::runtime {
namespace {

std::atomic<InterruptCheck> current = nullptr;

}  // namespace

void set_interrupt_check(InterruptCheck check) { current = check; }

Result<void> check_interrupt() {
  const InterruptCheck check = current.load(std::memory_order_relaxed);
  if (!check) return {};
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{20};
  thread_local Clock::time_point last = Clock::now();
  const Clock::time_point now = Clock::now();
  if (now - last < kPause) return {};
  last = now;
  if (check()) return error(ErrorCode::Unsupported, "the run was interrupted");
  return {};
}

}  // namespace hone::runtime
