#include "hone/cost/objectives.h"

#include <algorithm>
#include <cmath>

#include "hone/support/error.h"

namespace hone::cost {

namespace {

constexpr std::uint32_t kAllPairsBelow = 256, kPartners = 32;
constexpr float kLeastHessian = 1e-16F, kLeastWeight = 0.05F;

}  // namespace

float weight_of(float label) { return std::max(label, kLeastWeight); }

SumOfRows::SumOfRows(std::span<const std::uint32_t> first_rows, std::span<const float> labels,
                     std::span<const float> margins)
    : first_rows_(first_rows), labels_(labels), margins_(margins) {
  HONE_CHECK(first_rows.size() == labels.size() + 1, "{} programs have {} labels", first_rows.size(), labels.size());
  HONE_CHECK(margins.empty() || margins.size() == labels.size(), "{} programs have {} margins", labels.size(),
             margins.size());
}

float SumOfRows::score(std::size_t program, std::span<const float> sums) const {
  float score = margins_.empty() ? 0 : margins_[program];
  for (std::uint32_t row = first_rows_[program]; row < first_rows_[program + 1]; ++row) score += sums[row];
  return score;
}

void SumOfRows::gradient(std::span<const float> sums, std::span<float> first, std::span<float> second) const {
  for (std::size_t p = 0; p < labels_.size(); ++p) {
    const float weight = weight_of(labels_[p]), slope = weight * (score(p, sums) - labels_[p]);
    for (std::uint32_t row = first_rows_[p]; row < first_rows_[p + 1]; ++row) {
      first[row] = slope;
      second[row] = weight;
    }
  }
}

double SumOfRows::loss(std::span<const float> sums) const {
  double squares = 0;
  for (std::size_t p = 0; p < labels_.size(); ++p) {
    const double difference = score(p, sums) - labels_[p];
    squares += difference * difference;
  }
  return labels_.empty() ? 0 : std::sqrt(squares / static_cast<double>(labels_.size()));
}

void squared_gradient(std::span<const float> sums, std::span<const float> margins, std::span<const float> labels,
                      std::span<float> first, std::span<float> second) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    first[i] = margins[i] + sums[i] - labels[i];
    second[i] = 1;
  }
}

PairwiseRanks::PairwiseRanks(std::vector<std::uint32_t> groups, std::span<const float> labels, std::uint64_t seed)
    : groups_(std::move(groups)), labels_(labels), rng_(seed) {}

void PairwiseRanks::gradient(std::span<const float> sums, std::span<const float> margins, std::span<float> first,
                             std::span<float> second) {
  std::fill(first.begin(), first.end(), 0.0F);
  std::fill(second.begin(), second.end(), kLeastHessian);
  const auto add_pair = [&](std::size_t i, std::size_t j, float weight) {
    if (labels_[i] == labels_[j]) return;
    if (labels_[i] < labels_[j]) std::swap(i, j);
    const float p = 1 / (1 + std::exp(margins[i] + sums[i] - margins[j] - sums[j]));  // that j is thought better
    const float hessian = 2 * weight * std::max(p * (1 - p), kLeastHessian);
    first[i] -= weight * p;
    first[j] += weight * p;
    second[i] += hessian;
    second[j] += hessian;
  };
  std::size_t begin = 0;
  for (const std::uint32_t size : groups_) {
    const std::size_t end = begin + size;
    if (size < kAllPairsBelow) {
      // As if each item had met two others, whatever the size of the group: steps are then of one scale.
      const float weight = size > 1 ? 2.0F / static_cast<float>(size - 1) : 0;
      for (std::size_t i = begin; i < end; ++i)
        for (std::size_t j = i + 1; j < end; ++j) add_pair(i, j, weight);
    } else {
      for (std::size_t i = begin; i < end; ++i)
        for (std::uint32_t partner = 0; partner < kPartners; ++partner) {
          const auto other = static_cast<std::size_t>(rng_.uniform(0, size - 1));
          add_pair(i, begin + other, 1.0F / kPartners);
        }
    }
    begin = end;
  }
}

double transfer_discount(std::size_t samples) {
  const double discount = std::exp2(-static_cast<double>(samples) / 64);
  return discount < 0.05 ? 0 : discount;
}

}  // namespace hone::cost
