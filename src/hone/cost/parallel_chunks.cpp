#include "hone/cost/parallel_chunks.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

namespace hone::cost {

Result<void> for_chunks(std::size_t count, std::size_t chunk, int threads,
                        FunctionRef<Result<void>(std::size_t begin, std::size_t end)> work) {
  const std::size_t chunks = (count + chunk - 1) / chunk;
  std::vector<std::optional<Error>> errors(chunks);
  std::vector<std::exception_ptr> exceptions(chunks);
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < chunks; i = next++) {
      try {
        if (Result<void> status = work(i * chunk, std::min(count, (i + 1) * chunk)); !status)
          errors[i] = std::move(status).error();
      } catch (...) {  // an exception must not leave a thread; it is thrown again in the caller's
        exceptions[i] = std::current_exception();
      }
    }
  };
  const std::size_t wanted =
      threads > 0 ? static_cast<std::size_t>(threads) : std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(wanted, chunks); ++i) helpers.emplace_back(run);
    run();
  }
  for (std::size_t i = 0; i < chunks; ++i) {
    if (exceptions[i]) std::rethrow_exception(exceptions[i]);
    if (errors[i]) return *std::move(errors[i]);
  }
  return {};
}

}  // namespace hone::cost
