#include "hone/patience.h"

#include <algorithm>
#include <cmath>

namespace hone {
namespace {

/// A gain of less than this share of the model's time is none.
constexpr double kSmallestModelGain = 0.001;
/// Trials of each task before which nothing is said, and seconds.
constexpr std::int64_t kFewestTrials = 16;
constexpr double kFewestSeconds = 10;

bool is_tried(const search::TaskProgress& task) {
  if (task.is_done) return true;
  return std::isfinite(task.first_ns) && std::isfinite(task.best_ns) && task.trials >= kFewestTrials;
}

}  // namespace

bool Patience::is_over(const search::TuneProgress& progress) {
  if (share_ <= 0 || !std::all_of(progress.tasks.begin(), progress.tasks.end(), is_tried)) return false;
  const double now_ns = progress.best_ns();
  if (best_ns_ == 0 || now_ns < best_ns_ * (1 - kSmallestModelGain)) {
    best_ns_ = now_ns;
    gained_at_s_ = progress.elapsed_s;
  }
  return progress.elapsed_s >= kFewestSeconds && progress.elapsed_s - gained_at_s_ > share_ * progress.elapsed_s;
}

}  // namespace hone
