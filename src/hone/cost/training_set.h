/// Training sets: the programs of a data set as sentences with labels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/cost/dataset.h"
#include "hone/cost/sentence.h"
#include "hone/cost/store_features.h"

namespace hone::cost {

/// Samples, those of a task one after the other. Sentences are stored without the rows that fill them up.
struct TrainingSet {
  SentenceShape shape;
  std::string schema;
  std::size_t targets = 0;

  std::vector<float> numbers;           ///< of the rows of all sentences
  std::size_t target_rows = 0;          ///< at the beginning of each sentence, which are about the target
  std::vector<float> leads;             ///< these rows, for each sample one set per target
  std::vector<std::size_t> first_rows;  ///< where each sentence begins, and where the last one ends
  std::vector<float> labels;            ///< for each sample one per target: see Dataset::label; NaN: not measured
  std::vector<std::uint32_t> tasks;     ///< for each sample its task, by place in the data set
  std::vector<std::size_t> programs;    ///< for each sample its program, by place in the data set
  std::size_t left_out = 0;             ///< programs of which no sentence can be made
  std::string left_out_because = {};    ///< of the first of them
  std::size_t failed_tasks = 0;         ///< tasks that are left out, as none of their programs ran on any target

  std::size_t size() const { return tasks.size(); }
  float label(std::size_t sample, std::size_t target) const { return labels[sample * targets + target]; }
  std::size_t count_labels(std::size_t target) const;
  /// "3 programs are left out: " and why, and so for tasks; empty if nothing is.
  std::string left_out_text() const;
  /// Copies a sentence as it is for a target, filled up with zeros.
  void copy_sentence(std::size_t sample, std::size_t target, std::span<float> to) const;
};

/// Ansor's features of stores as sentences: the first number of a row says that it counts. Programs with more stores
/// are cut off.
inline constexpr SentenceShape kStoresShape = {24, kStoreFeatures + 1};

enum class Part { Training, Test };

/// The samples of a part, in a language of sentences or as "stores": Ansor's 164 features, a row for each store.
/// Programs that no target ran or that cannot be made any more are left out, and so are tasks whose programs all failed
/// on every target. `units` are what the targets compute with, by default one kind for all.
/// An error if nothing is left, or if there is only one task to train on.
Result<TrainingSet> make_training_set(const Dataset& data, std::string_view language, Part part,
                                      std::span<const ComputeUnit> units = {});

/// Whether a set can be trained on for these targets of its data set: the error names one that has too few labels in
/// it, and how many.
Result<void> check_labels(const Dataset& data, const TrainingSet& samples, std::span<const std::size_t> targets);

}  // namespace hone::cost
