/// Tuning a model: the tasks of its kernels, handed to the tuner.
#pragma once

#include <span>

#include "hone/search/tuner.h"
#include "hone/session.h"

namespace hone {

/// Tunes what a run on these inputs calls. The session must keep its tasks; its target is the one that is tuned for.
/// Tasks with nothing to decide are left out. Cost models may be those of network_model.h as well.
Result<search::TuneReport> tune(const Session& session, std::span<const Value> inputs, search::TunerOptions options);

/// The same with the records of a file, whatever `options.records` is. A file that cannot be opened or written is
/// warned about and named in the report, and does not keep tuning from its work: what it finds is in the report all the
/// same.
Result<search::TuneReport> tune(const Session& session, std::span<const Value> inputs, search::TunerOptions options,
                                const std::string& records_file);

}  // namespace hone
