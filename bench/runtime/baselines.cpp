#include "baselines.h"

#include <thread>
#include <vector>

#include "hone/runtime/partition.h"

namespace hone::bench {
namespace {

void run_part(int threads, int rank, std::int64_t count, hone_parallel_body body, void* context) {
  const runtime::IterationRange range = runtime::partition(count, threads, rank);
  body(context, range.begin, range.end);
}

}  // namespace

#ifdef _OPENMP
bool has_openmp() { return true; }

void openmp_for(int threads, std::int64_t count, hone_parallel_body body, void* context) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int rank = 0; rank < threads; ++rank) run_part(threads, rank, count, body, context);
}
#else
bool has_openmp() { return false; }

void openmp_for(int, std::int64_t count, hone_parallel_body body, void* context) { body(context, 0, count); }
#endif

void spawning_for(int threads, std::int64_t count, hone_parallel_body body, void* context) {
  std::vector<std::thread> workers;
  workers.reserve(static_cast<std::size_t>(threads));
  for (int rank = 1; rank < threads; ++rank)
    workers.emplace_back([=] { run_part(threads, rank, count, body, context); });
  run_part(threads, 0, count, body, context);
  for (std::thread& worker : workers) worker.join();
}

}  // namespace hone::bench
