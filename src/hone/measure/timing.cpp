#include "hone/measure/timing.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace hone::measure {
namespace {

constexpr std::int64_t kMaxCalls = 10'000'000;
/// Other programs interrupt a call for less than this.
constexpr double kInterruptedNs = 1e8;

/// The nanoseconds that `calls` calls in a row take; nothing if one failed.
std::optional<double> time_calls(const Timed& timed, std::int64_t calls) {
  bool is_ok = true;
  const Clock::time_point begin = Clock::now();
  for (std::int64_t i = 0; i < calls; ++i) is_ok &= timed.call();
  const std::chrono::duration<double, std::nano> elapsed = Clock::now() - begin;
  if (!is_ok) return std::nullopt;
  return elapsed.count();
}

/// Times one program, and remembers how often it wants to be called.
class Sampler {
 public:
  Sampler(const Timed& timed, const Timing& timing) : timed_(timed), timing_(timing) {}

  void sample() {
    if (!samples_.is_ok || is_hopeless_ || is_enough()) return;
    if (timing_.cache == CacheState::Flushed && timed_.flush) timed_.flush();
    const std::optional<double> elapsed = samples_.ns.empty() ? grow() : time_calls(timed_, samples_.calls);
    if (elapsed) {
      total_ns_ += *elapsed;
      samples_.ns.push_back(*elapsed / static_cast<double>(samples_.calls));
    } else {
      samples_ = {.is_ok = false, .ns = {}, .calls = samples_.calls};
    }
  }

  Samples take() { return std::move(samples_); }

 private:
  bool is_enough() const {
    constexpr std::size_t kFewest = 3;
    return timing_.enough_ms > 0 && samples_.ns.size() >= kFewest && total_ns_ >= timing_.enough_ms * 1e6;
  }

  /// The first sample: grows the number of calls until it takes long enough.
  std::optional<double> grow() {
    const double wanted_ns = timing_.min_repeat_ms * 1e6;
    for (samples_.calls = 1;;) {
      std::optional<double> elapsed = time_calls(timed_, samples_.calls);
      if (elapsed && samples_.calls == 1 && is_slow(*elapsed)) elapsed = call_again(*elapsed);
      if (!elapsed) return elapsed;
      const double one = *elapsed / static_cast<double>(samples_.calls);
      const bool is_enough = *elapsed >= wanted_ns || samples_.calls >= kMaxCalls;
      if (is_enough || is_hopeless_ || timing_.cache == CacheState::Flushed) return elapsed;
      const double fitting = wanted_ns / std::max(one, 1.0) + 1, more = static_cast<double>(samples_.calls) * 1.618;
      samples_.calls = static_cast<std::int64_t>(std::min<double>(std::max(fitting, more), kMaxCalls));
    }
  }

  bool is_slow(double ns) const { return timing_.hopeless_ns > 0 && ns > timing_.hopeless_ns; }

  /// Finds out if a slow first call was disturbed.
  std::optional<double> call_again(double first_ns) {
    is_hopeless_ = is_slow(first_ns - kInterruptedNs);
    if (is_hopeless_) return first_ns;
    const std::optional<double> second_ns = time_calls(timed_, 1);
    is_hopeless_ = second_ns && is_slow(*second_ns);
    if (is_hopeless_) samples_.ns.push_back(first_ns);
    return second_ns;
  }

  const Timed& timed_;
  const Timing& timing_;
  Samples samples_;
  double total_ns_ = 0;
  bool is_hopeless_ = false;
};

}  // namespace

std::vector<Samples> time_in_turns(const std::vector<Timed>& timed, const Timing& timing) {
  std::vector<Sampler> samplers;
  for (const Timed& one : timed) samplers.emplace_back(one, timing);
  const std::size_t count = samplers.size();
  for (int repeat = 0; repeat < std::max(1, timing.repeats); ++repeat)
    for (std::size_t i = 0; i < count; ++i) samplers[repeat % 2 == 0 ? i : count - 1 - i].sample();
  std::vector<Samples> samples;
  for (Sampler& sampler : samplers) samples.push_back(sampler.take());
  return samples;
}

}  // namespace hone::measure
