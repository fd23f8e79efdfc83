/// Times what a cost model does with the population of a search.
#pragma once

#include "hone/schedule/trace.h"

namespace hone::bench {

/// Random candidates of the trace (its decisions made anew) are scored and learnt from; prints as main.cpp does.
Result<void> time_cost_model(const schedule::Program& naive, const schedule::Trace& trace);

}  // namespace hone::bench
