/// How far a training is: its epochs, the best of them, and when to stop.
#pragma once

#include <cstdint>
#include <limits>

#include "hone/cost/training_options.h"

namespace hone::cost {

/// What an epoch came to.
struct EpochReport {
  int epoch = 0;
  double loss = 0;              ///< on what was trained on
  double validation_loss = 0;   ///< on what was held back, or else the other one
  bool is_checked = false;      ///< whether labels that were held back may be seen: otherwise there is no such loss
  double top_1 = 0, top_5 = 0;  ///< on what was held back, the mean over the targets that were scored
  std::uint64_t scored = 0;     ///< targets with labels there, all of which may be seen
};

/// Epochs so far. The best has the smallest loss on what was held back (top-1 scores of so few tasks jump from epoch to
/// epoch); if nothing was, it is the last one whose loss is a number.
struct TrainingProgress {
  int epoch = 0, barren = 0;  ///< how many are done, and how many of them since the best
  double elapsed_s = 0;
  EpochReport best = {.validation_loss = std::numeric_limits<double>::infinity()};

  /// Adds the next epoch, and says whether it is the best so far.
  bool add(const EpochReport& report);
  bool is_over(const TrainingOptions& options) const { return epoch >= options.epochs || barren >= options.patience; }
  /// The seconds that all epochs still take, at the pace so far.
  double left_s(const TrainingOptions& options) const;
};

}  // namespace hone::cost
