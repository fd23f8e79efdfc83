/// What a training is told, and what of that a network's rate of learning and its targets are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/cost/dataset.h"

namespace hone::cost {

inline constexpr std::int64_t kMostEpochs = 100'000;  ///< and epochs of patience
inline constexpr std::int64_t kFewestInBatch = 2, kMostInBatch = 65'536;

struct TrainingOptions {
  std::string loss = "rank";        ///< "rank" or "mse"
  bool pairs_within_tasks = false;  ///< rank only against programs of the same task
  bool validates_on_tasks = false;  ///< hold back whole tasks, rather than programs
  double held_back = 0.1;           ///< the share that is held back; 0: none, and the last epoch is the best
  int epochs = 50;
  int patience = 8;  ///< epochs without a gain after which it ends
  std::size_t batch = 512;
  double rate = 7e-4;
  bool is_steady =
      false;  ///< keep the rate, and the weights of the last step, rather than let it fall and average them
  double decay = 1e-6;
  double largest_gradient = 0.5;
  double label_share = 1;  ///< of the first head's labels; the others are hidden
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> label_seed;  ///< of the labels that are hidden; none: the seed
};

/// The rate of learning in an epoch, the first of which is 1: it falls along half a wave of a cosine, unless it is
/// steady.
double rate_in(int epoch, const TrainingOptions& options);

}  // namespace hone::cost
