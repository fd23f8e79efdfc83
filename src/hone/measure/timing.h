/// The timing loop: how often programs are called, in which order, and what is written down.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "hone/measure/trial.h"

namespace hone::measure {

using Clock = std::chrono::steady_clock;

/// Something to time, such as a kernel with its arguments.
struct Timed {
  std::function<bool()> call;   ///< false if it failed
  std::function<void()> flush;  ///< evicts what the call touches; used if the cache state is Flushed
};

struct Samples {
  bool is_ok = true;  ///< false if a call failed
  std::vector<double> ns;
  std::int64_t calls = 0;  ///< in each sample
};

/// Times all of them, which must have been called once to warm up. The number of calls in a sample is grown until the
/// sample takes as long as is asked for, and then kept. With several, samples are taken in turns, forwards and
/// backwards (a b, b a, …): what slows the machine down for a while slows all of them down.
std::vector<Samples> time_in_turns(const std::vector<Timed>& timed, const Timing& timing);

}  // namespace hone::measure
