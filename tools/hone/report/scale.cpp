#include "scale.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hone::command {
namespace {

/// The step of about `count` round numbers within a span.
double round_step(double span, int count) {
  const double rough = span / std::max(1, count), power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power * 1.0001) return factor * power;
  return 10 * power;
}

/// A duration in the unit that leaves 1 to 999 before the point.
struct InUnit {
  double number;
  const char* unit;
};

InUnit in_unit(double ns) {
  if (ns < 1e3) return {ns, "ns"};
  if (ns < 1e6) return {ns * 1e-3, "µs"};
  if (ns < 1e9) return {ns * 1e-6, "ms"};
  return {ns * 1e-9, "s"};
}

constexpr int kUsualTicks = 5;
/// A logarithmic axis with fewer decades than this has more than their ends written beside it.
constexpr double kFewDecades = 2.2;

}  // namespace

double Scale::at(double value) const {
  const auto place = [this](double number) { return is_log ? std::log(number) : number; };
  return from + (to - from) * (place(value) - place(low)) / (place(high) - place(low));
}

Scale make_scale(double low, double high, double from, double to, bool is_log) {
  if (is_log) {
    if (!(high > low * 1.2)) {
      low /= 1.2;
      high *= 1.2;
    }
    return {low, high, from, to, is_log};
  }
  if (!(high > low)) high = low + std::max(1.0, std::fabs(low));
  const double step = round_step(high - low, kUsualTicks);
  return {std::floor(low / step) * step, std::ceil(high / step) * step, from, to, is_log};
}

std::vector<double> ticks_of(const Scale& scale, int count) {
  std::vector<double> ticks;
  if (!scale.is_log) {
    const double step = round_step(scale.high - scale.low, count);
    for (double i = std::ceil(scale.low / step - 1e-9); i * step <= scale.high + step * 1e-9; ++i)
      ticks.push_back(i * step);
    return ticks;
  }
  const double decades = std::log10(scale.high / scale.low);
  const double every = std::max(1.0, std::ceil(decades / count));
  for (double power = std::floor(std::log10(scale.low)); power <= std::log10(scale.high); power += every)
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && decades > kFewDecades) continue;
      if (const double tick = factor * std::pow(10, power); scale.holds(tick)) ticks.push_back(tick);
    }
  return ticks;
}

std::string tick_text(double value) {
  if (value == 0) return "0";
  const double size = std::fabs(value);
  if (size >= 1e6 || size < 1e-3) return fmt::format("{:.3g}", value);
  std::string digits = fmt::format("{:.{}f}", value, size >= 100 ? 0 : size >= 1 ? 2 : 3);
  if (digits.find('.') != std::string::npos) {
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  }
  if (size >= 1e4) digits.insert(digits.size() - 3, ",");
  return digits;
}

std::string duration_text(double ns) {
  if (!std::isfinite(ns)) return "–";
  const InUnit duration = in_unit(ns);
  const int digits = duration.number >= 100 ? 0 : duration.number >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", duration.number, digits, duration.unit);
}

std::string round_duration_text(double ns) {
  const InUnit duration = in_unit(ns);
  return fmt::format("{} {}", tick_text(duration.number), duration.unit);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (seconds < 10 && std::fabs(seconds - static_cast<double>(whole)) > 0.01) return fmt::format("{:.3g} s", seconds);
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole % 3600 / 60);
}

}  // namespace hone::command
