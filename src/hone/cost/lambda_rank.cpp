#include "hone/cost/lambda_rank.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "hone/support/error.h"

namespace hone::cost {
namespace {

/// Adds the loss and the gradient of one group.
void add_group(std::span<const float> scores, std::span<const float> labels, double& loss, std::span<float> gradient) {
  const std::size_t count = scores.size();
  const double most = max_dcg(labels);
  if (most <= 0) return;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  std::vector<double> gain(count), discount(count);  // by rank
  for (std::size_t i = 0; i < count; ++i) {
    gain[i] = (std::exp2(static_cast<double>(labels[order[i]])) - 1) / most;
    discount[i] = 1 / std::log2(2.0 + static_cast<double>(i));
  }
  constexpr double kLn2 = 0.693147180559945309;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j) {
      if (labels[order[i]] == labels[order[j]]) continue;
      const bool is_right = labels[order[i]] > labels[order[j]];
      const std::size_t better = is_right ? order[i] : order[j], worse = is_right ? order[j] : order[i];
      const double weight = (discount[i] - discount[j]) * std::abs(gain[i] - gain[j]);
      const double difference = static_cast<double>(scores[better]) - static_cast<double>(scores[worse]);
      // log(1 + exp(-x)), without overflow
      const double log_loss =
          difference > 0 ? std::log1p(std::exp(-difference)) : std::log1p(std::exp(difference)) - difference;
      loss += weight * log_loss / kLn2;
      const auto pull = static_cast<float>(weight / (1 + std::exp(difference)) / kLn2);
      gradient[better] -= pull;
      gradient[worse] += pull;
    }
}

}  // namespace

double max_dcg(std::span<const float> labels) {
  std::vector<float> sorted(labels.begin(), labels.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    sum += (std::exp2(static_cast<double>(sorted[i])) - 1) / std::log2(2.0 + static_cast<double>(i));
  return sum;
}

RankLoss lambda_rank(std::span<const float> scores, std::span<const float> labels,
                     std::span<const std::size_t> groups) {
  HONE_CHECK(scores.size() == labels.size(), "{} scores for {} labels", scores.size(), labels.size());
  RankLoss result{0, std::vector<float>(scores.size())};
  const std::size_t whole[] = {scores.size()};
  std::size_t begin = 0;
  for (const std::size_t size : groups.empty() ? std::span<const std::size_t>(whole) : groups) {
    HONE_CHECK(begin + size <= scores.size(), "groups of more than {} items", scores.size());
    add_group(scores.subspan(begin, size), labels.subspan(begin, size), result.loss,
              std::span(result.gradient).subspan(begin, size));
    begin += size;
  }
  return result;
}

}  // namespace hone::cost
