#include "hone/measure/overlap.h"

#include <algorithm>

namespace hone::measure {

Overlap::Overlap(int cores, int threads) : cores_(std::max(1, cores)), threads_(std::clamp(threads, 1, cores_)) {}

bool Overlap::may_prepare() const {
  const bool is_reserved = is_timing_ || waiting_ > 0;
  return preparing_ + 1 + (is_reserved ? threads_ : 0) <= cores_;
}

bool Overlap::may_time() const { return !is_timing_ && preparing_ + threads_ <= cores_; }

}  // namespace hone::measure
