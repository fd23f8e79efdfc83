#include "hone/cost/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hone/support/error.h"

namespace hone::cost {

namespace {

void check_sizes(std::span<const double> predicted, std::span<const double> measured) {
  HONE_CHECK(predicted.size() == measured.size(), "{} predictions for {} measurements", predicted.size(),
             measured.size());
}

/// The rank (from 0) of each position in the order of `values`, the greatest first.
std::vector<std::size_t> ranks(std::span<const double> values) {
  const std::vector<std::size_t> order = best_first(values);
  std::vector<std::size_t> result(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = i;
  return result;
}

}  // namespace

std::vector<std::size_t> best_first(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

double rmse(std::span<const double> predicted, std::span<const double> measured) {
  check_sizes(predicted, measured);
  if (predicted.empty()) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) sum += (predicted[i] - measured[i]) * (predicted[i] - measured[i]);
  return std::sqrt(sum / static_cast<double>(predicted.size()));
}

double pairwise_accuracy(std::span<const double> predicted, std::span<const double> measured) {
  check_sizes(predicted, measured);
  double right = 0, pairs = 0;
  for (std::size_t i = 0; i < measured.size(); ++i)
    for (std::size_t j = i + 1; j < measured.size(); ++j) {
      if (measured[i] == measured[j]) continue;
      ++pairs;
      if (predicted[i] == predicted[j])
        right += 0.5;
      else
        right += (predicted[i] > predicted[j]) == (measured[i] > measured[j]);
    }
  return pairs > 0 ? right / pairs : 1;
}

double top_k_recall(std::span<const double> predicted, std::span<const double> measured, std::size_t k) {
  check_sizes(predicted, measured);
  k = std::min(k, measured.size());
  if (k == 0) return 1;
  const std::vector<std::size_t> order = best_first(predicted), rank = ranks(measured);
  const auto found = std::count_if(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k),
                                   [&](std::size_t i) { return rank[i] < k; });
  return static_cast<double>(found) / static_cast<double>(k);
}

double average_recall(std::span<const double> predicted, std::span<const double> measured, std::size_t up_to) {
  check_sizes(predicted, measured);
  up_to = std::min(up_to, measured.size());
  if (up_to == 0) return 0;
  const std::vector<std::size_t> order = best_first(predicted), best = best_first(measured);
  // How many of the n best predicted are among the n best grows with n by those that enter on either side.
  std::vector<bool> is_predicted(measured.size()), is_best(measured.size());
  double sum = 0;
  std::size_t common = 0;
  for (std::size_t n = 0; n < up_to; ++n) {
    sum += static_cast<double>(common) / static_cast<double>(n + 1);
    is_predicted[order[n]] = true;
    is_best[best[n]] = true;
    common += is_best[order[n]];
    common += best[n] != order[n] && is_predicted[best[n]];
  }
  return sum / static_cast<double>(up_to);
}

double average_peak_score(std::span<const double> predicted, std::span<const double> measured, std::size_t up_to) {
  check_sizes(predicted, measured);
  up_to = std::min(up_to, measured.size());
  if (up_to == 0) return 0;
  const double best = *std::max_element(measured.begin(), measured.end());
  if (best <= 0) return 0;
  const std::vector<std::size_t> order = best_first(predicted);
  double peak = 0, sum = 0;
  for (std::size_t n = 0; n < up_to; ++n) {
    peak = std::max(peak, measured[order[n]]);
    sum += peak / best;
  }
  return sum / static_cast<double>(up_to);
}

double top_k_score(std::span<const TaskLatencies> tasks, std::size_t k) {
  double best = 0, reached = 0;
  for (const TaskLatencies& task : tasks) {
    if (task.seconds.empty()) continue;
    const auto end =
        task.seconds.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(k, 1, task.seconds.size()));
    best += task.weight * *std::min_element(task.seconds.begin(), task.seconds.end());
    reached += task.weight * *std::min_element(task.seconds.begin(), end);
  }
  return reached > 0 ? best / reached : 1;
}

}  // namespace hone::cost
