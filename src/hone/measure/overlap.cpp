#include "hone/measure/overlap.h"

#include <algorithm>

namespace hone::measure {

Overlap::Overlap(int cores, int threads) : cores_(std::max(1, cores)), threads_(std::clamp(threads, 1, cores_)) {}

bool Overlap::may_prepare(int cores) const {
  const bool is_reserved = is_timing_ || (is_in_bursts() ? is_burst_ : ready_ > 0);
  return busy() + cores + (is_reserved ? threads_ : 0) <= cores_;
}

bool Overlap::may_time() const { return !is_timing_ && busy() + threads_ <= cores_ && (is_burst_ || !is_in_bursts()); }

int Overlap::most_waiting_per_worker() const { return is_in_bursts() ? kBurst : 2; }

void Overlap::look(int ready, bool can_prepare_more) {
  ready_ = ready;
  // While something else holds a core, nothing can be timed on all of them: then preparing goes on.
  const bool is_enough = waiting_ >= kBurst * cores_ && other_ == 0;
  const bool is_all = !can_prepare_more && preparing_ == 0;
  is_burst_ = waiting_ > 0 && (is_burst_ || is_enough || is_all);
}

}  // namespace hone::measure
