/// The C interface through which generated code runs its parallel loops.
#pragma once

#include <cstdint>

extern "C" {

/// An outlined parallel loop: runs the iterations [begin, end). It must not throw; an exception ends the process.
using hone_parallel_body = void (*)(void* context, std::int64_t begin, std::int64_t end);

/// Runs `body` for [0, count), spread over the threads of `pool`, and returns when all iterations are done.
/// `pool` is a hone::runtime::ThreadPool*; if it is null, the caller runs everything itself.
void hone_parallel_for(void* pool, std::int64_t count, hone_parallel_body body, void* context);

}  // extern "C"
