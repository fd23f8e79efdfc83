/// Tuning a model: the tasks of its kernels, handed to the tuner.
#pragma once

#include <span>

#include "hone/search/tuner.h"
#include "hone/session.h"

namespace hone {

/// Tunes what a run on these inputs calls. The session must keep its tasks; its target is the one that is tuned for.
/// Tasks with nothing to decide are left out.
Result<search::TuneReport> tune(const Session& session, std::span<const Value> inputs, search::TunerOptions options);

}  // namespace hone
