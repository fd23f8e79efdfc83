/// Ctrl-C while something long runs: what is under way is given up, everything before it is kept.
#pragma once

#include <atomic>
#include <csignal>

namespace hone::command {

/// While it lives, the first Ctrl-C (or SIGTERM) asks to stop; the second one ends the process as usual.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;

  /// Becomes true when the user asks to stop.
  static const std::atomic<bool>& requested();

 private:
  struct sigaction interrupt_ = {}, terminate_ = {};  ///< what signals did before
};

}  // namespace hone::command
