/// Waiting a moment for another thread without giving up the core.
#pragma once

#include <chrono>
#include <thread>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace hone::runtime {

/// Tells the core that this is a waiting loop, so that it saves power and leaves its sibling more room.
inline void cpu_pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` takes no time on most cores; isb takes about as long as x86's pause
#endif
}

/// Waits until `is_ready()` holds, at most about `limit`. Returns whether it holds.
/// - The bound is a time and not a count, because a pause takes from 10 to 140 cycles, depending on the core.
/// - After the first microsecond or so it also yields: the thread that is waited for may want this very core, where
///   Linux likes to put a thread that was just started or woken, and would otherwise get it only after the spin.
template <typename Predicate>
bool spin_until(const Predicate& is_ready, std::chrono::nanoseconds limit) {
  constexpr int kPausesPerYield = 32;
  if (is_ready()) return true;
  if (limit.count() <= 0) return false;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    for (int i = 0; i < kPausesPerYield; ++i) {
      cpu_pause();
      if (is_ready()) return true;
    }
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::yield();
  }
}

}  // namespace hone::runtime
