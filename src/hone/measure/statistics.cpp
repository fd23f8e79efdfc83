#include "hone/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace hone::measure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The sum of squared deviations from the mean, divided by n - 1.
double variance(std::span<const double> samples, double center) {
  double sum = 0;
  for (const double sample : samples) sum += (sample - center) * (sample - center);
  return sum / static_cast<double>(samples.size() - 1);
}

/// The continued fraction of the incomplete beta function, evaluated by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300, kPrecision = 1e-15;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m <= 300; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      change = c * d;
      value *= change;
    }
    if (std::abs(change - 1) < kPrecision) break;
  }
  return value;
}

/// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x > (a + 1) / (a + b + 2)) return 1 - front * beta_fraction(b, a, 1 - x) / b;
  return front * beta_fraction(a, b, x) / a;
}

/// The two-sided p-value of a difference of means with this squared standard error and degrees of freedom.
double p_value(double difference, double squared_error, double freedom) {
  if (squared_error <= 0) return difference == 0 ? 1 : 0;
  const double squared_t = difference * difference / squared_error;
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + squared_t));
}

}  // namespace

double minimum(std::span<const double> samples) {
  return samples.empty() ? kInfinity : *std::min_element(samples.begin(), samples.end());
}

double median(std::span<const double> samples) {
  if (samples.empty()) return kInfinity;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double mean(std::span<const double> samples) {
  if (samples.empty()) return kInfinity;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double welch_p_value(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2) return 1;
  const double mean_a = mean(a), mean_b = mean(b);
  const double n_a = static_cast<double>(a.size()), n_b = static_cast<double>(b.size());
  const double error_a = variance(a, mean_a) / n_a, error_b = variance(b, mean_b) / n_b, both = error_a + error_b;
  const double freedom = both * both / (error_a * error_a / (n_a - 1) + error_b * error_b / (n_b - 1));
  return p_value(mean_a - mean_b, both, freedom);
}

double student_p_value(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2) return 1;
  const double mean_a = mean(a), mean_b = mean(b);
  const double n_a = static_cast<double>(a.size()), n_b = static_cast<double>(b.size()), freedom = n_a + n_b - 2;
  const double pooled = ((n_a - 1) * variance(a, mean_a) + (n_b - 1) * variance(b, mean_b)) / freedom;
  return p_value(mean_a - mean_b, pooled * (1 / n_a + 1 / n_b), freedom);
}

}  // namespace hone::measure
