/// Times how fast candidates become sentences.
#pragma once

#include "hone/schedule/trace.h"

namespace hone::bench {

/// Writes sentences of traces whose decisions are drawn at random; prints as main.cpp does.
Result<void> time_sentences(const schedule::Program& naive, const schedule::Trace& trace);

}  // namespace hone::bench
