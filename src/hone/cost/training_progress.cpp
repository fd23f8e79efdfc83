#include "hone/cost/training_progress.h"

#include <algorithm>
#include <cmath>

namespace hone::cost {

bool TrainingProgress::add(const EpochReport& report) {
  epoch = report.epoch;
  const bool is_best =
      report.is_checked ? report.validation_loss < best.validation_loss : std::isfinite(report.validation_loss);
  barren = is_best ? 0 : barren + 1;
  if (is_best) best = report;
  return is_best;
}

double TrainingProgress::left_s(const TrainingOptions& options) const {
  return elapsed_s / std::max(epoch, 1) * (options.epochs - epoch);
}

}  // namespace hone::cost
