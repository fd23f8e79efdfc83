/// A program of two stages under one loop, for the tests of buffers that are used in turn.
#pragma once

#include "hone/schedule/program.h"

namespace hone::schedule {

/// For each row i of A (n × m): block T computes T[i, j] = 2 · A[i, j] below loop j, then block D computes
/// D[i, k] = T[i, k] + T[i, m - 1 - k] below loop k.
Program staged_rows(std::int64_t n, std::int64_t m);

}  // namespace hone::schedule
