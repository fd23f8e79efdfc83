#include "hone/cost/training_options.h"

#include <cmath>
#include <numbers>

namespace hone::cost {

double rate_in(int epoch, const TrainingOptions& options) {
  if (options.is_steady) return options.rate;
  constexpr double kLeft = 0.02;
  const double done = static_cast<double>(epoch - 1) / options.epochs;
  return options.rate * (kLeft + (1 - kLeft) * (1 + std::cos(std::numbers::pi * done)) / 2);
}

}  // namespace hone::cost
