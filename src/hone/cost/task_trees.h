/// Fitting trees to the samples of tasks, as AutoTVM does.
#pragma once

#include "hone/cost/boosted_trees.h"
#include "hone/cost/samples.h"
#include "hone/cost/task_model.h"

namespace hone::cost {

/// Rows of as many numbers each: shorter ones are filled with zeros, longer ones cut.
class PaddedRows {
 public:
  explicit PaddedRows(std::size_t columns) : matrix_{.columns = columns} {}
  void add(std::span<const float> row);
  const Matrix& matrix() const { return matrix_; }

 private:
  Matrix matrix_;
};

/// What to fit: samples by task, with what is known of each already.
struct TaskFit {
  const SampleSet* samples;
  std::vector<std::size_t> chosen;  ///< places of samples, those of one task next to each other
  std::vector<float> margins;       ///< one per chosen sample
};

/// How long to fit, and how many of the best must be in order.
struct FitLength {
  int max_rounds, patience;
  std::size_t recall_up_to;
};

/// Trees whose sum with the margins orders the samples of each task, or comes near their labels.
Result<BoostedTrees> fit_tasks(const TaskFit& fit, TaskObjective objective, const FitLength& length,
                               std::uint64_t seed);

}  // namespace hone::cost
