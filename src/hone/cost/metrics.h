/// How good predictions are: scores against what was measured, both the higher the faster.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hone::cost {

/// The root of the mean squared difference; 0 for nothing.
double rmse(std::span<const double> predicted, std::span<const double> measured);

/// The share of pairs with different measured values that the predictions put into the right order (equal predictions
/// are half right); 1 if there is no such pair.
double pairwise_accuracy(std::span<const double> predicted, std::span<const double> measured);

/// The share of the k best that are among the k that were predicted to be best; 1 if k is 0.
double top_k_recall(std::span<const double> predicted, std::span<const double> measured, std::size_t k);

/// AutoTVM's average recall: the mean over n in [0, up_to) of |{n best predicted} ∩ {n best}| / (n + 1). A perfect
/// prediction does not reach 1.
double average_recall(std::span<const double> predicted, std::span<const double> measured, std::size_t up_to);

/// Ansor's average peak score: the mean over n in [1, up_to] of the best among the n best predicted, as a share of the
/// best of all.
double average_peak_score(std::span<const double> predicted, std::span<const double> measured, std::size_t up_to);

/// The latencies of one task in the order of their predictions, and how often the task occurs.
struct TaskLatencies {
  double weight;
  std::vector<double> seconds;
};

/// The share of the best possible latency of a network that is reached by measuring k candidates per task.
double top_k_score(std::span<const TaskLatencies> tasks, std::size_t k);

/// The positions of `values`, the greatest first; equal ones keep their order.
std::vector<std::size_t> best_first(std::span<const double> values);

}  // namespace hone::cost
