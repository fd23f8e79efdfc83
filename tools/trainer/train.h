/// Training: batches, losses, the optimizer, and when to stop.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "torch_network.h"

#include "hone/cost/evaluate.h"
#include "hone/cost/training_set.h"

namespace hone::trainer {

struct TrainOptions {
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

/// What is told after each epoch.
struct EpochReport {
  int epoch = 0, epochs = 0;
  double loss = 0, validation_loss = 0;
  double top_1 = 0, top_5 = 0;  ///< on what was held back, the mean over the targets that were scored
  std::size_t scored = 0;       ///< targets with labels there, all of which may be seen
  bool is_checked = false;      ///< whether labels that were held back may be seen: otherwise there is no such loss
  double elapsed_s = 0, left_s = 0;
  bool is_best = false;
};

/// Trains a network whose heads are for `targets`, by place in the data set, and leaves it at its best epoch; returns
/// that epoch's report. The best has the smallest loss on what was held back (top-1 scores of so few tasks jump from
/// epoch to epoch), or is the last one. An error names a target of whose labels none may be seen.
Result<EpochReport> train(TorchNetwork& network, const cost::Dataset& data, const cost::TrainingSet& samples,
                          const std::vector<std::size_t>& targets, const TrainOptions& options,
                          const std::function<void(const EpochReport&)>& told);

/// The scores of all samples for a target, by its place in the data set, and by its head; or of the first so many.
std::vector<double> predict(const TorchNetwork& network, const cost::TrainingSet& samples, std::size_t target,
                            std::size_t head, std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace hone::trainer
