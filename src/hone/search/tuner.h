/// The tuner: tries candidates of many tasks within a budget, records each, and settles on the fastest.
///
///     search::TunerOptions options{.seconds = 300, .records = &records};
///     HONE_TRY(const search::TuneReport report, search::tune(tasks, options));
///
/// Nothing is lost when it is stopped or killed: each trial is a record as soon as it is measured, and the candidate
/// that leads a task is recorded as adopted as soon as it won against the one before it, timed in turns. Running it
/// again goes on from there.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hone/cost/cost_model.h"
#include "hone/measure/measurer.h"
#include "hone/measure/records/records.h"
#include "hone/search/search.h"

namespace hone::search {

/// A task to tune.
struct TuneTask {
  std::shared_ptr<const space::Task> task;
  std::string name;
  double weight = 1;          ///< how often a run of the model calls its kernel
  std::string standard = {};  ///< what it is compiled to now, as JSON; empty, or of another space: what the rules of
                              ///< the space choose
};

/// Where a task stands.
struct TaskProgress {
  std::string name, key;
  double weight = 1, flops = 0;
  std::uint64_t space_size = 0;      ///< candidates that there are
  std::int64_t trials = 0;           ///< measured so far, those of earlier runs included
  std::int64_t failures = 0;         ///< of them
  double first_ns = 0, best_ns = 0;  ///< of the default and the adopted candidate; infinity as long as not known
  double tried_ns = std::numeric_limits<double>::infinity();  ///< of the fastest trial
  std::string tried;                                          ///< that trial's candidate as JSON
  std::string best;                                           ///< the adopted candidate as JSON
  std::string reused = "default";                             ///< what was known before this run: see Origin in reuse.h
  bool is_done = false;                                       ///< every candidate that the search wants was tried
};

/// Where the whole stands.
struct TuneProgress {
  std::vector<TaskProgress> tasks;
  double elapsed_s = 0, left_s = 0;  ///< left: estimated from the budget
  std::int64_t trials = 0;           ///< of this run
  std::size_t current = 0;           ///< the task of the last trial

  /// The time of one run of all kernels by the default and by the adopted candidates, over the tasks that are known.
  double first_ns() const;
  double best_ns() const;
};

struct TunerOptions {
  measure::MeasurerOptions measurer = {};  ///< the target among them
  std::string space = "mapping", search = "exhaustive", cost_model = "ansor";
  std::string cost_model_file = {};  ///< of a network, for make_model; empty: the usual one
  std::string learnt_file = {};      ///< what the cost model begins with, instead of what records say
  std::string save_cost_model = {};  ///< the file for what it knows at the end, to begin with another time
  /// Makes the cost model; for those that need more than cost/ knows, such as networks.
  std::function<Result<std::unique_ptr<cost::CostModel>>(std::string_view name, const cost::ModelOptions&)> make_model =
      cost::make_cost_model;
  Options search_options = {};
  bool tries_rules_first = true;  ///< whether searches begin with what the rules of a space choose
  bool transfer = true;           ///< whether the cost model begins with what records say of other tasks
  std::size_t explore = 0;        ///< trials of a task after which Droplet Search goes on from the best, until there is
                                  ///< nothing better around; 0: never
  std::uint64_t seed = 1;
  double seconds = 0;                   ///< of wall time; 0: no limit
  std::int64_t trials = 0;              ///< of this run, over all tasks; 0: no limit
  std::int64_t trials_per_task = 0;     ///< those of earlier runs included; 0: no limit
  std::size_t batch = 16;               ///< candidates that a search is asked for at a time; fewer the first time
  std::size_t early_stop = 0;           ///< trials without a gain after which a task is left alone; 0: never
  double target_seconds = 0;            ///< of all adopted kernels of one run, at which to end; 0: never
  measure::Records* records = nullptr;  ///< null: nothing is kept
  const std::atomic<bool>* stop = nullptr;
  const std::atomic<bool>* enough = nullptr;  ///< ends the search as running out of time does
  /// Told after each trial, and when a task has a new leader.
  std::function<void(const TuneProgress&)> progress = {};
};

/// What came of tuning.
struct TuneReport {
  TuneProgress progress;
  bool is_stopped = false;         ///< by the stop flag
  bool is_target_reached = false;  ///< TunerOptions::target_seconds
  std::int64_t transferred = 0;    ///< trials of other tasks that the cost model began with
  std::string records_error = {};  ///< why records could not be read or all be written; tuning went on without
  std::string model_error = {};    ///< why what the cost model knows at the end is not written
};

/// Tunes until the budget is used up or nothing is left to try. Errors: no such space, search or cost model, a file of
/// the cost model that cannot be read or written, no worker process.
Result<TuneReport> tune(const std::vector<TuneTask>& tasks, const TunerOptions& options);

}  // namespace hone::search
