/// Patience: when tuning ends by itself because it gains nothing any more.
#pragma once

#include "hone/search/tuner.h"

namespace hone {

/// Is shown how tuning goes on, and says when it has waited long enough for a gain.
class Patience {
 public:
  /// `share` is the part of the time so far that may pass without a gain; 0: it waits for ever.
  explicit Patience(double share) : share_(share) {}

  /// Whether nothing was gained for too long. Only a model whose tasks all are known and were all tried for a while can
  /// tell.
  bool is_over(const search::TuneProgress& progress);

 private:
  double share_;
  double best_ns_ = 0;      ///< of the model when it last gained something; 0: not known yet
  double gained_at_s_ = 0;  ///< when that was
};

}  // namespace hone
