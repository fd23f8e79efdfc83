/// Runs of the tuner on one task, trial by trial, and how what they found is compared: timed in turns.
#pragma once

#include <string>
#include <vector>

#include "tasks.h"

#include "hone/search/tuner.h"

namespace hone::bench {

/// What is slower by less counts as equal: two timings of one kernel in turns differ by as much.
inline constexpr double kEqual = 1.01;

/// How a task is searched.
struct How {
  std::string space, search, cost_model;
  std::string cost_model_file = {};  ///< of a trained network; empty: the one that comes with hone
  std::int64_t trials = 0;           ///< 0: no limit
  std::int64_t trials_per_task = 0;  ///< 0: no limit
  double seconds = 0;                ///< 0: no limit
  std::size_t explore = 0;
  std::size_t batch = 16;
  std::size_t per_trial = 0;  ///< candidates of which evolutionary search tries one; 0: as many as usual
  std::uint64_t seed = 1;
  std::string history = {};       ///< a file of records of other tasks to begin with; empty: nothing is known
  std::string keep = {};          ///< a file that takes up what was measured; empty: none
  bool tries_rules_first = true;  ///< whether the search begins with what the rules of the space choose; if not,
                                  ///< that is no trial either
};

/// A trial of a run.
struct Tried {
  std::string candidate;  ///< as JSON
  double ns;              ///< the fastest sample; infinity if it failed
  double at_s;            ///< since the beginning of the run
};

struct Run {
  std::vector<Tried> trials;
  std::string best;  ///< what was adopted, or the fastest of the trials
  double elapsed_s = 0;
  std::uint64_t space_size = 0;
  std::int64_t transferred = 0;

  double failed_share() const;
  /// The fastest single trial among the first so many.
  double fastest_ns(std::size_t trials_used) const;
};

/// The tuner's options for that, without records.
search::TunerOptions tuner_options(const How& how, const codegen::Target& target);

/// The tuner's own run: every trial recorded, checked, and the winner adopted in turns with the default.
Result<Run> run(const NamedTask& task, const How& how, const codegen::Target& target);

/// What candidates of a task take, timed in turns in one worker, in ns; infinity for what fails. Each in its own space.
Result<std::vector<double>> time_in_turns(const NamedTask& task, const std::vector<std::string>& candidates,
                                          const codegen::Target& target);

/// The place, counted from 1, of the first trial that is as fast as `goal`, within a percent, when both are timed in
/// turns; nothing if there is none.
struct Reached {
  std::size_t trials;
  double at_s;
};
Result<std::optional<Reached>> first_to_reach(const Run& run, const NamedTask& task, const std::string& goal,
                                              const codegen::Target& target);

/// The share of the multiply-add peak that a candidate reaches: the median of rounds in which both are measured, each
/// as the best of as many samples.
Result<double> share_of_peak(const NamedTask& task, const std::string& candidate, const codegen::Target& target);

}  // namespace hone::bench
