/// Tuning a model: the tasks of its kernels, handed to the tuner, and the finals of what it found.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "hone/finals.h"
#include "hone/search/tuner.h"
#include "hone/session.h"

namespace hone {

/// What tuning a model is beyond tuning its tasks.
struct ModelTuning {
  /// Whether the best candidates are timed within the model at last; needs records. What earlier finals decided stays
  /// without them.
  bool has_finals = true;
  /// The part of the time so far that may pass without a gain before tuning ends by itself; 0: never.
  double patience = 0.25;
  std::function<void(const FinalsProgress&)> progress = {};  ///< of the finals
};

/// What came of it. Times of tasks are those within the model where the finals decided.
struct ModelTuneReport : search::TuneReport {
  std::optional<FinalsReport> finals = {};  ///< nothing if there were none
  std::string finals_error = {};            ///< why there were none though they were asked for
  bool is_patience_over = false;            ///< it ended before the budget was used up
};

/// Tunes what a run on these inputs calls. The session must keep its tasks; its target is the one that is tuned for.
/// Tasks with nothing to decide are left out. Cost models may be those of network_model.h as well; their file is a
/// network, or what `options.save_cost_model` made an earlier run write. The finals are part of `options.seconds`.
Result<ModelTuneReport> tune(const Session& session, std::span<const Value> inputs, search::TunerOptions options,
                             const ModelTuning& model = {});

/// The same with the records of a file, whatever `options.records` is. A file that cannot be opened or written is
/// warned about and named in the report, and does not keep tuning from its work: what it finds is in the report all the
/// same.
Result<ModelTuneReport> tune(const Session& session, std::span<const Value> inputs, search::TunerOptions options,
                             const std::string& records_file, const ModelTuning& model = {});

}  // namespace hone
