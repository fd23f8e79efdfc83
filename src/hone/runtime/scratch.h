/// Scratch memory for generated code: a cache per thread, so that a kernel called again touches no fresh pages.
#pragma once

#include <cstdint>

extern "C" {

/// At least `bytes` of memory with undefined content, aligned at 64 bytes; null if the system has none left.
void* hone_allocate(std::int64_t bytes);

/// Gives memory of hone_allocate back, from the thread that got it or another; `bytes` as it was asked for.
void hone_release(void* memory, std::int64_t bytes);

}  // extern "C"
