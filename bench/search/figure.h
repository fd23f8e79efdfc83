/// How figures are taken and printed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>
#include <string_view>
#include <vector>

namespace hone::bench {

struct Figure {
  double min_ns, median_ns;
};

template <typename Work>
Figure time(int repeats, Work&& work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const Clock::time_point start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

inline void print(std::string_view name, const Figure& figure, std::string_view bar) {
  fmt::print(stderr, "{:<44}{:>12.1f}{:>12.1f}  {}\n", name, figure.min_ns * 1e-3, figure.median_ns * 1e-3, bar);
  const char* commit = std::getenv("HONE_COMMIT");
  fmt::print(
      "{{\"bench\":\"search\",\"name\":\"{}\",\"commit\":\"{}\",\"seed\":0,\"min_ns\":{:.0f},\"median_ns\":{:.0f}}}\n",
      name, commit ? commit : "unknown", figure.min_ns, figure.median_ns);
}

}  // namespace hone::bench
