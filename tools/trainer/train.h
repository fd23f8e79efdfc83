/// Training: the optimizer, what it goes on from, and what is told meanwhile.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>

#include "torch_network.h"

#include "hone/cost/training_progress.h"
#include "hone/cost/training_set.h"
#include "hone/cost/training_state.h"

namespace hone::trainer {

/// What a network is trained on.
struct Lesson {
  const cost::Dataset& data;
  const cost::TrainingSet& samples;
  std::vector<std::size_t> targets;  ///< of the heads, by place in the data set
  cost::TrainingOptions options;
};

/// Where an epoch is.
struct BatchReport {
  int epoch = 0;
  std::size_t batch = 0, batches = 0;  ///< how many are done, of how many
  double loss = 0;                     ///< the mean of those
  double left_s = 0;                   ///< of all epochs
};

/// Who is told what, and may end the training by an error.
struct Listener {
  std::function<void(const BatchReport&)> after_batch;
  std::function<Result<void>(const cost::EpochReport&, const cost::TrainingProgress&, bool is_best)> after_epoch;
  std::function<bool()> is_enough;  ///< whether to end early, asked when an epoch is kept; that is an error
};

/// The file from which a training goes on if it is interrupted.
struct Checkpoint {
  std::filesystem::path file;       ///< written before the first epoch and after each
  cost::TrainingIdentity identity;  ///< of the training
  bool resumes = false;             ///< goes on from the file, if there is one
};

/// Brings each feature of the samples to at most 1, for networks that read features as they are.
void fit_scale(TorchNetwork& network, const cost::TrainingSet& samples);

/// Trains a network and leaves it at its best epoch; returns how far it came. An error names a target of whose labels
/// none may be seen, or what cannot be written.
Result<cost::TrainingProgress> train(TorchNetwork& network, const Lesson& lesson, const Checkpoint& checkpoint,
                                     const Listener& listener);

/// The scores of all samples for a target, by its place in the data set, and by its head; or of the first so many.
std::vector<double> predict(const TorchNetwork& network, const cost::TrainingSet& samples, std::size_t target,
                            std::size_t head, std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace hone::trainer
