/// Other ways of running a loop on several threads, for comparison with the thread pool.
#pragma once

#include <cstdint>

#include "hone/runtime/parallel.h"

namespace hone::bench {

/// Whether this build has OpenMP.
bool has_openmp();

/// Runs the loop with OpenMP's static schedule; serially if there is no OpenMP.
void openmp_for(int threads, std::int64_t count, hone_parallel_body body, void* context);

/// Runs the loop on threads started for it.
void spawning_for(int threads, std::int64_t count, hone_parallel_body body, void* context);

}  // namespace hone::bench
