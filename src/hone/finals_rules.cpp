#include "hone/finals_rules.h"

#include <algorithm>

#include "hone/measure/statistics.h"

namespace hone {
namespace {

/// A smaller gain is noise, or not worth another kernel.
constexpr double kSmallestGain = 0.01;
constexpr double kSignificance = 0.05;
/// Of the model as a whole: that its parts are faster was shown before.
constexpr double kSignificanceOfWhole = 0.1;

Samples faster_half(Samples samples) {
  std::sort(samples.begin(), samples.end());
  samples.resize((samples.size() + 1) / 2);
  return samples;
}

/// Whether one is faster than the other in most rounds: what else runs on a machine comes and goes, and slows down
/// whatever runs at that time.
bool is_mostly_faster(const Samples& one, const Samples& other) {
  constexpr double kMostRounds = 0.6;
  const std::size_t rounds = std::min(one.size(), other.size());
  std::size_t faster = 0;
  for (std::size_t i = 0; i < rounds; ++i) faster += one[i] < other[i] ? 1 : 0;
  return static_cast<double>(faster) >= kMostRounds * static_cast<double>(rounds);
}

}  // namespace

double typical(Samples samples) { return measure::mean(faster_half(std::move(samples))); }

bool is_surely_faster(const Samples& challenger, const Samples& incumbent) {
  if (challenger.empty()) return false;
  if (incumbent.empty()) return true;
  const Samples one = faster_half(challenger), other = faster_half(incumbent);
  return one.front() < other.front() * (1 - kSmallestGain) && measure::mean(one) < measure::mean(other) &&
         measure::welch_p_value(one, other) < kSignificance;
}

std::size_t decide_task(const std::vector<Samples>& variants) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < variants.size(); ++i)
    if (is_surely_faster(variants[i], variants[best])) best = i;
  return best;
}

Verdict decide_model(const Samples& standard, const Samples& assembled, const Samples& alone) {
  const bool is_faster = typical(assembled) < typical(standard) &&
                         measure::minimum(assembled) < measure::minimum(standard) &&
                         measure::welch_p_value(faster_half(assembled), faster_half(standard)) < kSignificanceOfWhole &&
                         is_mostly_faster(assembled, standard);
  if (is_faster) return is_surely_faster(alone, assembled) ? Verdict::Alone : Verdict::Assembled;
  return is_surely_faster(alone, standard) ? Verdict::Alone : Verdict::Default;
}

}  // namespace hone
