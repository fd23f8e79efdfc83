#include "interrupt.h"

namespace hone::command {
namespace {

std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void request_stop(int) { stop_requested = true; }

}  // namespace

StopOnInterrupt::StopOnInterrupt() {
  stop_requested = false;
  struct sigaction action = {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
}

StopOnInterrupt::~StopOnInterrupt() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
}

const std::atomic<bool>& StopOnInterrupt::requested() { return stop_requested; }

}  // namespace hone::command
