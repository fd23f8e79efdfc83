/// What a training says: a line for each epoch, and on a terminal how far the one under way is.
#pragma once

#include <chrono>
#include <string>

#include "train.h"

namespace hone::trainer {

class View {
 public:
  explicit View(const cost::TrainingOptions& options) : options_(options) {}

  /// Draws the line on a terminal anew, now and then.
  void show(const BatchReport& report);
  void show(const cost::EpochReport& report, const cost::TrainingProgress& progress, bool is_best);

 private:
  cost::TrainingOptions options_;
  bool has_line_ = false;
  std::chrono::steady_clock::time_point drawn_;
  std::string last_epoch_;  ///< top-k scores of it
};

/// What the best epoch came to, and why there are no top-k scores of it if there are none.
std::string best_text(const cost::EpochReport& best, const cost::TrainingOptions& options);

}  // namespace hone::trainer
