#include "busy.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>

namespace hone::command {

void warn_if_busy() {
  double load = 0;
  const auto cores = static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
  if (getloadavg(&load, 1) == 1 && load > cores)
    fmt::print(stderr, "hone: this machine is busy (load {:.1f} on {:g} cores): the times will be noisy\n", load,
               cores);
}

}  // namespace hone::command
