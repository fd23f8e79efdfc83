/// What a network is trained on at a time: samples that are kept, the labels of them that it may see, and batches.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "hone/cost/training_options.h"
#include "hone/cost/training_set.h"
#include "hone/support/rng.h"

namespace hone::cost {

/// Labels that may be seen, one per head for each sample; NaN: none.
struct VisibleLabels {
  std::vector<float> numbers;
  std::size_t heads = 0;

  float at(std::size_t sample, std::size_t head) const { return numbers[sample * heads + head]; }
};

/// The labels of targets, by place in the data set, but for those of the first one that the options hide.
VisibleLabels visible_labels(const TrainingSet& set, std::span<const std::size_t> targets,
                             const TrainingOptions& options);
/// An error names the first target if fewer than two of its labels may be seen, unless the others' are what is trained
/// on.
Result<void> check_visible(const Dataset& data, const TrainingSet& set, std::span<const std::size_t> targets,
                           const VisibleLabels& labels, const TrainingOptions& options);

/// The samples that are trained on, and those that are held back.
std::pair<std::vector<std::size_t>, std::vector<std::size_t>> split_samples(const TrainingSet& set,
                                                                            const TrainingOptions& options);
/// The samples at these places alone, in this order.
TrainingSet part_of(const TrainingSet& set, std::span<const std::size_t> places);

/// What a network sees at a time: a sample, for all heads, or, where targets share one, as it is for one of them.
struct TrainingItem {
  std::size_t sample = 0;
  std::size_t head = 0;  ///< that counts; of all heads: 0

  bool operator==(const TrainingItem&) const = default;
};

/// All that there is to see of samples; those of which no label may be seen are left out.
std::vector<TrainingItem> items_of(bool has_one_head, const VisibleLabels& labels,
                                   std::span<const std::size_t> samples);

/// Items that go through the network together, in groups within which pairs are formed.
struct TrainingBatch {
  std::vector<TrainingItem> items;
  std::vector<std::size_t> groups;  ///< the sizes of consecutive ones
};

/// All items in a random order. Where pairs are formed within tasks, a group is of one task (and of one head, where
/// targets share it), and batches are filled with whole groups; otherwise a batch is one group.
std::vector<TrainingBatch> make_batches(const TrainingSet& set, std::vector<TrainingItem> items,
                                        const TrainingOptions& options, Rng& rng);

/// The loss of a batch, summed over heads, and its gradient by the scores.
struct BatchLoss {
  double loss = 0;
  std::vector<float> gradient;
};

/// Of scores, `heads` for each item: those without a label that may be seen cost nothing.
BatchLoss batch_loss(std::span<const float> scores, std::size_t heads, const TrainingBatch& batch,
                     const VisibleLabels& labels, const TrainingOptions& options);

}  // namespace hone::cost
